"""Getting a model in: URIs, downloads, credentials, CA bundles, copies on nodes."""
