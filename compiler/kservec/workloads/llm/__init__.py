"""Kinds of workloads that run LLMInferenceServices: one file each, loaded when the first such service comes."""
