"""What golden output means: every object is valid, and what it points at is there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from kservec.api import packaged_schemas

from .cases import Case, cases, compiled, objects

WORKLOADS = ("DaemonSet", "Deployment", "StatefulSet")
CLUSTER_WIDE = ("ClusterRoleBinding", "PersistentVolume")
TARGETS = {"HorizontalPodAutoscaler": "scaleTargetRef", "ScaledObject": "scaleTargetRef"}
COMPILED = tuple(case for case in cases() if compiled(case).objects)


def kinds(case: Case, *names: str) -> list[Any]:
    """The objects of some kinds."""
    return [o for o in objects(case) if o["kind"] in names]


def pods(case: Case) -> Iterator[Any]:
    """The pod templates of a case's workloads, leaders and workers among them."""
    yield from (o["spec"]["template"] for o in kinds(case, *WORKLOADS))
    for group in kinds(case, "LeaderWorkerSet"):
        template = group["spec"]["leaderWorkerTemplate"]
        yield from (template[name] for name in ("leaderTemplate", "workerTemplate") if name in template)


def containers(pod: Any) -> list[Any]:
    """All containers of a pod template, those that run before the others first."""
    return [*(pod["spec"].get("initContainers") or ()), *pod["spec"]["containers"]]


def maps(value: Any) -> Iterator[dict[str, Any]]:
    """Every map in a value."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from maps(part)


def holds(labels: Any, wanted: Any) -> bool:
    """Whether labels have all that is wanted."""
    return bool(wanted) and wanted.items() <= labels.items()


@cache
def declared(case: Case, kind: str) -> set[str]:
    """The names of objects of a kind: those of the output, and every word of the case's own files."""
    made = {o["metadata"]["name"] for o in kinds(case, kind)}
    if kind == "Secret":
        made |= {o["spec"]["secretName"] for o in kinds(case, "Certificate")}
    folders = [case.folder / "input", case.folder / "platform"]
    texts = (path.read_text() for folder in folders for path in folder.rglob("*") if path.is_file())
    return made | {
        word for text in texts for word in text.translate(str.maketrans(dict.fromkeys(',{}[]:"/', " "))).split()
    }


@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_objects_are_valid(case: Case) -> None:
    """Every object has the structure of its kind, and a namespace unless its kind has none."""
    faults = [packaged_schemas().output_errors(o, o["apiVersion"], o["kind"]) for o in objects(case)]
    assert [f for f in faults if f] == []
    assert all(o["metadata"].get("namespace") or o["kind"] in CLUSTER_WIDE for o in objects(case))


@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_selectors_match_pods(case: Case) -> None:
    """A workload selects its own pods, and every Service some pods of the case."""
    for workload in kinds(case, *WORKLOADS):
        labels = workload["spec"]["template"]["metadata"]["labels"]
        assert holds(labels, workload["spec"]["selector"]["matchLabels"])
    labelled = [pod["metadata"]["labels"] for pod in pods(case)]
    for service in (s for s in kinds(case, "Service") if "selector" in s["spec"]):
        assert any(holds(labels, service["spec"]["selector"]) for labels in labelled), service["metadata"]["name"]


@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_named_ports_exist(case: Case) -> None:
    """A port that a Service or a probe names is a port of a container behind it."""
    for service in kinds(case, "Service"):
        for pod in (p for p in pods(case) if holds(p["metadata"]["labels"], service["spec"].get("selector"))):
            named = {p.get("name") for c in containers(pod) for p in c.get("ports", ())}
            ports = service["spec"].get("ports", ())
            targets = {p["targetPort"] for p in ports if isinstance(p.get("targetPort"), str)}
            assert targets <= named
    for container in (c for pod in pods(case) for c in containers(pod)):
        named = {p.get("name") for p in container.get("ports", ())}
        checks = [m for field, probe in container.items() if field.endswith("Probe") for m in maps(probe)]
        assert {m["port"] for m in checks if isinstance(m.get("port"), str)} <= named


@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_mounts_have_volumes(case: Case) -> None:
    """Every mount names a volume of its pod, and no path is mounted over another of the same container."""
    for pod in pods(case):
        volumes = {v["name"] for v in pod["spec"].get("volumes", ())}
        for container in containers(pod):
            mounts = container.get("volumeMounts", [])
            assert {m["name"] for m in mounts} <= volumes
            assert len({m["mountPath"] for m in mounts}) == len(mounts)


@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_references_lead_somewhere(case: Case) -> None:
    """ConfigMaps, Secrets, claims and service accounts are in the output, or the case's own files name them."""
    for pod in pods(case):
        for part in maps(pod["spec"]):
            secret = None if part.get("optional") else part.get("secretName")
            references = [("Secret", secret), ("PersistentVolumeClaim", part.get("claimName"))]
            references += [("ConfigMap", (part.get("configMap") or {}).get("name"))]
            references += [("Secret", (part.get("secretKeyRef") or {}).get("name"))]
            references += [("ServiceAccount", part.get("serviceAccountName"))]
            assert [(k, name) for k, name in references if name and name not in declared(case, k)] == []


@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_autoscalers_own_the_replicas_of_what_is_there(case: Case) -> None:
    """An autoscaler's target is in the output and states no replicas, which the autoscaler would fight about."""
    for scaler in kinds(case, *TARGETS):
        target = scaler["spec"]["scaleTargetRef"]
        found = [o for o in kinds(case, target.get("kind", "Deployment")) if o["metadata"]["name"] == target["name"]]
        assert len(found) == 1
        assert "replicas" not in found[0]["spec"]


@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_routes_lead_to_services(case: Case) -> None:
    """The backends of HTTPRoutes and Ingresses are ports of Services in the output, or pools, which others may make."""
    ports = {(s["metadata"]["name"], p["port"]) for s in kinds(case, "Service") for p in s["spec"].get("ports", ())}
    pools = {p["metadata"]["name"] for p in kinds(case, "InferencePool")}
    for route in kinds(case, "HTTPRoute"):
        backends = [b for rule in route["spec"]["rules"] for b in rule["backendRefs"]]
        assert {(b["name"], b["port"]) for b in backends if b["kind"] == "Service"} <= ports
        own = {b["name"] for b in backends if b["kind"] == "InferencePool" and b["name"].endswith("-inference-pool")}
        assert own <= pools
    for ingress in kinds(case, "Ingress"):
        services = [m["service"] for m in maps(ingress["spec"]) if "service" in m]
        assert {(s["name"], s["port"]["number"]) for s in services} <= ports


@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_environment_is_set_once(case: Case) -> None:
    """No container has two variables of one name, of which only the last would count."""
    for container in (c for pod in pods(case) for c in containers(pod)):
        names = [e["name"] for e in container.get("env", ())]
        assert sorted(set(names)) == sorted(names), container["name"]


@pytest.mark.parametrize("case", COMPILED, ids=str)
def test_urls_name_hosts_of_the_output(case: Case) -> None:
    """A service's URL has the host of a route, an Ingress, a VirtualService or a Service of the output."""
    hosts = {h for r in kinds(case, "HTTPRoute") for h in r["spec"].get("hostnames", ())}
    hosts |= {h for v in kinds(case, "VirtualService") for h in v["spec"]["hosts"]}
    hosts |= {rule["host"] for i in kinds(case, "Ingress") for rule in i["spec"]["rules"]}
    services = {f"{s['metadata']['name']}.{s['metadata']['namespace']}" for s in kinds(case, "Service")}
    for url in compiled(case).urls.values():
        host = url.split("/")[2].partition(":")[0]
        assert host in hosts or ".".join(host.split(".")[:2]) in services
