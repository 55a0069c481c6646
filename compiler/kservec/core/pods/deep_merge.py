"""Deep merge: how KServe lays the predictor of a canary over the stable one.

Decides which of two values wins at every path. Must not know what is merged, nor why. It is not the strategic merge of
`strategic`: lists have no keys here, and nothing can be emptied.
"""

from __future__ import annotations

from typing import Final

from kservec.core.pods.strategic import STRING_MAPS
from kservec.core.tree import Json

FREE_MAPS: Final = STRING_MAPS | {"parameters"}
"""Maps with free keys. Elsewhere a map stands for a struct, whose empty fields count as not set."""


def deep_merge(base: Json, override: Json) -> Json:
    """Lay the map `override` over the map `base`.

    Structs merge field by field, maps with free keys entry by entry. Of scalars and lists the override's is taken,
    unless it is false, 0, "" or empty and the base has the field: then the base's stays. Every entry of a map with free
    keys is taken, an empty one too. Null counts as absent.

    One thing differs from KServe on purpose: of a port that is a name in one and a number in the other KServe always
    keeps the name; here the override's port is taken like any other scalar.

    Source: KServe components/predictor.go, buildCanaryPredictor; dario.cat/mergo merge.go, deepMerge, with override.
    """
    merged = dict(base)
    for name, value in override.items():
        old = base.get(name)
        if value is None:
            continue
        if old is None or not isinstance(value, dict) or not isinstance(old, dict):
            merged[name] = old if old is not None and _is_empty(value) else value
        elif name in FREE_MAPS:
            merged[name] = {**old, **value}
        else:
            merged[name] = deep_merge(old, value)
    return merged


def _is_empty(value: Json) -> bool:
    """Whether a value is the zero of its type."""
    return not value
