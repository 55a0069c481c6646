"""All additions at once, over what every golden case compiles: nothing breaks, and what is added fits."""

from __future__ import annotations

from typing import Any

import pytest
from tests import libyaml
from tests.golden.cases import EXPECT, Case, cases, inputs

from kservec.api import compile_files
from kservec.core.additions import Additions, Budget, Monitor, Peers
from kservec.core.pods.security_level import Level, pod_security_level
from kservec.core.records import evolve

ANY = ({"namespaceSelector": {}},)
ALL = Additions(
    image_rewrites={"docker.io/": "mirror.example.com/"},
    pod_security="restricted",
    secures_all=True,
    hides_tokens=True,
    network=Peers(
        gateways=ANY, clients=ANY, monitoring=ANY, dns=ANY, storage=ANY, storage_ports=(443,), api_server=ANY
    ),
    budget=Budget(field="maxUnavailable", value=1, singles=True),
    monitor=Monitor(interval="30s"),
)
COMPILED = tuple(case for case in cases() if (case.folder / EXPECT).is_dir())
NEED_MORE = ("IPC_LOCK", "runAsUser: 0", "runAsNonRoot: false")
"""What pods of the golden cases ask for that keeps them from the level restricted."""


def templates(body: Any) -> list[Any]:
    """The pod templates of an object."""
    spec = body.get("spec") or {}
    group = spec.get("leaderWorkerTemplate") or {}
    named = (spec.get("template"), group.get("leaderTemplate"), group.get("workerTemplate"))
    return [t for t in named if isinstance(t, dict) and "containers" in (t.get("spec") or {})]


@pytest.mark.slow
@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_all_additions_fit_every_case(case: Case) -> None:
    """Each workload has one policy that selects its pods, comes from the mirror, and is as restricted as it can be."""
    files, target = inputs(case)
    made = compile_files(files, target=evolve(target, additions=ALL))
    assert made.ok, [d.message for d in made.diagnostics if d.is_error]
    bodies = [libyaml.load(o.text) for o in made.objects]
    policies = {(b["metadata"]["namespace"], b["metadata"]["name"]): b for b in bodies if b["kind"] == "NetworkPolicy"}
    for body in bodies:
        for template in templates(body):
            labels = {
                **template["metadata"]["labels"],
                "leaderworkerset.sh/name": body["metadata"]["name"],
                "serving.knative.dev/service": body["metadata"]["name"],
            }
            policy = policies[body["metadata"]["namespace"], body["metadata"]["name"]]["spec"]
            assert policy["podSelector"]["matchLabels"].items() <= labels.items()
            assert all(rule["from"] for rule in policy.get("ingress", ()))
            check_pod(template)


def check_pod(template: Any) -> None:
    """Look at the pods of one template."""
    pod = template["spec"]
    images = [c["image"] for field in ("initContainers", "containers") for c in pod.get(field, ())]
    assert not [image for image in images if "." not in image.split("/", maxsplit=1)[0]]
    standing = pod_security_level(pod, template["metadata"].get("annotations"))
    left = [s.message for s in standing.shortfalls if not any(word in s.message for word in NEED_MORE)]
    assert left == []
    assert (standing.level is Level.RESTRICTED) == (not standing.shortfalls)
