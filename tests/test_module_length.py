"""No module is so long that it must have two subjects: each has fewer than 400 lines."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_LINES = 399
ROOMS = ("benchmarks", "compiler", "fuzz", "router", "runtimes", "scripts")


def too_long(folder: Path) -> dict[str, int]:
    """The modules of a folder that have more lines than they may, with how many they have."""
    lengths = {
        module.relative_to(folder).as_posix(): len(module.read_text(encoding="utf-8").splitlines())
        for module in sorted(folder.rglob("*.py"))
    }
    return {name: lines for name, lines in lengths.items() if lines > MOST_LINES}


@pytest.mark.parametrize("room", ROOMS)
def test_no_module_is_too_long(room: str) -> None:
    """A longer one is to be divided where its subjects part."""
    assert list((ROOT / room).rglob("*.py"))
    assert too_long(ROOT / room) == {}


def test_a_module_that_is_too_long_is_found(tmp_path: Path) -> None:
    """The last length that passes, and the first that does not, below a folder."""
    (tmp_path / "inner").mkdir()
    (tmp_path / "fits.py").write_text("pass\n" * 399, encoding="utf-8")
    (tmp_path / "inner" / "long.py").write_text("pass\n" * 400, encoding="utf-8")
    assert too_long(tmp_path) == {"inner/long.py": 400}
