"""After an error a unit is looked at further: what is found then is a mistake of its own, and nothing is left unsaid.

A mistake that is put into a good case shows with the findings of one pass. Whatever else is said of it is a
consequence, and would send users after mistakes that are none.
"""

from __future__ import annotations

import copy
from functools import cache, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from tests import libyaml

from kservec import File, compilation, compile_files, compile_text, frontend, pipeline
from kservec.core.paths import lookup

from .cases import Case, cases, inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kservec.core.tree import Path

SERVICE, LLM, GRAPH = "InferenceService", "LLMInferenceService", "InferenceGraph"
ANNOTATIONS = ("metadata", "annotations")
PREDICTOR = ("spec", "predictor")
MODEL = (*PREDICTOR, "model")
CLASS = "serving.kserve.io/autoscalerClass"
TARGET = {"type": "Utilization", "averageUtilization": -4}
BAD_METRIC = {"metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": TARGET}}]}
NO_FORMAT = {"name": "kserve-container", "modelFormat": {"name": "none-such"}, "storageUri": "s3://a/b"}
CANARIES = [{"trafficPercent": 60, "predictor": {"name": name, "model": NO_FORMAT}} for name in ("v1", "v2")]
SPOILT_SERVER = {
    "name": "main",
    "image": "registry.example.com/vllm:1",
    "imagePullPolicy": "Sometimes",
    "ports": [{"containerPort": 8000, "protocol": "tcp"}],
    "resources": {"requests": {"cpu": "4"}, "limits": {"cpu": "2"}},
}
NAMED = {
    "containers": [{"name": "main", "image": "vllm:1", "volumeMounts": [{"name": "llama-own", "mountPath": "/own"}]}],
    "volumes": [{"name": "{{ .Nme }}-own", "emptyDir": {}}],
}
NODES = ("spec", "nodes")
URL = "http://scorer.example.com/v1/models/scorer:predict"
SHARES = [{"serviceUrl": URL, "weight": 60}, {"serviceUrl": URL, "weight": 30}]
EVERY = 12
"""One in so many cases is looked at always, the others where there is time."""
PARTS = 4
"""Parts of the pairs of mistakes; the first one is tried always."""
inputs_of = cache(inputs)
"""What a case compiles, which is read once for all mistakes."""


class Mistake(NamedTuple):
    """A value that is wrong, and where it is put; `within` must be there already."""

    path: Path
    value: Any
    kind: str = SERVICE
    within: int = 2


MISTAKES = {
    "label": Mistake(("metadata", "labels"), {"team": "risk and fraud"}, within=1),
    "label of no text": Mistake(("metadata", "labels"), {"team": True}, within=1),
    "label of the predictor": Mistake((*PREDICTOR, "labels"), {"team": True}),
    "annotation of no text": Mistake((*ANNOTATIONS, "example.com/since"), 2024),
    "alien field": Mistake((*PREDICTOR, "zzz"), 5),
    "misspelt field": Mistake((*PREDICTOR, "timeot"), 60),
    "label of an LLM": Mistake(("metadata", "labels"), {"team": "risk and fraud"}, LLM, 1),
    "annotation of pods of an LLM": Mistake(("spec", "annotations"), {"example.com/since": 2024}, LLM, 1),
    "alien field of an LLM": Mistake(("spec", "template", "zzz"), "x", LLM),
    "misspelt field of an LLM": Mistake(("spec", "storageInitialiser"), {"enabled": True}, LLM, 1),
    "label of a graph": Mistake(("metadata", "labels"), {"team": "risk and fraud"}, GRAPH, 1),
    "misspelt field of a graph": Mistake(("spec", "maxReplica"), 4, GRAPH, 1),
    "scheme": Mistake((*MODEL, "storageUri"), "ftp://a/b", within=4),
    "key": Mistake((*MODEL, "storage"), {"key": "none-such"}, within=3),
    "uris": Mistake((*PREDICTOR, "storageUris"), [{"uri": "ftp://a/b", "mountPath": "/mnt/x"}]),
    "runtime": Mistake((*MODEL, "runtime"), "none-such", within=3),
    "placeholder": Mistake((*MODEL, "args"), ["{{.None"], within=3),
    "python path": Mistake((*MODEL, "env"), [{"name": "PYTHONPATH", "value": "/x"}], within=3),
    "class": Mistake((*ANNOTATIONS, CLASS), "none-such"),
    "class of the predictor": Mistake((*PREDICTOR, "annotations"), {CLASS: "none-such"}),
    "metric": Mistake((*PREDICTOR, "autoScaling"), BAD_METRIC),
    "replicas": Mistake((*PREDICTOR, "minReplicas"), -9),
    "replicas of the transformer": Mistake(("spec", "transformer", "minReplicas"), -9),
    "interval": Mistake((*PREDICTOR, "logger"), {"mode": "all", "url": "http://logs", "batchInterval": "soon"}),
    "batcher": Mistake((*PREDICTOR, "batcher"), {"maxBatchSize": -1}),
    "visibility": Mistake(("metadata", "labels", "networking.kserve.io/visibility"), "everywhere"),
    "canary": Mistake(("spec", "canary"), CANARIES[:1], within=1),
    "traffic": Mistake(("spec", "canary"), CANARIES, within=1),
    "name resolution": Mistake((*PREDICTOR, "dnsPolicy"), "Nowhere"),
    "pull policy": Mistake((*MODEL, "imagePullPolicy"), "Sometimes", within=3),
    "protocol": Mistake((*MODEL, "ports"), [{"containerPort": 8080, "protocol": "tcp"}], within=3),
    "requests": Mistake((*MODEL, "resources"), {"requests": {"cpu": "4"}, "limits": {"cpu": "2"}}, within=3),
    "label of nodes": Mistake((*PREDICTOR, "nodeSelector"), {"a b": "x"}),
    "account of an LLM": Mistake(("spec", "template", "serviceAccountName"), "none-such", LLM),
    "adapter of an LLM": Mistake(("spec", "model", "lora"), {"adapters": [{"name": "own", "uri": "ftp://a/b"}]}, LLM),
    "base of an LLM": Mistake(("spec", "baseRefs"), [{"name": "none-such"}], LLM, 1),
    "model of an LLM": Mistake(("spec", "model", "uri"), "ftp://a/b", LLM),
    "name resolution of an LLM": Mistake(("spec", "template", "dnsPolicy"), "Nowhere", LLM),
    "label of nodes of an LLM": Mistake(("spec", "template", "nodeSelector"), {"a b": "x"}, LLM),
    "containers of an LLM": Mistake(("spec", "template", "containers"), [SPOILT_SERVER], LLM),
    "pool of an LLM": Mistake(("spec", "router", "scheduler", "pool"), {"ref": {"name": "none-such"}}, LLM, 3),
    "route of an LLM": Mistake(("spec", "router", "route"), {"http": {"refs": [{"name": "none-such"}]}}, LLM),
    "scaling of an LLM": Mistake(("spec", "scaling"), {"minReplicas": 3, "maxReplicas": 1}, LLM, 1),
    "scheduler of an LLM": Mistake(("spec", "router", "scheduler", "replicas"), -1, LLM, 3),
    "size of an LLM": Mistake(("spec", "parallelism"), {"tensor": 2, "data": 3}, LLM, 1),
    "sizes of an LLM": Mistake(("spec", "prefill", "parallelism"), {"pipeline": 2, "data": 4, "dataLocal": 2}, LLM, 1),
    "bases of an LLM": Mistake(("spec", "baseRefs"), [{"name": "none-such"}, {"name": "none-other"}], LLM, 1),
    "gateway of an LLM": Mistake(("spec", "router", "gateway"), {"refs": [{}]}, LLM),
    "name of an LLM": Mistake(("metadata", "name"), "1st", LLM, 1),
    "long name of an LLM": Mistake(("metadata", "name"), "a" * 70, LLM, 1),
    "name of an adapter": Mistake(("spec", "model", "lora"), {"adapters": [{"name": "", "uri": "hf://a/b"}]}, LLM),
    "cache of an LLM": Mistake(("spec", "kvCacheOffloading"), {"cpu": "-1"}, LLM, 1),
    "template of an LLM": Mistake(("spec", "template", "hostname"), "{{ .None }}", LLM),
    "template of a name of an LLM": Mistake(("spec", "template"), NAMED, LLM, 1),
    "template of an account of an LLM": Mistake(("spec", "template", "serviceAccountName"), "{{ .None }}", LLM),
    "template of the model of an LLM": Mistake(("spec", "model", "name"), "{{ .None }}", LLM),
    "weights of a graph": Mistake((*NODES, "shares"), {"routerType": "Splitter", "steps": SHARES}, GRAPH),
    "service of a graph": Mistake(
        (*NODES, "calls"), {"routerType": "Sequence", "steps": [{"serviceName": "none-such"}]}, GRAPH
    ),
    "names of a graph": Mistake(
        (*NODES, "names"), {"routerType": "Ensemble", "steps": [{"name": "a", "serviceUrl": URL}] * 2}, GRAPH
    ),
    "targets of a graph": Mistake(
        (*NODES, "both"), {"routerType": "Sequence", "steps": [{"serviceUrl": URL, "serviceName": "none-such"}]}, GRAPH
    ),
    "tolerations of a graph": Mistake(("spec", "tolerations"), [{"key": "a b", "operator": "Exists"}], GRAPH, 1),
    "configuration of the scheduler": Mistake(
        ("spec", "router", "scheduler", "config"), {"ref": {"name": "none-such", "key": "epp"}}, LLM, 3
    ),
}


def with_mistake(document: Any, mistake: Mistake) -> Any:
    """A document with a mistake; None if there is no place for it."""
    if not isinstance(document, dict) or document.get("kind") != mistake.kind:
        return None
    if lookup(document, mistake.path[: mistake.within]) is None:
        return None
    changed = copy.deepcopy(document)
    here = changed
    for step in mistake.path[:-1]:
        here[step] = here.get(step) or {}
        here = here[step]
    here[mistake.path[-1]] = mistake.value
    return changed


MISSPELT = {
    "storageUri": "storageURI",
    "modelFormat": "modelFormt",
    "minReplicas": "minReplica",
    "containers": "container",
    "image": "imge",
    "args": "arg",
    "env": "envs",
    "annotations": "anotations",
    "routerType": "routeType",
    "steps": "step",
    "serviceUrl": "serviceURL",
    "parallelism": "paralelism",
    "scheduler": "schedular",
    "template": "tempate",
}
KINDS = (SERVICE, LLM, GRAPH)


def with_misspelt(document: Any, field: str) -> Any:
    """A document with a misspelt field wherever it has that; None if it nowhere does."""
    if not isinstance(document, dict) or document.get("kind") not in KINDS:
        return None
    changed = {**document, "metadata": misspelt(document["metadata"], field), "spec": misspelt(document["spec"], field)}
    return changed if changed != document else None


def misspelt(value: Any, field: str) -> Any:
    """A value with a field misspelt."""
    if isinstance(value, list):
        return [misspelt(item, field) for item in value]
    if isinstance(value, dict):
        return {MISSPELT[field] if name == field else name: misspelt(item, field) for name, item in value.items()}
    return value


def spoilt(case: Case, spoil: Callable[[Any], Any]) -> Iterator[list[File]]:
    """The files of a case with a mistake in one document after the other."""
    files, _ = inputs_of(case)
    for i, file in enumerate(files):
        documents = list(libyaml.load_all(file.content)) if file.name.endswith("yaml") else []
        for j, document in enumerate(documents):
            changed = spoil(document)
            if changed is not None:
                text = libyaml.dump_all([*documents[:j], changed, *documents[j + 1 :]], sort_keys=False)
                yield [*files[:i], File(file.name, text.encode()), *files[i + 1 :]]


def hold_to_the_first_errors(chosen: list[Case], spoil: Callable[[Any], Any], monkeypatch: pytest.MonkeyPatch) -> int:
    """Compile cases with a mistake in them; how many had one."""
    count = 0
    for case in chosen:
        target = inputs_of(case)[1]
        for files in spoilt(case, spoil):
            with monkeypatch.context() as patched:
                for module in (pipeline, compilation):
                    patched.setattr(module, "errors_in", lambda *_: ())
                patched.setattr(frontend, "read_as_meant", lambda *_: ([], []))
                first = compile_files(files, target=target)
            assert compile_files(files, target=target).diagnostics == first.diagnostics, case.name
            count += not first.ok
    return count


def good() -> list[Case]:
    """The cases without errors."""
    return [case for case in cases() if not case.name.startswith("err-")]


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_brings_no_other(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One mistake in a good case is told of by one pass, though all the others look at the rest."""
    hold_to_the_first_errors(good()[::EVERY], partial(with_mistake, mistake=MISTAKES[name]), monkeypatch)


@pytest.mark.parametrize("field", MISSPELT)
def test_a_misspelt_field_brings_no_other_error(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A good case with a field that is evidently meant to be another is told of that field, and of nothing else."""
    hold_to_the_first_errors(good()[::EVERY], partial(with_misspelt, field=field), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("field", MISSPELT)
def test_a_misspelt_field_brings_no_other_error_in_any_case(field: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, for all cases."""
    assert hold_to_the_first_errors(good(), partial(with_misspelt, field=field), monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_brings_no_other_in_any_case(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As above, for all cases."""
    assert hold_to_the_first_errors(good(), partial(with_mistake, mistake=MISTAKES[name]), monkeypatch)


BASE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: fraud
  namespace: ml
  labels: {team: risk}
  annotations: {serving.kserve.io/deploymentMode: Standard}
spec:
  predictor:
    model: {modelFormat: {name: sklearn}, storageUri: s3://models/fraud}
  transformer:
    containers: [{name: kserve-container, image: "registry.example.com/features:1"}]
"""
LLM_BASE = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata: {name: chat, namespace: ml}
spec:
  model: {uri: hf://org/model, name: org/model}
  template: {containers: [{name: main, image: "registry.example.com/vllm:1"}]}
  router: {gateway: {}, route: {}, scheduler: {}}
"""
STEPS = f"steps: [{{serviceUrl: '{URL}', weight: 100, condition: a}}]"
GRAPH_BASE = f"""\
apiVersion: serving.kserve.io/v1alpha1
kind: InferenceGraph
metadata: {{name: claims, namespace: ml, annotations: {{serving.kserve.io/deploymentMode: Standard}}}}
spec:
  nodes:
    root:
      routerType: Sequence
      steps: [{{nodeName: shares}}, {{nodeName: calls}}, {{nodeName: names}}, {{nodeName: both}}]
    shares: {{routerType: Splitter, {STEPS}}}
    calls: {{routerType: Switch, {STEPS}}}
    names: {{routerType: Switch, {STEPS}}}
    both: {{routerType: Switch, {STEPS}}}
"""
BASES = {SERVICE: libyaml.load(BASE), LLM: libyaml.load(LLM_BASE), GRAPH: libyaml.load(GRAPH_BASE)}


@cache
def errors_of(*names: str) -> set[tuple[str, str]]:
    """What is said of a service with some mistakes."""
    document = BASES[MISTAKES[names[0]].kind]
    for name in names:
        document = with_mistake(document, MISTAKES[name])
    found = compile_text(libyaml.dump(document)).diagnostics
    return {(d.code.slug, d.message.replace(document["metadata"]["name"], "NAME")) for d in found if d.is_error}


def pairs() -> list[tuple[str, str]]:
    """Mistakes that stand at different places of one service."""
    ways = combinations(MISTAKES.items(), 2)
    return [(a, b) for (a, one), (b, other) in ways if one.kind == other.kind and not is_within(one.path, other.path)]


def is_within(one: Path, other: Path) -> bool:
    """Whether one of two places is within the other."""
    return all(step == step_of_other for step, step_of_other in zip(one, other, strict=False))


@pytest.mark.parametrize("part", [pytest.param(part, marks=pytest.mark.slow if part else ()) for part in range(PARTS)])
def test_of_two_mistakes_nothing_is_said_that_is_not_said_of_one(part: int) -> None:
    """Whatever is said of two mistakes is said of one of them alone; and something is said."""
    for one, other in pairs()[part::PARTS]:
        both = errors_of(one, other)
        assert both
        assert both <= errors_of(one) | errors_of(other), (one, other)


@pytest.mark.parametrize(
    "names",
    [
        ("replicas", "scheme", "interval"),
        ("class of the predictor", "scheme", "batcher"),
        ("traffic", "metric", "key", "batcher"),
        ("runtime", "replicas of the transformer"),
        ("python path", "visibility", "scheme"),
        ("model of an LLM", "route of an LLM", "scaling of an LLM"),
        ("adapter of an LLM", "scheduler of an LLM"),
        ("adapter of an LLM", "model of an LLM"),
        ("name resolution", "pull policy", "scheme", "replicas"),
        ("protocol", "requests", "label of nodes", "interval"),
        ("name resolution of an LLM", "label of nodes of an LLM", "containers of an LLM", "model of an LLM"),
        ("containers of an LLM", "route of an LLM", "scaling of an LLM"),
        ("size of an LLM", "containers of an LLM", "account of an LLM", "model of an LLM"),
        ("name of an LLM", "template of an LLM", "model of an LLM", "pool of an LLM"),
        ("name of an LLM", "bases of an LLM", "scaling of an LLM"),
        ("template of an account of an LLM", "containers of an LLM", "adapter of an LLM"),
        ("account of an LLM", "label of nodes of an LLM", "route of an LLM", "scheduler of an LLM"),
        ("name of an adapter", "model of an LLM", "route of an LLM"),
        ("cache of an LLM", "model of an LLM"),
        ("label", "annotation of no text", "scheme", "replicas of the transformer", "pull policy"),
        ("alien field", "misspelt field", "class of the predictor", "scheme"),
        ("label of the predictor", "replicas", "label of no text", "scheme"),
        ("label of an LLM", "misspelt field of an LLM", "bases of an LLM", "scaling of an LLM"),
        ("annotation of pods of an LLM", "alien field of an LLM", "model of an LLM", "account of an LLM"),
        ("label of a graph", "misspelt field of a graph", "service of a graph", "names of a graph"),
        ("weights of a graph", "service of a graph", "names of a graph", "tolerations of a graph"),
        ("service of a graph", "targets of a graph"),
        ("configuration of the scheduler", "containers of an LLM", "template of an LLM"),
    ],
    ids=", ".join,
)
def test_all_mistakes_show_at_once(names: tuple[str, ...]) -> None:
    """Mistakes that different stages find, admission among them, take one run."""
    assert errors_of(*names) == set().union(*map(errors_of, names))
