"""Validation: the rules of KServe's validating webhook, one file per subject. `rules.py` lists them."""
