"""How a service is reached: hosts, paths, Services, and the metadata of routes."""
