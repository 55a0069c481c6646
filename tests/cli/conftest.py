"""A folder with a service to compile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .running import CONTEXT, SERVICE, WRONG

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with a service, one that is refused, and one that has other documents beside it."""
    (tmp_path / "fraud.yaml").write_text(SERVICE)
    (tmp_path / "wrong.yaml").write_text(WRONG)
    (tmp_path / "context.yaml").write_text(CONTEXT)
    return tmp_path
