"""Compare with KServe on its recorded cases, and fail when the share falls below the one kept in the repository.

The folder of cases is named by KSERVEC_CONFORMANCE; without one there is nothing to compare with, and a notice says so.
A deviation that refuses what KServe accepts names its codes, and excuses no refusal for another reason.
"""

from __future__ import annotations

import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[1]
SHARES = ROOT / "tests" / "conformance.json"
DEVIATIONS = ROOT / "docs" / "deviations.yaml"
CODE = re.compile(r"error\[([a-z0-9/-]+)\]")


def main() -> int:
    """Run every kept share's comparison."""
    folder = (ROOT / os.environ.get("KSERVEC_CONFORMANCE", "../shared/conformance")).resolve()
    if not (folder / "compare").exists():
        sys.stdout.write(f"no recorded cases at {folder}: nothing compared (set KSERVEC_CONFORMANCE)\n")
        return 0
    return max(compared(folder / "compare", share) for share in json.loads(SHARES.read_text())["shares"])


def compared(compare: Path, share: dict[str, Any]) -> int:
    """Compare the cases of one share: 1 if too few are as KServe, or one is excused for another reason than it says."""
    sys.stdout.write(f"{share['about']}: at least {share['percent']}%\n")
    sys.stdout.flush()
    with tempfile.TemporaryDirectory() as scratch:
        results = Path(scratch, "results.json")
        arguments = ["--filter", share["cases"], "--min", str(share["percent"]), "--summary", "--json", str(results)]
        command = [sys.executable, str(compare), "--kservec", str(ROOT / ".venv" / "bin" / "kservec"), *arguments]
        status = subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - a command of our own making
        wrong = misused(json.loads(results.read_text()))
    for line in wrong:
        sys.stdout.write(f"{line}\n")
    return 1 if status or wrong else 0


def misused(results: list[dict[str, Any]]) -> list[str]:
    """Refusals that a deviation excuses although they have another reason than it names."""
    entries = [e for e in yaml.safe_load(DEVIATIONS.read_text()) if e.get("outcome") == "refuse"]
    found = []
    for result in results:
        if result["verdict"] != "excused" or result["exit"] != 1 or result.get("kserve_says"):
            continue
        allowed = {c for e in entries if fnmatch.fnmatchcase(result["case"], e["cases"]) for c in e["codes"]}
        other = set(CODE.findall(result["kservec_says"])) - allowed
        if other:
            found.append(f"{result['case']}: refused for {', '.join(sorted(other))}, which no deviation of it names")
    return found


if __name__ == "__main__":
    sys.exit(main())
