"""Topology: which way requests take through what is deployed, from clients to models. Pure values."""
