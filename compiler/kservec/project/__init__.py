"""The project file: what a repository compiles, for which environments. Pure: others read and write its files."""
