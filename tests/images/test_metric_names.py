"""Metrics of vLLM that queries name exist in the pinned version: a scaler that asks for another never scales."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import libyaml

from .programs import ROOT
from .versions import read

FOLDERS = ("compiler", "docs", "examples", "golden", "integrations", "overlays", "router", "runtimes", "templates")
SUFFIXES = (".md", ".py", ".yaml", ".yml", ".json", ".tmpl", ".txt")
FACTS = ROOT / "runtimes" / "images" / "vllm"
find_metrics = re.compile(r"(?<![\w./-])vllm:([a-z][a-z0-9_]*)").findall


def files() -> Iterator[Path]:
    """The files of the repository that may name a metric, the README among them."""
    yield ROOT / "README.md"
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in SUFFIXES and FACTS not in path.parents:
                yield path


def named() -> dict[str, set[str]]:
    """Every metric of vLLM that is named, and the files that name it."""
    found: dict[str, set[str]] = {}
    for path in files():
        text = path.read_text("utf-8", errors="replace")
        for name in find_metrics(text) if "vllm:" in text else ():
            found.setdefault(f"vllm:{name}", set()).add(str(path.relative_to(ROOT)))
    return found


def test_every_metric_that_is_named_exists() -> None:
    """Queries of KEDA, collectors, arguments of schedulers, documentation, what `kservec init` lays down."""
    unknown = {name: sorted(where) for name, where in named().items() if name not in read("metrics")["metrics"]}
    assert not unknown


def test_names_are_looked_for_where_they_are() -> None:
    """The search finds those of examples, of golden inputs and of what is made from them."""
    places = named()["vllm:num_requests_waiting"]
    assert "examples/services/llama-chat.yaml" in places
    assert any(place.startswith("golden/isvc-keda-prometheus/expect/") for place in places)


@pytest.mark.parametrize("name", ["vllm:gpu_cache_usage_perc", "vllm:time_in_queue_requests", "vllm:prompt_tokens"])
def test_names_of_other_versions_and_of_families_are_not_in_the_list(name: str) -> None:
    """Older vLLMs had these, or have them under a suffix."""
    assert name not in read("metrics")["metrics"]


def test_pods_are_scraped_where_vllm_has_its_metrics() -> None:
    """Pods of the catalog say /metrics, or nothing, which means the same path at the server's port."""
    for path in (ROOT / "runtimes" / "catalog").rglob("*.yaml"):
        if "ghcr.io/kservec/vllm" not in path.read_text():
            continue
        annotations = libyaml.load(path.read_text())["spec"].get("annotations") or {}
        assert annotations.get("prometheus.kserve.io/path", "/metrics") == "/metrics"
