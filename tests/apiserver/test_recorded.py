"""A sample of the recorded cases, compiled and taken to a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .cases import case_name, compiled, parsed, recorded_cases, slugs
from .checks import findings

if TYPE_CHECKING:
    from pathlib import Path

    from .client import ApiServer


@pytest.mark.parametrize("case", recorded_cases(), ids=case_name)
def test_syncs_cleanly(server: ApiServer, case: Path, prefix: str) -> None:
    """What is compiled is accepted, kept as it is, and shows no difference afterwards; or it is not compiled."""
    compilation = compiled(case)
    if not compilation.ok:
        pytest.skip(f"not compiled: {', '.join(slugs(compilation))}")
    assert findings(server, parsed(compilation.yaml), prefix) == []
