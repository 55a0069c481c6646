"""The command line: one click command per file, imported when it is used."""
