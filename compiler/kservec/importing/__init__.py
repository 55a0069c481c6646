"""From a cluster that runs KServe to files that kservec compiles: specs, the platform's documents, facts. Pure."""
