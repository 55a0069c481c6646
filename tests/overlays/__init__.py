"""Overlays by kustomize."""
