"""Autoscalers of the workloads of LLMInferenceServices: one file each, loaded when the first such service comes."""
