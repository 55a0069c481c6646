"""InferenceGraphs: their nodes, the services they call, and the router that runs them."""
