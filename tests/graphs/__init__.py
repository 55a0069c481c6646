"""InferenceGraphs: what is refused, what is made of them, and how they are drawn."""
