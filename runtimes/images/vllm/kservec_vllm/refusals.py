"""How the program says no: a message, what to do, and an exit status of its own for each kind of reason.

vLLM itself exits with 0, 1 or 2, a signal with 128 and more; these are the statuses of sysexits.h.
"""

from __future__ import annotations

from typing import Final

USAGE: Final = 64
"""What it was told cannot be read."""
NO_INPUT: Final = 66
"""A file of the model, an adapter or a certificate is not there or cannot be read."""
UNAVAILABLE: Final = 69
"""The leader, or a node, did not come in time."""
SOFTWARE: Final = 70
"""The program itself is wrong."""
CONFIG: Final = 78
"""What it was told contradicts itself, or the hardware."""
NOT_RUNNABLE: Final = 126
NOT_FOUND: Final = 127


class Refusal(Exception):  # noqa: N818 - it is no error of this program
    """Why vLLM is not started. `remedy` says what to change."""

    def __init__(self, status: int, message: str, remedy: str) -> None:
        super().__init__(message)
        self.status = status
        self.remedy = remedy
