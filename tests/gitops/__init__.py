"""What a tree carries for Argo CD and Flux."""
