"""The tree writer: what it does to a folder, and what is left when it is killed."""
