"""Runs that are shared out: over processes, over machines, and over time."""
