"""Rendered manifests against a real Kubernetes API server: applied, read back, compared. Run by `make apiserver`."""
