"""What a run makes that remembers an earlier one is what it would have made without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kservec.api import Target, compile_files
from kservec.core.records import evolve
from kservec.io.reading import File, read_files
from kservec.memory import Earlier

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.api import Compilation

ROOT = Path(__file__).parents[2]
PLATFORM = read_files([str(ROOT / "examples" / "platform")], 1 << 20)
SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: NAME, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec:
  predictor:
    model: {modelFormat: {name: FORMAT}, storageUri: "s3://models/NAME"}
"""
RUNTIME = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: own, namespace: ml}
spec:
  supportedModelFormats: [{name: own, autoSelect: true}]
  containers: [{name: kserve-container, image: "registry.example.com/own:TAG"}]
"""
GRAPH = """\
apiVersion: serving.kserve.io/v1alpha1
kind: InferenceGraph
metadata: {name: calls, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec: {nodes: {root: {routerType: Sequence, steps: [{serviceName: a}, {serviceName: b}]}}}
"""


def service(name: str, model_format: str = "sklearn") -> str:
    """The text of a service."""
    return SERVICE.replace("NAME", name).replace("FORMAT", model_format)


STEPS: dict[str, Mapping[str, str | None]] = {
    "nothing changes": {},
    "a service changes": {"b.yaml": service("b", "xgboost")},
    "a service comes": {"d.yaml": service("d")},
    "a service goes": {"a.yaml": None},
    "it comes back": {"a.yaml": service("a")},
    "a service cannot be compiled": {"b.yaml": service("b", "unheard-of")},
    "a runtime for it comes, in the file of another": {"a.yaml": f"{service('a')}---\n{RUNTIME}"},
    "it asks for that": {"b.yaml": service("b", "own")},
    "the runtime changes": {"a.yaml": f"{service('a')}---\n{RUNTIME.replace('TAG', '2')}"},
    "the runtime goes": {"a.yaml": service("a")},
    "a graph calls services": {"b.yaml": service("b"), "graph.yaml": GRAPH},
    "a service that it calls changes": {"a.yaml": service("a", "xgboost")},
    "a service that it calls goes": {"b.yaml": None},
    "two files have one service": {"b.yaml": service("a"), "graph.yaml": None},
    "a text cannot be read": {"b.yaml": "a: [\n"},
    "the platform changes": {"b.yaml": service("b"), "platform": "kind: Cluster\nclusterDomain: corp\n"},
}


def told(compilation: Compilation) -> object:
    """All that a run says."""
    result = compilation.result
    objects = [(made.ref, made.text, made.owner, made.shared) for made in result.objects]
    return objects, result.diagnostics, dict(result.urls), dict(compilation.sources)


def test_a_run_that_remembers_makes_the_same() -> None:
    """Through a day of edits, each run is what it would be alone."""
    texts: dict[str, str] = {f"{name}.yaml": service(name) for name in "abc"}
    earlier, target = Earlier(), Target(platform=PLATFORM)
    for step, changes in STEPS.items():
        for name, text in changes.items():
            if name == "platform":
                extra = File("extra.yaml", f"apiVersion: kservec.dev/v1alpha1\n{text}".encode())
                target = evolve(target, platform=(*PLATFORM, extra))
            elif text is None:
                del texts[name]
            else:
                texts[name] = text
        files = [File(name, text.encode()) for name, text in texts.items()]
        made = compile_files(files, target=target, earlier=earlier)
        assert told(made) == told(compile_files(files, target=target)), step
        assert made.result.earlier is not None
        earlier = made.result.earlier


@pytest.mark.parametrize(
    ("changes", "again"),
    [
        ({}, set()),
        ({"b.yaml": service("b", "xgboost")}, {"b"}),
        ({"b.yaml": None}, set()),
        ({"runtime.yaml": RUNTIME}, {"a", "b", "c"}),
    ],
    ids=["nothing", "a service", "a service goes", "what all depend on"],
)
def test_what_is_made_again(changes: Mapping[str, str | None], again: set[str]) -> None:
    """Only services that have changed, but everything where something has that they depend on."""
    texts: dict[str, str | None] = {f"{name}.yaml": service(name) for name in "abc"}
    first = compile_files(files_of(texts), earlier=Earlier()).result.earlier
    assert first is not None
    second = compile_files(files_of({**texts, **changes}), earlier=first).result.earlier
    assert second is not None
    before = set(map(id, first.made.values()))
    assert {made.step.unit.name for made in second.made.values() if id(made) not in before} == again


def files_of(texts: Mapping[str, str | None]) -> list[File]:
    """Files with texts."""
    return [File(name, text.encode()) for name, text in texts.items() if text is not None]


def test_a_run_that_is_not_repeated_keeps_nothing() -> None:
    """The trees of a build are dropped as they are written."""
    assert compile_files([File("a.yaml", service("a").encode())]).result.earlier is None
