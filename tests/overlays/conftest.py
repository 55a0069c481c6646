"""The ways to run kustomize that there are on this machine."""

from __future__ import annotations

import pytest

from kservec.io.kustomize import HOW_TO, Tool, tools

TOOLS = {tool.name: tool for tool in tools()}


@pytest.fixture(name="tool", params=["pykustomize", "kustomize", "kubectl"])
def tool_fixture(request: pytest.FixtureRequest) -> Tool:
    """Each way to run kustomize; what is not there is skipped."""
    if request.param not in TOOLS:
        pytest.skip(f"NOT TESTED: there is no {request.param} here; {HOW_TO}")
    return TOOLS[request.param]


@pytest.fixture(name="any_tool")
def any_tool_fixture() -> Tool:
    """Some way to run kustomize."""
    if not TOOLS:
        pytest.skip(f"NOT TESTED: overlays need kustomize, and there is none here; {HOW_TO}")
    return next(iter(TOOLS.values()))
