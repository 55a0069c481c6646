"""The entry point: `kservec` and `python -m kservec`."""

from __future__ import annotations

import atexit
import gc
import sys

BUG = 70
INTERRUPTED = 130
OBJECTS_BETWEEN_COLLECTIONS = 50_000
"""What is loaded and read stays until the end: looking through it again and again would take a tenth of a short run."""


def main() -> int:
    """Run the command line and return its exit status; a bug ends with a report and 70, never with a bare traceback."""
    arguments = sys.argv[1:]
    if arguments == ["--version"] and tells_version():
        return 0
    atexit.register(gc.freeze)  # else the interpreter looks through all that is left: a fifth of a short run
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    try:
        from kservec.cli.main import run  # noqa: PLC0415 - `--version` must not wait for it

        return run(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:  # noqa: BLE001 - whatever was not foreseen is a bug, and is reported as one
        from kservec.cli.bug import report_bug  # noqa: PLC0415 - seldom needed

        report_bug(arguments)
        return BUG
    finally:
        gc.set_threshold(*before)


def tells_version() -> bool:
    """Write the version, before click is imported: CI asks often. False where it cannot be written."""
    from kservec._version import KSERVE_PROFILE, __version__  # noqa: PLC0415 - not needed otherwise

    if sys.stdout is None:
        return False
    try:
        sys.stdout.write(f"kservec {__version__} (KServe {KSERVE_PROFILE})\n")
        sys.stdout.flush()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
