"""The images of vLLM, without docker and without a GPU."""
