"""Reading text: YAML and JSON as Kubernetes reads them, with the place of every value."""
