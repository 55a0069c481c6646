"""The lists of the pinned vLLM: made from that version, and fitting to what is written here."""

from __future__ import annotations

import ast
import re
import runpy
import shutil
import sys
from pathlib import Path

import pytest

from .programs import IMAGES, ROOT
from .versions import VARIANTS, read, reference

PACKAGE = IMAGES / "kservec_vllm"
CATALOG = ROOT / "runtimes" / "catalog" / "0.21"
OF_KSERVE = {"--model-dir", "--model-id", "--model-name"}
"""Flags of KServe's own server, which are turned into those of vLLM."""
OF_OURS = {"--dry-run", "--version", "-v", "--help", "--"}
OF_RAY = {
    "--head",
    "--block",
    "--port",
    "--address",
    "--node-ip-address",
    "--disable-usage-stats",
    "--include-dashboard",
}


def known() -> set[str]:
    """Every spelling of every argument of the pinned vLLM."""
    entries = read("arguments")["arguments"]
    return {name for entry in entries.values() for name in entry.get("names", ())}


def test_lists_are_of_the_pinned_version() -> None:
    """A new vLLM needs new lists, made by scripts/make_vllm_lists.py."""
    pinned = read()["vllm"]
    assert read("arguments")["vllm"] == pinned
    assert read("metrics")["vllm"] == pinned


def test_lists_are_whole() -> None:
    """They have what nobody does without, in the form that the stand-in reads."""
    entries = read("arguments")["arguments"]
    assert len(entries) > 200
    assert {entry["values"] for entry in entries.values()} == {"none", "one", "optional", "some"}
    assert entries["--tensor-parallel-size"] == {
        "names": ["--tensor-parallel-size", "-tp"], "type": "int", "values": "one",
    }  # fmt: skip
    assert "names" not in entries["model_tag"]
    assert not any("help" in entry for entry in entries.values())
    metrics = read("metrics")["metrics"]
    assert metrics["vllm:num_requests_waiting"] == "gauge"
    assert metrics["vllm:e2e_request_latency_seconds_bucket"] == "histogram"
    assert metrics["vllm:prompt_tokens_total"] == "counter"


def test_the_script_refuses_another_version(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Lists of some other vLLM than the one that is pinned would prove nothing."""
    script, folder = tmp_path / "scripts" / "make_vllm_lists.py", tmp_path / IMAGES.relative_to(ROOT)
    for path in (script, folder / "versions.json"):
        path.parent.mkdir(parents=True)
        shutil.copy(ROOT / path.relative_to(tmp_path), path)
    monkeypatch.setattr("importlib.metadata.version", lambda _: "0.1.0+cpu")
    monkeypatch.setattr(sys, "argv", ["make_vllm_lists.py"])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(script), run_name="__main__")
    assert caught.value.code == 1
    assert f"pins vLLM {read()['vllm']}, here is 0.1.0" in capsys.readouterr().err
    assert list(folder.iterdir()) == [folder / "versions.json"]


def flags_in(module: Path) -> set[str]:
    """The flags that a module writes out."""
    texts = [n.value for n in ast.walk(ast.parse(module.read_text())) if isinstance(n, ast.Constant)]
    whole = [text for text in texts if isinstance(text, str)]
    return {text for text in whole if re.fullmatch(r"--[a-z][a-z-]*|-[a-z]{1,3}", text)} | {
        found for text in whole for found in re.findall(r"(?<![\w-])--[a-z][a-z-]+(?=[=.\s,]|$)", text)
    }


@pytest.mark.parametrize("module", sorted(PACKAGE.glob("*.py")), ids=lambda path: path.name)
def test_the_entry_point_knows_no_other_flags(module: Path) -> None:
    """Each flag of its code, and of its messages, is one of vLLM's, or of those that it takes over."""
    own = OF_KSERVE | OF_OURS | (OF_RAY if module.name == "__main__.py" else set())
    assert flags_in(module) - own - {"-h"} <= known()


def test_ranks_of_adapters_are_those_of_vllm() -> None:
    """The ranks that a message proposes can be set."""
    text = (PACKAGE / "adapters.py").read_text()
    ranks = ast.literal_eval(re.search(r"RANKS: Final = (\(.*?\))", text)[1])  # type: ignore[index]
    assert [str(rank) for rank in ranks] == read("arguments")["arguments"]["--max-lora-rank"]["choices"]


def test_caches_of_the_entry_point_are_those_of_the_images() -> None:
    """What it moves for users who may not write there is what the images set."""
    text = (PACKAGE / "home.py").read_text()
    caches = ast.literal_eval(re.search(r"CACHES: Final = (\(.*?\))\n", text, re.DOTALL)[1])  # type: ignore[index]
    assert {*caches, "USER"} == set(read()["environment"])


def test_the_entry_point_needs_python_alone() -> None:
    """Nothing has to be installed for it; Ray is asked in a process of its own."""
    for module in PACKAGE.glob("*.py"):
        for node in ast.walk(ast.parse(module.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [str(node.module)]
            assert all(name.split(".")[0] in sys.stdlib_module_names for name in names), (module.name, names)


def test_the_catalog_has_these_images() -> None:
    """Every image of ours in the catalog is one of the file of versions, by tag, and by digest once there is one."""
    ours = {reference(read()["variants"][name]["image"]) for name in VARIANTS}
    found = {
        image
        for path in CATALOG.glob("*.yaml")
        for image in re.findall(r"image: (ghcr\.io/kservec/vllm\S+)", path.read_text())
    }
    assert found <= ours
    assert found == {reference(read()["variants"][name]["image"]) for name in ("cuda", "cpu")}


def test_the_version_of_the_images_is_that_of_the_compiler() -> None:
    """They are released together."""
    project = re.search(
        r'^version = "(.*)"|__version__ = "(.*)"', (ROOT / "compiler/kservec/_version.py").read_text(), re.M
    )
    assert project
    version = project[1] or project[2]
    assert {entry["image"]["tag"] for entry in read()["variants"].values()} == {version}
