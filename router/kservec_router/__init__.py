"""The data plane of InferenceGraph: a service that takes requests through a graph of model servers.

Knows nothing of the compiler but the models of the InferenceGraph document.
"""
