"""The installed command, with and without what it serves with."""

from __future__ import annotations

import subprocess
import sys

import pytest

RUN = "import sys; from kservec_router.command import main; sys.argv = ['kservec-router', '--help']; sys.exit(main())"
HIDDEN = "import sys; sys.modules['{}'] = None; "


@pytest.mark.parametrize("name", ["starlette", "uvicorn"])
def test_what_is_not_installed_is_named(name: str) -> None:
    """A plain installation has the command, and no server: it says how to get one."""
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", HIDDEN.format(name) + RUN], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (69, "")
    assert done.stderr == f"kservec-router: {name} is not installed: pip install 'kservec[router]'\n"


def test_with_the_extra_it_runs() -> None:
    """It takes its arguments from the command line."""
    done = subprocess.run([sys.executable, "-c", RUN], capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stderr) == (0, "")
    assert "usage: kservec-router" in done.stdout
