"""Ways of getting a model into a pod, and the credentials they need: one file each."""
