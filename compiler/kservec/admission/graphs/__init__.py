"""What KServe's webhook says to an InferenceGraph, and what it should say: one concern a file."""
