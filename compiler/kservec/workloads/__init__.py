"""Kinds of workload that run a component's pods: one file each."""
