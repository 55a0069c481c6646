"""What KServe injects beside a server: the agent and its duties, metrics."""
