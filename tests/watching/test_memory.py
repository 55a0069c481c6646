"""What a run makes that remembers an earlier one is what it would have made without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kservec.api import Target, compile_files
from kservec.core.records import evolve
from kservec.emit import dump
from kservec.io.cache import recalling as recalling_folder
from kservec.io.reading import File, read_files
from kservec.recall import Memory, recalling
from kservec.workshop import alone

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.registry import Env
    from kservec.core.unit import Unit
    from kservec.workshop import Crew, Made, Workshop

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
CHAT = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: chat, namespace: ml}
spec:
  model: {uri: "s3://models/chat", name: MODEL}
  template: {containers: [{name: main, resources: {limits: {nvidia.com/gpu: "1"}}}]}
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
    "a language model comes": {"chat.yaml": CHAT.replace("MODEL", "one")},
    "a service beside it changes": {"a.yaml": service("a")},
    "it changes": {"chat.yaml": CHAT.replace("MODEL", "two")},
    "two files have one service": {"b.yaml": service("a"), "graph.yaml": None},
    "a text cannot be read": {"b.yaml": "a: [\n"},
    "the platform changes": {"b.yaml": service("b"), "platform": "kind: Cluster\nclusterDomain: corp\n"},
}


class Seen:
    """What a witness was handed: each unit, and the objects that it had led to."""

    def __init__(self) -> None:
        self.trees: dict[ObjectRef, list[tuple[ObjectRef, str]]] = {}

    def __call__(self, unit: Unit, env: Env) -> None:
        """Keep a unit."""
        del env
        assert unit.ref not in self.trees
        self.trees[unit.ref] = [(made.ref, dump(made.body.value)) for made in unit.bundle.manifests]


def told(files: Sequence[File], target: Target, crew: Crew) -> object:
    """All that a run says."""
    seen = Seen()
    compilation = compile_files(files, target=target, crew=crew, witness=seen)
    result = compilation.result
    objects = [(made.ref, made.text, made.owner, made.shared) for made in result.objects]
    return objects, result.diagnostics, dict(result.urls), dict(compilation.sources), seen.trees


def test_a_run_that_remembers_makes_the_same() -> None:
    """Through a day of edits, each run is what it would be alone, and a witness sees the same."""
    texts: dict[str, str] = {f"{name}.yaml": service(name) for name in "abc"}
    crew, target = recalling(Memory(), "", alone), Target(platform=PLATFORM)
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
        assert told(files, target, crew) == told(files, target, alone), step


class Hands:
    """A crew of this process that keeps the names of what it compiles."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __call__(self, workshop: Workshop) -> Iterable[list[Made]]:
        """What becomes of all units."""
        self.names |= {unit.name for unit in workshop.units}
        return alone(workshop)


@pytest.mark.parametrize(
    ("changes", "again"),
    [
        ({}, set()),
        ({"b.yaml": service("b", "xgboost")}, {"b"}),
        ({"b.yaml": None}, set()),
        ({"b.yaml": service("b", "unheard-of")}, {"b"}),
        ({"chat.yaml": CHAT.replace("MODEL", "other")}, {"chat"}),
        ({"runtime.yaml": RUNTIME}, {"a", "b", "c", "chat"}),
    ],
    ids=["nothing", "a service", "a service goes", "a mistake", "a language model", "what all depend on"],
)
def test_what_is_made_again(changes: Mapping[str, str | None], again: set[str]) -> None:
    """Only services that have changed, but everything where something has that they depend on."""
    texts: dict[str, str | None] = {f"{name}.yaml": service(name) for name in "abc"}
    texts["chat.yaml"] = CHAT.replace("MODEL", "one")
    hands = Hands()
    crew = recalling(Memory(), "", hands)
    assert compile_files(files_of(texts), target=Target(platform=PLATFORM), crew=crew).ok
    assert hands.names == {"a", "b", "c", "chat"}
    hands.names = set()
    compile_files(files_of({**texts, **changes}), target=Target(platform=PLATFORM), crew=crew)
    assert hands.names == again


def files_of(texts: Mapping[str, str | None]) -> list[File]:
    """Files with texts."""
    return [File(name, text.encode()) for name, text in texts.items() if text is not None]


def test_a_memory_keeps_no_more_than_the_last_run() -> None:
    """What went with an edit is gone, and with another base everything that was before."""
    memory = Memory()
    crew = recalling(memory, "", alone)
    compile_files(files_of({"a.yaml": service("a"), "b.yaml": service("b")}), crew=crew)
    assert {kept.made.ref.name for kept in memory.kept.values()} == {"a", "b"}
    compile_files(files_of({"b.yaml": service("b")}), crew=crew)
    assert {kept.made.ref.name for kept in memory.kept.values()} == {"b"}
    compile_files(files_of({"a.yaml": service("a"), "runtime.yaml": RUNTIME}), crew=crew)
    assert {kept.made.ref.name for kept in memory.kept.values()} == {"a"}


def test_a_witness_sees_what_is_only_known_as_text(tmp_path: Path) -> None:
    """A folder keeps no trees, so for a witness everything is compiled."""
    files = files_of({"a.yaml": service("a")})
    crew = recalling_folder(tmp_path, alone)
    compile_files(files, crew=crew)
    assert told(files, Target(), crew) == told(files, Target(), alone)
