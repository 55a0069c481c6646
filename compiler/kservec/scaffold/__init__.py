"""The repository that `kservec init` lays down: its files and what is in them. Pure: others write them."""
