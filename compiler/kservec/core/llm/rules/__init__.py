"""What an LLMInferenceService and its configs may ask for, as written and as merged: one concern a file."""
