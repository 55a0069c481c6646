"""Interrupts while a tree is written: what is there is whole, nothing else is left, and what is said is true."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path
from pkgutil import resolve_name
from typing import TYPE_CHECKING

import pytest
from tests.cli.running import SERVICE

from kservec.cli.main import run
from kservec.io import exchange, replacement, site_writer, tree_writer
from kservec.io.interrupts import temporary_folder
from kservec.io.site_writer import MARKER, write_site
from kservec.io.tree_writer import write_tree

from .trees import tree, with_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType
    from typing import Any

WRITING = frozenset(module.__file__ for module in (exchange, replacement, site_writer, tree_writer))
OLD = with_index({"n/a.yaml": b"a: 1\n", "n/b.yaml": b"b: 1\n"})
NEW = with_index({"n/a.yaml": b"a: 2\n", "n/c.yaml": b"c: 1\n"})


class Interrupt:
    """Interrupts once, before a certain one of the lines that write.

    Not where the lock is taken: it ends with the process, and this one goes on.
    """

    def __init__(self, line: int) -> None:
        self.left = line

    def __call__(self, frame: FrameType, event: str, argument: object) -> Interrupt | None:
        """What Python calls at each line."""
        del argument
        if frame.f_code.co_filename not in WRITING or frame.f_code.co_name == "locked":
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


def interrupted(line: int, write: Callable[[], object], kind: type[Interrupt] = Interrupt) -> bool:
    """Write, with an interrupt before a line; whether it came before the end."""
    before = sys.gettrace()
    sys.settrace(kind(line))
    try:
        write()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("system_exchanges", [True, False])
def test_an_interrupt_at_any_line_leaves_one_whole_tree_and_nothing_else(
    tmp_path: Path, system_exchanges: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted before each line in turn: the folder is the old tree or the new one, without a workplace beside."""
    if not system_exchanges:
        monkeypatch.setattr(exchange, "exchanged", lambda *_: False)
    out, line, seen = tmp_path / "out", 1, set()
    write_tree(out, OLD, force=False)
    while interrupted(line, lambda: write_tree(out, NEW, force=False)):
        found = tree(out)
        assert found in (OLD, NEW), line
        assert os.listdir(tmp_path) == ["out"], line
        seen.add(found == NEW)
        if found == NEW:
            write_tree(out, OLD, force=False)
        line += 1
    assert seen == {True, False}
    assert line > 100


class HeldDown(Interrupt):
    """A Ctrl-C that is held down: an interrupt before a certain line, and at every line of clearing up after that."""

    def __call__(self, frame: FrameType, event: str, argument: object) -> Interrupt | None:
        """What Python calls at each line."""
        del argument
        clears = frame.f_code.co_name == "recover" or frame.f_code.co_filename == shutil.__file__
        if not clears and (frame.f_code.co_filename not in WRITING or frame.f_code.co_name == "locked"):
            return None
        if event == "line":
            self.left -= 1
            if self.left == 0 or (self.left < 0 and clears):
                signal.raise_signal(signal.SIGINT)
        return self


@pytest.fixture(name="_interrupts")
def interrupts_fixture() -> Iterator[None]:
    """Have interrupts raised here as in a program of its own."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interrupts")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # as below
def test_interrupts_that_come_while_it_clears_up_wait(tmp_path: Path) -> None:
    """However many: one whole tree is left, and nothing else."""
    out, line = tmp_path / "out", 1
    write_tree(out, OLD, force=False)
    while interrupted(line, lambda: write_tree(out, NEW, force=False), HeldDown):
        assert tree(out) in (OLD, NEW), line
        assert os.listdir(tmp_path) == ["out"], line
        if tree(out) == NEW:
            write_tree(out, OLD, force=False)
        line += 1
    assert line > 100


@pytest.mark.usefixtures("_interrupts")
def test_interrupts_wait_for_a_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What kustomize and a commit's files are laid into is removed, too."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    clean = tempfile.TemporaryDirectory.cleanup

    def interrupted_first(made: tempfile.TemporaryDirectory[str]) -> None:
        signal.raise_signal(signal.SIGINT)
        clean(made)

    def used() -> None:
        with temporary_folder() as folder:
            (folder / "a.yaml").write_text("a: 1\n")
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(tempfile.TemporaryDirectory, "cleanup", interrupted_first)
    with pytest.raises(KeyboardInterrupt):
        used()
    assert os.listdir(tmp_path) == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # a file between open and `with`
def test_an_interrupt_at_any_line_leaves_one_whole_site_and_nothing_else(tmp_path: Path) -> None:
    """The same of a report: old pages or new ones."""
    out, line = tmp_path / "out", 1
    write_site(out, [("index.html", b"old")])
    while interrupted(line, lambda: write_site(out, [("index.html", b"new")])):
        assert sorted(os.listdir(out)) == [MARKER, "index.html"], line
        assert os.listdir(tmp_path) == ["out"], line
        line += 1
    assert (out / "index.html").read_bytes() == b"new"
    assert line > 50


@pytest.mark.parametrize(
    ("step", "is_new"),
    [
        ("kservec.io.replacement.keep_rest", False),
        ("kservec.io.replacement.exchange", False),
        ("kservec.io.replacement.sync", True),
        ("kservec.io.replacement.recover", True),
        ("kservec.cli.findings.Findings.show", True),
    ],
)
def test_what_an_interrupt_has_left_is_told(
    tmp_path: Path, step: str, is_new: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Before the exchange nothing was written, after it the tree was, and the words are those."""
    monkeypatch.chdir(tmp_path)
    Path("fraud.yaml").write_text(SERVICE)
    assert run(["build", "fraud.yaml", "-o", "out"]) == 0
    old = tree(Path("out"))
    Path("fraud.yaml").write_text(SERVICE.replace("v7", "v8"))
    capfd.readouterr()
    real, calls = resolve_name(step), []

    def stopped(*arguments: Any, **options: Any) -> Any:
        calls.append(step)
        if len(calls) == 1:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(step, stopped)
    assert run(["build", "fraud.yaml", "-o", "out"]) == 130
    assert (tree(Path("out")) != old) == is_new
    said = "interrupted; written whole: out\n" if is_new else "interrupted; nothing was written\n"
    assert capfd.readouterr().err.lstrip("\n") == said
    assert sorted(os.listdir()) == ["fraud.yaml", "out"]
