"""The ways to run kustomize: all give the same, none can reach anything, and what goes wrong is said."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kservec.io import kustomize
from kservec.io.kustomize import KustomizeError, NoKustomizeError, Tool, build, program

EMPTY = {"wrapper/kustomization.yaml": b"resources: []\nnamespace: x\n"}
BROKEN = {
    "wrapper/kustomization.yaml": b"resources: [../tree/overlays/prod]\n",
    "tree/overlays/prod/kustomization.yaml": b'resources: [a.yaml]\npatches:\n- target: {kind: A}\n  patch: \'[{"op":'
    b' "replace", "path": "/spec/b", "value": 1}]\'\n',
    "tree/overlays/prod/a.yaml": b"apiVersion: v1\nkind: A\nmetadata: {name: a}\n",
}


def test_a_refusal_is_the_same_sentence_everywhere(tool: Tool) -> None:
    """The message is kustomize's, without the folder that it was run in and without marks of a log."""
    with pytest.raises(KustomizeError) as refused:
        build(BROKEN, tool)
    assert str(refused.value) == "replace operation does not apply: doc is missing path: /spec/b: missing value"


def test_without_any_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without kustomize is told how to get one."""
    monkeypatch.setattr(kustomize, "tools", lambda: iter(()))
    with pytest.raises(NoKustomizeError, match="pip install"):
        build(EMPTY)


def script(folder: Path, text: str) -> Tool:
    """A program in the place of kustomize."""
    path = folder / "fake.py"
    path.write_text(text)
    return Tool("fake", program((sys.executable, str(path))))


def test_what_takes_too_long_is_stopped(tmp_path: Path) -> None:
    """After its time the program is killed, and the error says how long it had."""
    fake = script(tmp_path, "import time\ntime.sleep(60)\n")
    with pytest.raises(KustomizeError, match=r"it did not end within 0\.3 seconds"):
        build(EMPTY, fake, 0.3)


def test_a_program_gets_no_settings_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its home is the folder that it is run in, git may use no protocol, and nothing else comes from outside."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "the-value-must-not-appear")
    fake = script(
        tmp_path, "import os\nprint(sorted(set(os.environ) - {'LC_CTYPE'}), os.environ['GIT_ALLOW_PROTOCOL'])"
    )
    said = build(EMPTY, fake)
    assert said.strip() == (
        "['GIT_ALLOW_PROTOCOL', 'GIT_TERMINAL_PROMPT', 'HOME', 'HTTPS_PROXY', 'HTTP_PROXY', 'PATH'] none"
    )


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """The copy that kustomize is run over is gone afterwards, also after an error."""
    fake = script(tmp_path, "import os, sys\nprint(os.getcwd())\nsys.exit(int(os.path.exists('fail')))")
    folder = Path(build(EMPTY, fake).strip())
    assert folder.name == "wrapper"
    assert not folder.parent.exists()
    with pytest.raises(KustomizeError):
        build(EMPTY | {"wrapper/fail": b""}, fake)


def test_the_network_is_out_of_reach(tool: Tool) -> None:
    """Even if an address got as far as kustomize, nothing would be fetched."""
    for address in ("https://127.0.0.1:9/base.yaml", "git::file:///nowhere/base"):
        with pytest.raises(KustomizeError):
            build({"wrapper/kustomization.yaml": f"resources: ['{address}']\n".encode()}, tool, 20)
