"""The entry point: `kservec` and `python -m kservec`."""

from __future__ import annotations

import sys

BUG = 70


def main() -> int:
    """Run the command line and return its exit status; a bug ends with a report and 70, never with a bare traceback."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:  # answered before click is imported: CI asks often
        from kservec._version import __version__

        sys.stdout.write(f"kservec {__version__}\n")
        return 0
    try:
        from kservec.cli.main import run

        return run(arguments)
    except Exception:  # noqa: BLE001 - whatever was not foreseen is a bug, and is reported as one
        from kservec.cli.bug import report_bug

        report_bug(arguments)
        return BUG


if __name__ == "__main__":
    sys.exit(main())
