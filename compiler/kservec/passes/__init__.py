"""The passes: one function `(Unit, Env) -> Step` per file, of the file's name. `pipeline.py` says in which order."""
