"""Pods and containers as JSON: finding, mounting, merging, counting GPUs."""
