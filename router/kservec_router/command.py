"""The command `kservec-router`, which is installed with kservec whether or not what it serves with is there."""

from __future__ import annotations

import sys

NOT_INSTALLED = 69


def main() -> int:
    """Run the router; its exit status, or 69 where the extra `router` is not installed."""
    try:
        from kservec_router.__main__ import main as run  # noqa: PLC0415 - may not be there, which is to be said
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing == __package__:
            raise
        sys.stderr.write(f"kservec-router: {missing} is not installed: pip install 'kservec[router]'\n")
        return NOT_INSTALLED
    return run()
