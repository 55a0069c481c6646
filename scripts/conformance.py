"""Compare with KServe on its recorded cases, and fail when the share falls below the one kept in the repository.

The folder of cases is named by KSERVEC_CONFORMANCE; without one there is nothing to compare with, and a notice says so.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
KEPT = ROOT / "tests" / "conformance.json"


def main() -> int:
    """Run every kept share's comparison."""
    folder = (ROOT / os.environ.get("KSERVEC_CONFORMANCE", "../shared/conformance")).resolve()
    compare = folder / "compare"
    if not compare.exists():
        sys.stdout.write(f"no recorded cases at {folder}: nothing compared (set KSERVEC_CONFORMANCE)\n")
        return 0
    status = 0
    for share in json.loads(KEPT.read_text())["shares"]:
        arguments = ["--filter", share["cases"], "--min", str(share["percent"]), "--summary"]
        command = [str(compare), "--kservec", str(ROOT / ".venv" / "bin" / "kservec"), *arguments]
        sys.stdout.write(f"{share['about']}: at least {share['percent']}%\n")
        sys.stdout.flush()
        status |= subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - the suite's own program
    return status


if __name__ == "__main__":
    sys.exit(main())
