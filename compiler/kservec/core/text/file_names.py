"""What counts as a file of YAML or JSON: the end of its name says it, in capitals or not.

kubectl and Argo CD pass over `a.YAML` in a folder without a word. Whoever named a file so meant it to be read, so here
it is.
"""

from __future__ import annotations

JSON = ".json"
YAML = (".yaml", ".yml")


def is_yaml_or_json(name: str) -> bool:
    """Whether a file of a folder is read, by its name or path."""
    return name.lower().endswith((*YAML, JSON))


def is_json(name: str) -> bool:
    """Whether a file says that it holds JSON, by its name or path."""
    return name.lower().endswith(JSON)
