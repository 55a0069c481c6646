"""What every test of the entry point needs: a place to run it, and a model."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from .programs import TMP, Place, model


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Programs and a home."""
    return Place(tmp_path / "place")


@pytest.fixture
def open_place() -> Iterator[Place]:
    """A place that any user may look into, and write its record to; folders of pytest are for their owner alone."""
    with tempfile.TemporaryDirectory(dir=TMP) as folder:
        Path(folder).chmod(0o755)
        place = Place(Path(folder) / "place")
        place.folder.chmod(0o777)
        yield place


@pytest.fixture
def weights(tmp_path: Path) -> str:
    """A folder that looks like a model."""
    return str(model(tmp_path / "models"))
