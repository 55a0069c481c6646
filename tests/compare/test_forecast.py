"""The forecast of restarts: on pairs of real builds it names the workloads whose canonical pod template changed."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from tests import libyaml

from kservec.compare.forecast import INTERRUPTING, Verb
from kservec.compare.report import COMMITTED, Comparison, compared
from kservec.compare.workloads import Bounds
from kservec.core.quantity import parse_quantity
from kservec.gitops.layout import planned_file

from .building import (
    CANARY,
    FIXED,
    GRAPH,
    KEDA,
    KNATIVE,
    LLM,
    MODE,
    PLATFORM,
    SINGLE_LLM,
    STANDARD,
    TRANSFORMER,
    built,
    comparison,
    edited,
    side,
)

PREDICTOR = "Deployment fraud-predictor"
V8 = "Deployment fraud-v8-predictor"
REVISION = "Service fraud-predictor"
GROUPS = "LeaderWorkerSet chat-kserve-mn"
INITIALIZER = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ClusterStorageContainer
metadata: {name: default}
spec:
  container: {name: storage-initializer, image: "registry.example.com/initializer:2"}
  supportedUriFormats: [{prefix: s3://}]
---
"""


RUNTIME = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: ours}
spec:
  supportedModelFormats: [{name: sklearn, version: "1", autoSelect: true, priority: 9}]
  protocolVersions: [v1]
  containers: [{name: kserve-container, image: "registry.example.com/sk:1"}]
"""


class Pair(NamedTuple):
    """A spec, an edit of it, and the workloads whose pods are new after it."""

    about: str
    before: str
    edits: tuple[tuple[str, str], ...]
    restarts: frozenset[str] = frozenset()
    platform: tuple[tuple[str, str], ...] = ()


def pair(about: str, before: str, *edits: tuple[str, str], restarts: tuple[str, ...] = (), **more: Any) -> Pair:
    """A pair, with its edits one after the other."""
    return Pair(about, before, edits, frozenset(restarts), **more)


PAIRS = (
    pair("a new model", STANDARD, ("v7", "v8"), restarts=(PREDICTOR,)),
    pair("another argument", STANDARD, ("--workers=2", "--workers=4"), restarts=(PREDICTOR,)),
    pair("a variable more", STANDARD, ("info}", "info}\n        - {name: A, value: b}"), restarts=(PREDICTOR,)),
    pair(
        "variables in another order",
        STANDARD,
        (
            '        - {name: OMP_NUM_THREADS, value: "4"}\n        - {name: LOG_LEVEL, value: info}',
            '        - {name: LOG_LEVEL, value: info}\n        - {name: OMP_NUM_THREADS, value: "4"}',
        ),
        restarts=(PREDICTOR,),
    ),
    pair("more memory", STANDARD, ("memory: 2Gi", "memory: 4Gi"), restarts=(PREDICTOR,)),
    pair("the same memory in other words", STANDARD, ("memory: 2Gi", "memory: 2048Mi"), ("500m", '"0.5"')),
    pair("keys in another order", STANDARD, ("{cpu: 500m, memory: 1Gi}", "{memory: 1Gi, cpu: 500m}")),
    pair(
        "a default written out", STANDARD, ("    timeout: 60", "    timeout: 60\n    terminationGracePeriodSeconds: 30")
    ),
    pair(
        "more defaults written out",
        STANDARD,
        ("    timeout: 60", "    timeout: 60\n    dnsPolicy: ClusterFirst\n    restartPolicy: Always"),
    ),
    pair(
        "a longer grace period",
        STANDARD,
        ("    timeout: 60", "    timeout: 60\n    terminationGracePeriodSeconds: 90"),
        restarts=(PREDICTOR,),
    ),
    pair(
        "other bounds of the autoscaler",
        STANDARD,
        ("minReplicas: 3", "minReplicas: 4"),
        ("maxReplicas: 9", "maxReplicas: 12"),
    ),
    pair("a longer timeout of the route", STANDARD, ("timeout: 60", "timeout: 90")),
    pair(
        "a label of the service is a label of its pods", STANDARD, ("team: risk", "team: fraud"), restarts=(PREDICTOR,)
    ),
    pair("a comment", STANDARD, ("spec:\n", "spec: # the model of the risk team\n")),
    pair(
        "an argument with a path", STANDARD, ('["--workers=2"]', '["--workers=2", "--log=/tmp"]'), restarts=(PREDICTOR,)
    ),
    pair(
        "a node selector",
        STANDARD,
        ("    timeout: 60", "    timeout: 60\n    nodeSelector: {gpu: a100}"),
        restarts=(PREDICTOR,),
    ),
    pair(
        "what Argo CD notes on the service",
        edited(
            STANDARD,
            (MODE, f"    argocd.argoproj.io/tracking-id: a:b/c:d/e\n    argocd.argoproj.io/sync-wave: '1'\n{MODE}"),
        ),
        ("a:b/c:d/e", "f:b/c:d/e"),
        ("'1'", "'3'"),
    ),
    pair(
        "the older way to name a framework",
        STANDARD,
        ("    model:\n      modelFormat: {name: sklearn}\n", "    sklearn:\n"),
    ),
    pair(
        "a runtime that several services run on",
        f"{RUNTIME}---\n{STANDARD}---\n{STANDARD.replace('fraud', 'churn')}",
        ("sk:1", "sk:2"),
        restarts=(PREDICTOR, "Deployment churn-predictor"),
    ),
    pair("the share of a canary", CANARY, ("trafficPercent: 10", "trafficPercent: 40")),
    pair("no traffic for a canary", CANARY, ("trafficPercent: 10", "trafficPercent: 0")),
    pair("the model of a canary", CANARY, ("fraud/v8", "fraud/v9"), restarts=(V8,)),
    pair("what the canary inherits", CANARY, ("--workers=2", "--workers=4"), restarts=(PREDICTOR, V8)),
    pair("the image of a transformer", TRANSFORMER, (":1.0", ":1.1"), restarts=("Deployment fraud-transformer",)),
    pair(
        "a port's default written out", TRANSFORMER, ("{containerPort: 8080}", "{containerPort: 8080, protocol: TCP}")
    ),
    pair("the minimum of a Knative service", KNATIVE, ("minReplicas: 3", "minReplicas: 2"), restarts=(REVISION,)),
    pair("the model of a Knative service", KNATIVE, ("v7", "v8"), restarts=(REVISION,)),
    pair("the same memory of a Knative service", KNATIVE, ("memory: 2Gi", "memory: 2048Mi")),
    pair("the target of KEDA", KEDA, ("averageUtilization: 70", "averageUtilization: 80")),
    pair("a fixed number of replicas", FIXED, ("minReplicas: 3", "minReplicas: 5")),
    pair(
        "the weights of a graph are its router's argument",
        GRAPH,
        ("weight: 90", "weight: 80"),
        ("weight: 10", "weight: 20"),
        restarts=("Deployment screening",),
    ),
    pair("the number of groups", LLM, ("replicas: 2", "replicas: 3")),
    pair("the size of a group", LLM, ("data: 8", "data: 16"), restarts=(GROUPS,)),
    pair(
        "the resources of workers",
        LLM,
        ('requests: {nvidia.com/gpu: "4"}', 'requests: {nvidia.com/gpu: "4", cpu: 8}'),
        restarts=(GROUPS,),
    ),
    pair("the number of replicas of a model server", SINGLE_LLM, ("replicas: 2", "replicas: 4")),
    pair("the model of a model server", SINGLE_LLM, ("acme/small", "acme/tiny"), restarts=("Deployment small-kserve",)),
    pair(
        "the image of the initializer", STANDARD, restarts=(PREDICTOR,), platform=((PLATFORM, INITIALIZER + PLATFORM),)
    ),
)


@pytest.mark.parametrize("case", PAIRS, ids=lambda case: case.about)
def test_the_forecast_is_the_workloads_whose_template_changed(case: Pair) -> None:
    """What restarts is what a person expects, and what another way of comparing templates finds."""
    before = built(case.before)
    after = built(edited(case.before, *case.edits), edited(PLATFORM, *case.platform))
    effects = comparison(before, after).effects
    found = {f"{e.ref.kind} {e.ref.name}" for e in effects if e.verb in INTERRUPTING}
    assert found == case.restarts
    assert found == changed_templates([o.text for o in before.objects], [o.text for o in after.objects])
    assert all(effect.reasons for effect in effects if effect.verb in INTERRUPTING)


def test_there_are_enough_pairs() -> None:
    """Thirty at least, of which many restart nothing."""
    assert len(PAIRS) >= 30
    assert sum(not case.restarts for case in PAIRS) >= 12


DEFAULTS = {
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "restartPolicy": "Always",
    "protocol": "TCP",
}
WORKLOADS = {"Deployment": "template", "DaemonSet": "template", "LeaderWorkerSet": "leaderWorkerTemplate"}


def changed_templates(before: list[str], after: list[str]) -> set[str]:
    """The workloads of both sides whose templates are not worth the same, found without the code that is tested."""
    old, new = templates(before), templates(after)
    return {name for name in old.keys() & new.keys() if old[name] != new[name]}


def templates(texts: list[str]) -> dict[str, Any]:
    """The templates of workloads, with quantities as numbers and without what is left to defaults."""
    found = {}
    for body in (libyaml.load(text) for text in texts):
        is_revised = body["apiVersion"].startswith("serving.knative.dev/")
        field = "template" if is_revised else WORKLOADS.get(body["kind"])
        if field:
            found[f"{body['kind']} {body['metadata']['name']}"] = worth(body["spec"][field])
    return found


def worth(value: Any) -> Any:
    """A value with numbers for quantities."""
    if isinstance(value, dict):
        kept = {k: worth(v) for k, v in value.items() if v not in (None, [], "") and DEFAULTS.get(k) != v}
        for key in ("limits", "requests"):
            if key in kept:
                kept[key] = {name: amount(v) for name, v in kept[key].items()}
        return kept
    return [worth(item) for item in value] if isinstance(value, list) else value


def amount(text: Any) -> Fraction:
    """What a quantity is worth."""
    return parse_quantity(text)


def effects(before: str, after: str) -> list[tuple[str, Verb, Bounds, Bounds]]:
    """What an edit does: workload, verb, pods and GPUs."""
    found = comparison(built(before), built(after)).effects
    return [(f"{e.ref.kind} {e.ref.name}", e.verb, e.pods, e.gpus) for e in found]


def test_pods_and_gpus_are_counted_by_who_decides_the_replicas() -> None:
    """The object itself, its autoscaler (changed or not), the annotations of a revision, the size of a group."""
    model = ("v7", "v8")
    assert effects(STANDARD, edited(STANDARD, model)) == [
        (PREDICTOR, Verb.RESTARTED, Bounds(3, 9), Bounds(6, 18)),
    ]
    assert effects(FIXED, edited(FIXED, model)) == [(PREDICTOR, Verb.RESTARTED, Bounds(3, 3), Bounds(6, 6))]
    assert effects(KEDA, edited(KEDA, model)) == [(PREDICTOR, Verb.RESTARTED, Bounds(3, 9), Bounds(6, 18))]
    assert effects(KNATIVE, edited(KNATIVE, model)) == [(REVISION, Verb.REVISED, Bounds(3, 9), Bounds(6, 18))]
    assert effects(LLM, edited(LLM, ("hf://acme/chat", "hf://acme/chat2")))[0] == (
        GROUPS,
        Verb.RESTARTED,
        Bounds(4, 4),
        Bounds(16, 16),
    )


def test_workloads_that_come_and_go() -> None:
    """A canary starts its pods, a removed service stops them, another name of the predictor is told as one."""
    assert effects(STANDARD, CANARY) == [(V8, Verb.STARTED, Bounds(1, 1), Bounds(2, 2))]
    assert effects(CANARY, STANDARD) == [(V8, Verb.REMOVED, Bounds(1, 1), Bounds(2, 2))]
    other = edited(STANDARD, ("    timeout: 60", "    timeout: 60\n    name: v9"), ("v7", "v9"))
    (effect,) = comparison(built(STANDARD), built(other)).effects
    assert (effect.verb, effect.ref.name, effect.becomes) == (Verb.RENAMED, "fraud-predictor", "fraud-v9-predictor")


def test_pods_that_are_all_replaced_at_once() -> None:
    """The strategy Recreate stops every old pod before a new one starts."""
    recreate = edited(STANDARD, ("    timeout: 60", "    timeout: 60\n    deploymentStrategy: {type: Recreate}"))
    ((_, verb, _, _),) = effects(recreate, edited(recreate, ("v7", "v8")))
    assert verb is Verb.RECREATED


def test_a_canary_promoted_by_name_keeps_its_pods() -> None:
    """Only the old stable predictor goes."""
    promoted = edited(STANDARD, ("    timeout: 60", "    timeout: 60\n    name: v8"), ("fraud/v7", "fraud/v8"))
    assert effects(CANARY, promoted) == [(PREDICTOR, Verb.REMOVED, Bounds(2, 9), Bounds(4, 18))]


def test_a_tree_with_all_objects_in_one_file() -> None:
    """It leads to the same forecast, though its index knows no owners."""
    before, after = built(STANDARD), built(edited(STANDARD, ("v7", "v8")))
    old, new = (planned_file(compilation.objects) for compilation in (before, after))
    found = compared(Comparison("prod", "rendered/prod", COMMITTED), side(old, new), side(new, old), after.objects)
    assert found.effects == comparison(before, after).effects
    assert [change.ref.name for change in found.changes] == ["fraud-predictor"]
