"""Exit statuses: what each command tells by them, the same everywhere."""

from __future__ import annotations

FAILED = 1
"""Errors in the input, or something that `lock --update` asked for could not be had; nothing was written."""
USAGE = 2
"""Wrong usage, or something that cannot be read or written."""
DIFFERENT = 3
"""A difference was found, or something that does not fit."""
INTERRUPTED = 130
"""Somebody stopped the command."""
