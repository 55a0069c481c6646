"""The rendered tree: which object goes into which file, and which files are the compiler's own."""
