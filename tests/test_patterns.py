"""Regular expressions that are compiled late are regular expressions all the same."""

from __future__ import annotations

import importlib
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import kservec
from kservec.core.patterns import Pattern


def late() -> Iterator[tuple[str, Pattern]]:
    """All that the modules of the compiler have, whole or as one of their methods, by module and name."""
    for module in pkgutil.walk_packages(kservec.__path__, "kservec."):
        if not module.name.startswith("kservec.testing"):
            for name, value in vars(importlib.import_module(module.name)).items():
                found = getattr(value, "__self__", value)
                if isinstance(found, Pattern):
                    yield f"{module.name}.{name}", found


def test_all_of_them_can_be_compiled() -> None:
    """Else the first who asks would learn it."""
    found = dict(late())
    assert len(found) > 50
    for name, pattern in found.items():
        assert pattern.compiled.pattern == pattern.text, name


@pytest.mark.parametrize(
    ("method", "arguments"),
    [
        ("match", ("b1 b22",)),
        ("match", ("a b1 b22", 2)),
        ("fullmatch", ("B22",)),
        ("fullmatch", ("b22 ",)),
        ("search", ("a b1 b22",)),
        ("search", ("a b1 b22", 3)),
        ("finditer", ("a b1 B22",)),
        ("findall", ("a b1 B22",)),
        ("sub", ("x", "a b1 B22")),
        ("sub", (lambda found: found[0] * 2, "a b1 B22")),
    ],
)
def test_they_answer_as_those_of_re(method: str, arguments: tuple[Any, ...]) -> None:
    """Flags included."""
    early, pattern = re.compile("b[0-9]+", re.IGNORECASE), Pattern("b[0-9]+", re.IGNORECASE)
    assert plain(getattr(pattern, method)(*arguments)) == plain(getattr(early, method)(*arguments))


def plain(answer: Any) -> Any:
    """An answer whose matches are where they are and what is there."""
    if isinstance(answer, re.Match):
        return answer.span(), answer[0]
    return answer if isinstance(answer, str | list | None) else [plain(each) for each in answer]


def test_a_short_run_compiles_few() -> None:
    """Those that nothing is sought by are left alone."""
    program = (
        "import kservec.api, kservec.core.models.odd_uris as odd; from kservec.core.patterns import Pattern;"
        "late = [found for each in vars(odd).values() if isinstance(found := getattr(each, '__self__', 0), Pattern)];"
        "print(len(late) > 3, [found.text for found in late if 'compiled' in vars(found)])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "True []\n"
