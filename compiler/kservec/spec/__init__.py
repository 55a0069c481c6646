"""The input language: pydantic models of KServe's kinds and of kservec's own documents.

KServe's kinds are modelled down to where core Kubernetes structures begin; pods, containers and
probes stay plain JSON, checked against the schemas. This package imports nothing else of ours.
"""
