"""The pod of a graph's router: one container, told the graph by an argument, or by a file where it is too long for one.

KServe: pkg/controller/v1alpha1/inferencegraph/raw_ig.go, createInferenceGraphPodSpec
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.bundle import manifest
from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity
from kservec.core.graphs.argument import RESOURCES
from kservec.core.names import DEFAULT_PORT, GRAPH_VOLUME, graph_config_name
from kservec.core.sidecars.injection import check_quantities, needed, resources, section_origin
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import finding
from kservec.spec.graph import InferenceGraph

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.bundle import Manifest
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path, Source
    from kservec.core.unit import Unit
    from kservec.spec.configuration import Router

SECTION = "router"
MADE = Origin(Layer.KSERVE_DEFAULT, SECTION)
LONGEST_ARGUMENT = 96 * 1024
"""Bytes: Linux takes no argument of 128 KiB, and the whole of a pod must stay readable."""

LARGEST_CONFIG_MAP = 1024 * 1024 - 4096
"""Bytes of data in a ConfigMap, its metadata left aside. Kubernetes: pkg/apis/core/validation, ValidateConfigMap."""

FOLDER, FILE = "/etc/kservec/graph", "graph.json"
HASH = "kservec.dev/graph-sha256"
PROPAGATE = "propagate"
PROPAGATE_VARIABLE = "PROPAGATE_HEADERS"
READINESS = {
    "httpGet": {"path": "/readyz", "port": DEFAULT_PORT, "scheme": "HTTP"},
    "initialDelaySeconds": 5,
    "timeoutSeconds": 2,
    "periodSeconds": 5,
    "successThreshold": 1,
    "failureThreshold": 3,
}
SECURITY = {
    "privileged": False,
    "runAsNonRoot": True,
    "readOnlyRootFilesystem": True,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
}
SCHEDULING = ("affinity", "tolerations", "nodeSelector", "nodeName", "serviceAccountName")
"""Fields of a graph that are those of its pods."""

TOO_LARGE = Code(
    "graph/too-large",
    Severity.ERROR,
    "a graph that no object can hold",
    "A graph that is too long for an argument goes to the router as a file from a ConfigMap, and a ConfigMap holds "
    "1 MiB. Split the graph: a step can call another graph by serviceUrl.",
)
AS_FILE = Code(
    "graph/as-file",
    Severity.WARNING,
    "a graph that goes to the router as a file",
    "The graph is longer than the 96 KiB that may safely stand in an argument; with KServe its router would not start "
    "beyond 128 KiB. It is put into a ConfigMap, which kservec-router reads. KServe's own router reads no files: name "
    "the image of kservec-router in the section `router` of inferenceservice-config.",
)

ALL_HEADERS = Code(
    "graph/all-headers",
    Severity.WARNING,
    "an empty list of headers, which hands on all of them",
    "`headers.propagate` of the section router is an empty list. KServe's router reads that as one empty pattern, "
    "which fits every header: cookies and tokens of callers go to every service. Remove the list, or name the headers.",
)


class Told(NamedTuple):
    """How the router is told the graph: its arguments, and the ConfigMap where that holds it."""

    arguments: list[str]
    config_map: Manifest | None = None
    digest: str = ""


def told(unit: Unit, text: str) -> Told:
    """How the router is told a graph.

    Raises:
        Reject: the graph is too large for a ConfigMap.
    """
    size = len(text.encode())
    if size <= LONGEST_ARGUMENT:
        return Told(["--graph-json", unexpanded(text)])
    if size > LARGEST_CONFIG_MAP:
        message = f"the graph takes {size} bytes; a ConfigMap holds {LARGEST_CONFIG_MAP}"
        raise Reject(finding(unit, TOO_LARGE, message, ("spec", "nodes"), "split it into several graphs"))
    metadata = {"name": graph_config_name(unit.name), "namespace": unit.namespace}
    made = manifest("v1", "ConfigMap", metadata, {"data": {FILE: text}}, unit.source.origin("spec"))
    return Told(["--graph", f"{FOLDER}/{FILE}"], made, hashlib.sha256(text.encode()).hexdigest())


def unexpanded(text: str) -> str:
    """A text as an argument that the kubelet leaves as it is: it would take $(NAME) for a variable, and $$ for a $."""
    return text.replace("$", "$$") if "$(" in text or "$$" in text else text


def router_settings(env: Env) -> Router:
    """The section `router` of the platform's configuration.

    Raises:
        Reject: there is none, or it cannot be used; KServe then does nothing for any graph.
    """
    check_quantities(env.platform, SECTION, env.platform.router)
    return needed(env.platform, SECTION, env.platform.router)


def router_pod(unit: Unit, graph: Told, env: Env, container_name: str) -> Tree:
    """The pod.

    Raises:
        Reject: the platform's configuration has no usable section `router`.
    """
    config = router_settings(env)
    container = {"name": container_name, **container_fields(unit, graph, config)}
    pod: dict[str, Json] = {"containers": [container], **scheduling(unit), "automountServiceAccountToken": False}
    if config.image_pull_secrets:
        pod["imagePullSecrets"] = [{"name": name} for name in config.image_pull_secrets]
    if graph.config_map is not None:
        pod["volumes"] = [{"name": GRAPH_VOLUME, "configMap": {"name": graph.config_map.ref.name}}]
    return Tree.built(pod, ((), MADE), *sources(unit, env, container))


def container_fields(unit: Unit, graph: Told, config: Router) -> dict[str, Json]:
    """The container but for its name."""
    fields: dict[str, Json] = {"image": config.image, "args": graph.arguments}
    if config.image_pull_policy:
        fields["imagePullPolicy"] = config.image_pull_policy
    if PROPAGATE in config.headers:
        patterns = ",".join(config.headers[PROPAGATE] or ())
        fields["env"] = [{"name": PROPAGATE_VARIABLE, **({"value": patterns} if patterns else {})}]
    if graph.config_map is not None:
        fields["volumeMounts"] = [{"name": GRAPH_VOLUME, "mountPath": FOLDER, "readOnly": True}]
    own = own_resources(unit)
    amounts = resources(config) if own is None else own
    return {**fields, "resources": amounts, "readinessProbe": READINESS, "securityContext": SECURITY}


def header_findings(env: Env) -> Iterator[Diagnostic]:
    """The warning about a list of headers that does not do what it looks like; the same for every graph."""
    config, section = env.platform.router, env.platform.texts.get(SECTION)
    if config is not None and section is not None and PROPAGATE in config.headers and not config.headers[PROPAGATE]:
        yield Diagnostic(
            code=ALL_HEADERS,
            message="headers.propagate is empty: KServe's router then hands on every header",
            span=section.setting("headers", PROPAGATE),
            help="remove the list, or name the headers",
        )


def own_resources(unit: Unit) -> dict[str, Json] | None:
    """The limits and requests that the graph asks for; None where it asks for nothing, and the platform's count.

    KServe: knative_reconciler.go, constructResourceRequirements
    """
    written = unit.spec_as(InferenceGraph).spec.resources
    if all(written.get(name) is None for name in RESOURCES):
        return None
    return {name: written[name] for name in ("limits", "requests") if written.get(name) is not None}


def scheduling(unit: Unit) -> dict[str, Json]:
    """Where the pods may run, and as whom."""
    spec = unit.spec_as(InferenceGraph).spec.json
    return {name: spec[name] for name in SCHEDULING if spec.get(name)}


def sources(unit: Unit, env: Env, container: Json) -> Iterator[tuple[Path, Source]]:
    """Where the parts of the pod come from, by their paths."""
    at, platform = unit.source.origin, section_origin(env.platform, SECTION)
    inside: Path = ("containers", container["name"])
    for field in ("image", "imagePullPolicy", "env"):
        yield (*inside, field), platform
    yield ("imagePullSecrets",), platform
    yield (*inside, "args"), at("spec", "nodes")
    yield (*inside, "resources"), platform if own_resources(unit) is None else at("spec", "resources")
    for field in scheduling(unit):
        yield (field,), at("spec", field)
