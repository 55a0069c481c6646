"""Regular expressions as Go reads them, which take a time that grows with the text alone, whatever the expression is.

Python's take as long as they like for `(a+)+$`, and know look-around and back-references, which Go refuses. The engine
of the validator has the promise of Go's and nearly its syntax, so it is asked.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from jsonschema_rs import Draft202012Validator, RegexOptions

if TYPE_CHECKING:
    from collections.abc import Callable


@lru_cache(maxsize=256)
def finder(expression: str) -> Callable[[str], bool] | None:
    """What tells whether a text has a match anywhere; None for an expression that Go cannot read."""
    try:
        return Draft202012Validator({"pattern": expression}, pattern_options=RegexOptions()).is_valid
    except ValueError:
        return None
