"""Topologies: what they show of what is deployed, and the pictures of them."""
