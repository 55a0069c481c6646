"""The report of a bug in kservec: enough to find it, and nothing of the user's files."""

from __future__ import annotations

import platform
import sys
import traceback
from pathlib import Path

from kservec._version import KSERVE_PROFILE, __version__
from kservec.cli.main import COMMANDS
from kservec.cli.streams import complain

WHERE = "https://github.com/kservec/kservec/issues"
FRAMES = 8


def report_bug(arguments: list[str]) -> None:
    """Write to standard error what went wrong, and where to report it. Called while an exception is handled.

    The message of the exception is left out, since it may quote a value; `--debug` shows it with everything else.
    """
    kind, error, trace = sys.exc_info()
    frames = traceback.extract_tb(trace)
    ours = [f"{Path(f.filename).name}:{f.lineno} {f.name}" for f in frames if "kservec" in f.filename]
    command = next((a for a in arguments if a in COMMANDS), "")
    python = platform.python_version()
    lines = [
        "kservec has a bug: it met something that it was not written for. Nothing was written.",
        f"  version   kservec {__version__}, KServe {KSERVE_PROFILE}, Python {python}, {sys.platform}",
        f"  command   kservec {command}".rstrip(),
        *(f"  while     {note}" for note in getattr(error, "__notes__", ())),
        f"  error     {kind.__name__ if kind else ''}",
        f"  at        {' < '.join(reversed(ours[-FRAMES:]))}",
        f"Please report these lines, and the smallest input that shows it, at {WHERE}",
    ]
    if "--debug" in arguments:
        lines += ["", traceback.format_exc()]
    else:
        lines.append("kservec --debug ... shows the whole traceback; it may quote your files.")
    complain("\n".join(lines) + "\n")
