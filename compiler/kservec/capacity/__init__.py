"""Whether what is rendered fits onto the nodes of a cluster, and models into the memory of GPUs. Pure."""
