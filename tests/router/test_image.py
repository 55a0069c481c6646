"""The router's image, without docker: put together by the same steps, and started from there."""

from __future__ import annotations

import ast
import asyncio
import json
import marshal
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from .peers import Process, exchange, free_port, post, statuses, wait_until_ready

ROOT = Path(__file__).parents[2]
ROUTER = ROOT / "router"
UNCHECKED_HASH = bytes((1, 0, 0, 0))
"""The flags of bytecode that goes by the content of its source, and is not compared with it (PEP 552)."""
GRAPH = {"nodes": {"root": {"routerType": "Sequence", "steps": [{"serviceUrl": "http://127.0.0.1:9/"}]}}}


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions, continued lines joined."""
    text = re.sub(r"\\\n\s*", "", (ROUTER / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def test_the_image_is_small_pinned_and_runs_as_nobody() -> None:
    """Two stages from one base that is an argument, no root user, a health check, labels, an entry point."""
    found = instructions()
    names = [name for name, _ in found]
    last = found[len(names) - 1 - names[::-1].index("FROM") :]
    assert found[:2] == [("ARG", "BASE=docker.io/library/python:3.13-slim"), ("ARG", "DIGEST")]
    assert [rest.split()[0] for name, rest in found if name == "FROM"] == ["${BASE}@${DIGEST}"] * 2
    assert dict(last)["USER"] == "65532:65532"
    assert json.loads(dict(last)["ENTRYPOINT"]) == ["python", "-m", "kservec_router"]
    assert json.loads(dict(last)["HEALTHCHECK"].partition("CMD ")[2]) == ["python", "-m", "kservec_router.health"]
    assert "org.opencontainers.image.version" in dict(last)["LABEL"]
    assert "pip uninstall" in dict(last)["RUN"]


def test_the_router_shares_only_what_graphs_are_with_the_compiler() -> None:
    """No module of the router imports anything else of the compiler, so the image needs nothing else."""
    imported = set()
    for module in (ROUTER / "kservec_router").rglob("*.py"):
        for statement in ast.walk(ast.parse(module.read_text())):
            if isinstance(statement, ast.ImportFrom) and statement.module:
                imported.add(statement.module)
            elif isinstance(statement, ast.Import):
                imported.update(alias.name for alias in statement.names)
    shared = {name for name in imported if name.split(".")[0] == "kservec"}
    assert shared == {"kservec.spec.graph_texts", "kservec.spec.inferencegraph"}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the image serves from, put together as the Dockerfile says, and made read-only."""
    folder = tmp_path_factory.mktemp("image") / "app"
    words = [sys.executable, str(ROUTER / "assemble.py"), str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if done.returncode and "No matching distribution" in done.stderr:
        pytest.skip("there is no package index to install from")
    assert done.returncode == 0, done.stderr
    for path in folder.rglob("*"):
        path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
    return folder


@pytest.mark.slow
def test_what_is_compiled_is_of_the_image(app: Path) -> None:
    """Bytecode names its source as the image has it, and no time, so that every build makes the same bytes."""
    compiled = list(app.rglob("*.pyc"))
    assert compiled
    for path in compiled:
        content = path.read_bytes()
        assert content[4:8] == UNCHECKED_HASH, path
        source = path.parents[1] / f"{path.name.partition('.')[0]}.py"
        assert marshal.loads(content[16:]).co_filename == f"/app/{source.relative_to(app)}"  # noqa: S302 - our own


@pytest.mark.slow
def test_the_folder_holds_what_runs_and_nothing_else(app: Path) -> None:
    """The router, its packages, the graph's model; no installer, no compiler passes, no tests."""
    names = {path.name for path in app.iterdir()}
    assert {"kservec_router", "kservec", "uvicorn", "uvloop", "httptools", "orjson", "starlette"} <= names
    assert not {"pip", "setuptools", "bin", "pytest"} & names
    assert {path.name for path in (app / "kservec").iterdir()} - {"__pycache__"} == {
        "__init__.py",
        "_version.py",
        "spec",
    }


def is_healthy(app: Path, port: int) -> bool:
    """What the image's health check says."""
    environment = {"PYTHONPATH": str(app), "KSERVEC_ROUTER_PORT": str(port)}
    words = [sys.executable, "-S", "-m", "kservec_router.health"]
    return subprocess.run(words, env=environment, check=False).returncode == 0  # noqa: S603 - our own


@pytest.mark.slow
def test_the_router_runs_from_the_folder_alone(app: Path, tmp_path: Path) -> None:
    """Started as the image starts it, with nothing but the folder and Python, it gets ready and answers."""
    port, log = free_port(), tmp_path / "log"
    words = [sys.executable, "-S", "-m", "kservec_router", "--graph-json", json.dumps(GRAPH), "--port", str(port)]
    environment = {"PYTHONPATH": str(app), "PYTHONDONTWRITEBYTECODE": "1", "PATH": os.environ["PATH"]}
    with log.open("wb") as output:
        popen = subprocess.Popen(words, stderr=output, env=environment, cwd=tmp_path)  # noqa: S603 - our own
    process = Process(popen, port, log)
    try:
        wait_until_ready(process)
        assert is_healthy(app, port)
        assert not is_healthy(app, free_port())
        assert statuses(asyncio.run(exchange(port, post()))) == [500]
    finally:
        popen.kill()
        popen.wait()
    assert [path.name for path in tmp_path.iterdir()] == ["log"]
