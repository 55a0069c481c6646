"""Tests of LLMInferenceServices."""
