"""Overlays: what kustomize makes of the sources, and the way back from it to the files. Pure: others run kustomize."""
