"""Autoscalers: one file each."""
