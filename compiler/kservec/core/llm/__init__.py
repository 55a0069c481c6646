"""What LLMInferenceServices are made of: configs merged and templates filled, pods, pools, routes."""
