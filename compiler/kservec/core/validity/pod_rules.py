"""What an API server checks of a pod as a whole in code, and no schema states: the table.

Kubernetes: pkg/apis/core/validation/validation.go, ValidatePodSpec
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kservec.core.names import KSERVE_CONTAINER, STORAGE_INITIALIZER, TRANSFORMER_CONTAINER
from kservec.core.paths import item_key
from kservec.core.patterns import Pattern
from kservec.core.pods.container_names import meant_container
from kservec.core.pods.containers import HOOKS
from kservec.core.schemas.object_meta import PLAIN_KEY, is_key
from kservec.core.validity.container_rules import HIGHEST_ID, amounts, one_per_kind, profile_rules, whole_pages
from kservec.core.validity.field_checks import (
    A_KEY,
    A_LABEL,
    A_LABEL_VALUE,
    A_SUBDOMAIN,
    AN_ADDRESS,
    REMOVE,
    exactly_one,
    forbids,
    keys_are,
    must_be,
    needs,
    one_of,
    takes,
    unique,
    within,
    without,
)
from kservec.core.validity.field_rules import ABSENT, INVALID, MISSING, Check, Rule, Wrong, unless
from kservec.core.validity.odd_amounts import odd_amounts

if TYPE_CHECKING:
    from kservec.core.tree import Json

MOST_SERVERS = 3
MOST_SEARCHES = 32
SYSTEMS = ("linux", "windows")
WITH_VALUES = ("In", "NotIn")
WITHOUT_VALUES = ("Exists", "DoesNotExist")
OF_SETS = (*WITH_VALUES, *WITHOUT_VALUES)
COMPARING = ("Gt", "Lt")
"""Operators of selectors: whether they take several values, none, or one; the last are for nodes alone."""
TOLERATING = ("Equal", "Exists", *COMPARING)
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
CONTAINERS = ("containers", "initContainers")
ANYWAY = "ScheduleAnyway"
AFFINITY = "affinity.nodeAffinity"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

PLAIN_TOLERATION = {
    **without("tolerationSeconds"),
    "anyOf": [
        {"properties": {"operator": {"const": "Exists"}, "value": ABSENT}, "required": ["operator"]},
        {
            "properties": {"operator": {"const": "Equal"}, "key": {"type": "string", "minLength": 1}},
            "required": ["key"],
        },
    ],
}
PLAIN_REQUIREMENT = {
    "properties": {"operator": {"enum": sorted(WITH_VALUES)}, "values": {"type": "array", "minItems": 1}},
    "required": ["operator", "values"],
}
_is_sysctl = Pattern(r"([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?").fullmatch


def of_containers(fine: Json) -> Json:
    """The JSON Schema of a pod whose containers have this one."""
    return {"properties": {"containers": {"items": fine}}}


def without_below(field: str, excluded: str) -> Json:
    """The JSON Schema of a map where a field, if there, does not hold another."""
    return {"properties": {field: without(excluded)}}


@unless({"additionalProperties": A_LABEL_VALUE.fine})
def label_values(labels: Json) -> Iterator[Wrong]:
    """Every value of the map must be a label's."""
    for key, value in labels.items():
        yield from (wrong._replace(at=(key,)) for wrong in A_LABEL_VALUE(value))


@unless({"properties": {"containers": {"minItems": 1}}})
def populated(pod: Json) -> Iterator[Wrong]:
    """A pod has containers; a list that is empty fits the schema."""
    if pod.get("containers") == []:
        yield Wrong(MISSING, "has no container", ("containers",), "add a container")


IMAGE = needs("image")


@unless({"properties": {field: {"items": IMAGE.fine} for field in CONTAINERS}})
def images(pod: Json) -> Iterator[Wrong]:
    """Every container has an image. One that was meant to be laid over another has that one's, once it is called so."""
    for field in CONTAINERS:
        containers = pod.get(field) or ()
        for i, container in enumerate(containers):
            for wrong in IMAGE(container):
                key, meant = item_key(container, field), right_name(container, containers)
                remedy = f"call it {meant}, if that is the container that is meant; else add image"
                yield wrong._replace(at=(field, i if key is None else key), remedy=remedy if meant else wrong.remedy)


def right_name(container: Json, containers: Json) -> str:
    """The name of the container beside one that it was surely meant to be laid over; empty if there is none."""
    from kservec.core.llm.names import MAIN, SIDECAR  # noqa: PLC0415 - hardly any container lacks an image

    there, name = {beside.get("name") for beside in containers}, container.get("name") or ""
    known = (KSERVE_CONTAINER, TRANSFORMER_CONTAINER, MAIN, STORAGE_INITIALIZER, SIDECAR)
    return "" if name in known else meant_container(name, [one for one in known if one in there])


@unless({"properties": {"dnsPolicy": {"enum": ["ClusterFirst", "ClusterFirstWithHostNet", "Default"]}}})
def name_resolution(pod: Json) -> Iterator[Wrong]:
    """Without the cluster's name servers, others must be named."""
    if pod.get("dnsPolicy") == "None" and not (pod.get("dnsConfig") or {}).get("nameservers"):
        yield Wrong(MISSING, "None needs dnsConfig.nameservers", ("dnsPolicy",), "add dnsConfig.nameservers")


def at_most(count: int) -> Check:
    """The list must not be longer."""

    def find(items: Json) -> Iterator[Wrong]:
        if len(items) > count:
            yield Wrong(
                INVALID, f"has {len(items)} items, but must have {count} at most", remedy=f"use {count} at most"
            )

    return Check(find, {"maxItems": count})


@unless(without("hostUsers", "shareProcessNamespace"))
def of_the_host(pod: Json) -> Iterator[Wrong]:
    """What the pod shares with its host excludes what it keeps apart from it."""
    if pod.get("hostUsers") is False:
        for name in ("hostNetwork", "hostPID", "hostIPC"):
            if pod.get(name):
                yield Wrong(INVALID, "is not possible with hostUsers: false", (name,), REMOVE)
    if pod.get("shareProcessNamespace") and pod.get("hostPID"):
        yield Wrong(INVALID, "is not possible with hostPID: true", ("shareProcessNamespace",), REMOVE)


@unless(without("hostNetwork"))
def host_ports(pod: Json) -> Iterator[Wrong]:
    """In the network of the host, ports are what they are there."""
    if not pod.get("hostNetwork"):
        return
    for container in pod.get("containers") or ():
        for port in container.get("ports") or ():
            if port.get("hostPort") not in (None, 0, port["containerPort"]):
                at = ("containers", container["name"], "ports", port["containerPort"], "hostPort")
                yield must_be(port["hostPort"], "containerPort in the host network", at)


@unless(of_containers(without_below("resources", "claims")))
def claimed(pod: Json) -> Iterator[Wrong]:
    """Containers may use the resource claims of their pod only."""
    known = {claim.get("name") for claim in pod.get("resourceClaims") or ()}
    for container in pod.get("containers") or ():
        for claim in (container.get("resources") or {}).get("claims") or ():
            if claim.get("name") not in known:
                at = ("containers", container["name"], "resources", "claims")
                problem = f"names {claim.get('name')}, which is none of the pod's resourceClaims"
                yield Wrong(INVALID, problem, at, "add it to resourceClaims, or name one of them")


@unless(of_containers(without("volumeDevices")))
def devices(pod: Json) -> Iterator[Wrong]:
    """Devices are claims of the pod."""
    claims = {v["name"] for v in pod.get("volumes") or () if v.get("persistentVolumeClaim") or v.get("ephemeral")}
    for container in pod.get("containers") or ():
        for device in container.get("volumeDevices") or ():
            if device.get("name") not in claims:
                at = ("containers", container["name"], "volumeDevices", device.get("devicePath", 0))
                problem = f"names {device.get('name')}, which is no volume of the pod with a claim"
                yield Wrong(INVALID, problem, at, "add a volume with a claim of that name")


@unless(of_containers({"properties": {"lifecycle": {"properties": dict.fromkeys(HOOKS, without("sleep"))}}}))
def pauses(pod: Json) -> Iterator[Wrong]:
    """A hook may not sleep longer than the pod has to end."""
    grace = pod.get("terminationGracePeriodSeconds")
    grace = 30 if grace is None else grace
    for container in pod.get("containers") or ():
        lifecycle = container.get("lifecycle") or {}
        for hook in HOOKS:
            seconds = ((lifecycle.get(hook) or {}).get("sleep") or {}).get("seconds")
            if seconds is not None and not 0 <= seconds <= grace:
                at = ("containers", container["name"], "lifecycle", hook, "sleep", "seconds")
                yield must_be(seconds, f"0 to terminationGracePeriodSeconds, {grace}", at)


@unless(of_containers(without_below("securityContext", "procMount")))
def processes(pod: Json) -> Iterator[Wrong]:
    """The processes of a node are shown to pods with users of their own only."""
    for container in pod.get("containers") or () if pod.get("hostUsers") is not False else ():
        if (container.get("securityContext") or {}).get("procMount") == "Unmasked":
            at = ("containers", container["name"], "securityContext", "procMount")
            yield Wrong(
                INVALID,
                "is Unmasked, which is only possible with hostUsers: false",
                at,
                "remove it, or set hostUsers: false",
            )


def is_pod_resource(name: str) -> bool:
    """Whether resources of a pod as a whole can be of that name."""
    return name in ("cpu", "memory") or name.startswith("hugepages-")


@unless(without("os"))
def windows(pod: Json) -> Iterator[Wrong]:
    """Settings of Windows need Windows."""
    context = pod.get("securityContext") or {}
    if (pod.get("os") or {}).get("name") == "linux" and context.get("windowsOptions"):
        yield Wrong(INVALID, "is not possible with os linux", ("securityContext", "windowsOptions"), REMOVE)


@unless(PLAIN_TOLERATION)
def toleration(value: Json) -> Iterator[Wrong]:
    """Operator, key, value, effect and time of a toleration belong together, as far as there are such."""
    operator, effect = value.get("operator") or "Equal", value.get("effect") or ""
    exists = operator == "Exists"
    if not value.get("key") and not exists and operator in TOLERATING:
        yield Wrong(
            INVALID, "has no key: only the operator Exists does without", remedy="add a key, or operator: Exists"
        )
    if exists and value.get("value"):
        yield Wrong(
            INVALID, "is not possible with the operator Exists", ("value",), "remove it, or use the operator Equal"
        )
    if value.get("tolerationSeconds") is not None and effect in ("", *EFFECTS[:-1]):
        yield Wrong(INVALID, "is only possible with the effect NoExecute", ("tolerationSeconds",), REMOVE)


@unless(PLAIN_REQUIREMENT)
def requirement(value: Json) -> Iterator[Wrong]:
    """How many values an operator of a selector takes."""
    operator, values = value.get("operator"), value.get("values") or ()
    if operator in WITH_VALUES and not values:
        yield Wrong(MISSING, f"has no values for the operator {operator}", remedy="add values")
    if operator in WITHOUT_VALUES and values:
        yield Wrong(INVALID, f"is not possible with the operator {operator}", ("values",), REMOVE)
    if operator in COMPARING and len(values) != 1:
        yield Wrong(INVALID, f"has {len(values)} values, but the operator {operator} takes one", remedy="leave one")


@unless({"properties": {"key": {"const": "metadata.name"}}, "required": ["key"]})
def node_field(value: Json) -> Iterator[Wrong]:
    """Of the fields of a node, only its name can be asked for."""
    if value.get("key") != "metadata.name":
        yield must_be(value.get("key"), "metadata.name", ("key",))


def term_rules(where: str) -> Iterator[Rule]:
    """The rules of a term that selects nodes."""
    yield Rule(f"{where}.matchExpressions[]", requirement)
    yield Rule(f"{where}.matchExpressions[].key", A_KEY)
    yield Rule(f"{where}.matchExpressions[].operator", one_of(*OF_SETS, *COMPARING))
    yield Rule(f"{where}.matchFields[]", node_field)
    yield Rule(f"{where}.matchFields[].operator", one_of(*WITH_VALUES))


def pod_term_rules(where: str) -> Iterator[Rule]:
    """The rules of a term that selects pods."""
    yield Rule(where, needs("topologyKey"))
    yield Rule(f"{where}.topologyKey", A_KEY)
    yield from selector_rules(f"{where}.labelSelector")
    yield from selector_rules(f"{where}.namespaceSelector")


def selector_rules(where: str) -> Iterator[Rule]:
    """The rules of a selector of labels."""
    yield Rule(f"{where}.matchLabels", keys_are(is_key, "a label key", PLAIN_KEY))
    yield Rule(f"{where}.matchLabels", label_values)
    yield Rule(f"{where}.matchExpressions[]", requirement)
    yield Rule(f"{where}.matchExpressions[].key", A_KEY)
    yield Rule(f"{where}.matchExpressions[].operator", one_of(*OF_SETS))


def pod_affinity_rules(kind: str) -> Iterator[Rule]:
    """The rules of affinity or anti-affinity to pods."""
    yield from pod_term_rules(f"affinity.{kind}.{REQUIRED}[]")
    yield Rule(f"affinity.{kind}.{PREFERRED}[].weight", within(1, 100))
    yield from pod_term_rules(f"affinity.{kind}.{PREFERRED}[].podAffinityTerm")


POD_RULES: tuple[Rule, ...] = (
    Rule("", populated),
    Rule("", images),
    Rule("", name_resolution),
    Rule("", of_the_host),
    Rule("", host_ports),
    Rule("", claimed),
    Rule("", devices),
    Rule("", pauses),
    Rule("", processes),
    Rule("", windows),
    Rule("dnsConfig.nameservers", at_most(MOST_SERVERS)),
    Rule("dnsConfig.nameservers[]", AN_ADDRESS),
    Rule("dnsConfig.searches", at_most(MOST_SEARCHES)),
    Rule("dnsConfig.options[]", needs("name")),
    Rule("hostAliases", unique("ip")),
    Rule("hostAliases[].ip", AN_ADDRESS),
    Rule("hostAliases[].hostnames[]", A_SUBDOMAIN),
    Rule("hostname", A_LABEL),
    Rule("subdomain", A_LABEL),
    Rule("nodeName", A_SUBDOMAIN),
    Rule("nodeSelector", keys_are(is_key, "a label key", PLAIN_KEY)),
    Rule("nodeSelector", label_values),
    Rule("serviceAccountName", A_SUBDOMAIN),
    Rule("priorityClassName", A_SUBDOMAIN),
    Rule("runtimeClassName", A_SUBDOMAIN),
    Rule("overhead", amounts),
    Rule("overhead", whole_pages),
    Rule("resources.limits", keys_are(is_pod_resource, "cpu, memory or hugepages-<size>")),
    Rule("resources.requests", keys_are(is_pod_resource, "cpu, memory or hugepages-<size>")),
    *one_per_kind(amounts),
    *one_per_kind(whole_pages),
    *one_per_kind(odd_amounts),
    Rule("readinessGates[].conditionType", A_KEY),
    Rule("imagePullSecrets", unique("name")),
    Rule("schedulingGates", unique("name")),
    Rule("schedulingGates[].name", A_KEY),
    Rule("resourceClaims", unique("name")),
    Rule("resourceClaims[]", needs("name")),
    Rule("resourceClaims[]", exactly_one("resourceClaimName", "resourceClaimTemplateName")),
    Rule("tolerations[]", toleration),
    Rule("tolerations[].key", A_KEY),
    Rule("tolerations[].operator", one_of("", *TOLERATING)),
    Rule("tolerations[].effect", one_of("", *EFFECTS)),
    Rule(f"{AFFINITY}.{REQUIRED}", needs("nodeSelectorTerms")),
    *term_rules(f"{AFFINITY}.{REQUIRED}.nodeSelectorTerms[]"),
    Rule(f"{AFFINITY}.{PREFERRED}[].weight", within(1, 100)),
    *term_rules(f"{AFFINITY}.{PREFERRED}[].preference"),
    *pod_affinity_rules("podAffinity"),
    *pod_affinity_rules("podAntiAffinity"),
    Rule("topologySpreadConstraints", unique("topologyKey", "whenUnsatisfiable")),
    Rule("topologySpreadConstraints[]", needs("topologyKey")),
    Rule("topologySpreadConstraints[].topologyKey", A_KEY),
    Rule("topologySpreadConstraints[].whenUnsatisfiable", one_of("DoNotSchedule", ANYWAY)),
    Rule("topologySpreadConstraints[].maxSkew", within(1)),
    Rule("topologySpreadConstraints[].minDomains", within(1)),
    Rule(
        "topologySpreadConstraints[]",
        forbids("minDomains", lambda s: (s.get("whenUnsatisfiable") or ANYWAY) == ANYWAY, f"with {ANYWAY}"),
    ),
    Rule(
        "topologySpreadConstraints[]",
        forbids("matchLabelKeys", lambda s: s.get("labelSelector") is None, "without a labelSelector"),
    ),
    *selector_rules("topologySpreadConstraints[].labelSelector"),
    Rule("securityContext.runAsUser", within(0, HIGHEST_ID)),
    Rule("securityContext.runAsGroup", within(0, HIGHEST_ID)),
    Rule("securityContext.fsGroup", within(0, HIGHEST_ID)),
    Rule("securityContext.supplementalGroups[]", within(0, HIGHEST_ID)),
    *profile_rules(),
    Rule("securityContext.sysctls", unique("name")),
    Rule(
        "securityContext.sysctls[].name",
        takes(_is_sysctl, "words of lower-case letters, digits, dashes and underscores, with dots between them"),
    ),
    Rule("os.name", one_of(*SYSTEMS)),
)
"""Rules of a PodSpec, apart from those of its containers and volumes."""
