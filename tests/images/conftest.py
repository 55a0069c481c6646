"""What every test of the entry point needs: a place to run it, and a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import Place, model


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Programs and a home."""
    return Place(tmp_path / "place")


@pytest.fixture
def weights(tmp_path: Path) -> str:
    """A folder that looks like a model."""
    return str(model(tmp_path / "models"))
