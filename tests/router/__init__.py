"""The router of InferenceGraphs."""
