"""The vectors of pods, as an API server judges them; `tests/test_pod_validity.py` holds the compiler to the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from tests import libyaml

from .cases import ROOT
from .client import RefusedError

if TYPE_CHECKING:
    from .client import ApiServer

VECTORS = libyaml.load((ROOT / "tests" / "vectors" / "pods.yaml").read_text())


@pytest.mark.parametrize("title", VECTORS["accepted"])
def test_is_accepted(server: ApiServer, deployment: Callable[..., Any], title: str) -> None:
    """A pod that the compiler lets pass is accepted."""
    manifest = deployment(**VECTORS["accepted"][title])
    assert server.tried(manifest)["kind"] == manifest["kind"]


@pytest.mark.parametrize("title", VECTORS["refused"])
def test_is_refused(server: ApiServer, deployment: Callable[..., Any], title: str) -> None:
    """A pod that the compiler refuses would have been refused."""
    with pytest.raises(RefusedError):
        server.tried(deployment(**VECTORS["refused"][title]))
