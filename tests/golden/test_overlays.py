"""Golden overlays and patches: the same bytes whichever way kustomize runs, and what is said where it cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kservec.io import kustomize
from kservec.io.kustomize import HOW_TO, tools

from .cases import committed
from .projects import projects, rendered, result

if TYPE_CHECKING:
    from collections.abc import Iterator

OVERLAID = [case for case in projects() if "overlay" in case.name or "patches" in case.name]
TOOLS = {tool.name: tool for tool in tools()}


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    """Render anew, and leave nothing of it to other tests."""
    rendered.cache_clear()
    yield
    rendered.cache_clear()


@pytest.mark.parametrize("name", ["pykustomize", "kustomize", "kubectl"])
def test_every_way_gives_what_is_committed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trees and findings of all golden overlays are the same bytes, whichever way kustomize runs."""
    if name not in TOOLS:
        pytest.skip(f"NOT TESTED: there is no {name} here; {HOW_TO}")
    monkeypatch.setattr(kustomize, "tools", lambda: iter([TOOLS[name]]))
    different = [case.name for case in OVERLAID if result(case) != committed(case)]
    assert len(OVERLAID) > 20
    assert different == []


def test_without_kustomize_a_case_is_skipped_loudly(monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be tested says so, and why; a build reports overlay/no-kustomize."""
    (case,) = [one for one in OVERLAID if one.name == "project-overlay-lists"]
    monkeypatch.setattr(kustomize, "tools", lambda: iter(()))
    with pytest.raises(pytest.skip.Exception, match="NOT TESTED"):
        rendered(case)
