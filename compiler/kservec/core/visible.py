"""Texts of users in messages: nobody sees one that is empty.

Decides how such a text is shown. Must not know what it is a text of.
"""

from __future__ import annotations

EMPTY = "''"


def visible(text: object) -> str:
    """A text as messages have it, such as the name of something: quotes with nothing in them where it is empty."""
    return str(text) or EMPTY
