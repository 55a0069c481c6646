"""The report of a bug in kservec: enough to find it, and nothing of the user's files."""

from __future__ import annotations

import platform
import sys
import traceback
from pathlib import Path

from kservec._version import KSERVE_PROFILE, __version__

WHERE = "https://github.com/kservec/kservec/issues"


def report_bug(arguments: list[str]) -> None:
    """Write to standard error what went wrong, and where to report it. Called while an exception is handled."""
    kind, error, trace = sys.exc_info()
    frames = traceback.extract_tb(trace)
    ours = [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in frames if "kservec" in f.filename]
    lines = [
        "kservec has a bug: it met something it was not written for. Nothing was written.",
        f"  version   kservec {__version__}, KServe {KSERVE_PROFILE}, Python {platform.python_version()}, {sys.platform}",
        f"  command   kservec {' '.join(a for a in arguments[:1])}",
        f"  error     {kind.__name__ if kind else ''}: {str(error).splitlines()[0] if str(error) else ''}",
        f"  at        {' < '.join(reversed(ours[-6:]))}",
        f"Please report these lines, and the smallest input that shows it, at {WHERE}",
    ]
    sys.stderr.write("\n".join(lines) + "\n")
