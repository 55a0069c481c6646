"""Whether workloads fit onto nodes, and models into GPUs."""
