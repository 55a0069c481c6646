"""The structure of kinds: schemas, what is wrong with a value by them, defaults, and the form an API server stores."""
