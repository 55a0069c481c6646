"""Getting a model in: what a storage scheme is, URIs, downloads, credentials, CA bundles, copies on nodes."""
