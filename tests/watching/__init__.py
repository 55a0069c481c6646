"""Watching: what is seen to have changed, what is made again, and what browsers are served."""
