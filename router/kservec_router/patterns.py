"""Regular expressions as Go reads them, which take a time that grows with the text alone, whatever the expression is.

Clients choose the names of their headers, and Python's expressions take as long as they like for `X-.*-Id$` and a name
of 64 kB. RE2 is what Go's expressions were made after. It must not know what is matched, nor why.
"""

from __future__ import annotations

import re
from typing import Any

import re2

# What RE2 takes and Go refuses: single bytes, and repetitions of so many digits, which RE2 takes for mere letters.
_is_refused_by_go = re.compile(r"(?:\\[^C]|[^\\])*?(?:\\C|\{(?:\d+,)?\d{8,}[,}])", re.DOTALL).match


class Pattern:
    """An expression that is ready. Names are matched without regard to case.

    Raises:
        ValueError: Go cannot read it.
    """

    def __init__(self, text: str) -> None:
        if _is_refused_by_go(text):
            raise ValueError("not of Go's syntax")
        options = re2.Options()
        options.case_sensitive = False
        options.log_errors = False
        try:
            self._search: Any = re2.compile(text, options).search
        except re2.error as error:
            raise ValueError(str(error)) from None

    def found(self, text: str) -> bool:
        """Whether the expression matches anywhere in a text."""
        return self._search(text) is not None
