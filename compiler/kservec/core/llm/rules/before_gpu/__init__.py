"""What KServe makes without a word though it cannot work, or not as it was meant: said before GPUs wait."""
