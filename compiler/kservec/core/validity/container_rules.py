"""What an API server checks of containers in code, and no schema states: the table. More is in `pod_validity`.

Kubernetes: pkg/apis/core/validation/validation.go, validateContainers and validateInitContainers
"""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import TYPE_CHECKING

from kservec.core.patterns import Pattern
from kservec.core.pods.containers import HOOKS, PROBES
from kservec.core.quantity import parse_quantity
from kservec.core.schemas.object_meta import is_key
from kservec.core.validity.field_checks import (
    A_CONFIG_KEY,
    A_PATH_BELOW,
    A_PREFIX,
    A_SUBDOMAIN,
    A_VARIABLE,
    ANY_QUANTITY,
    REMOVE,
    a_port,
    an_amount,
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
from kservec.core.validity.field_rules import ABSENT, INVALID, MISSING, Rule, Wrong, unless
from kservec.core.validity.odd_amounts import odd_amounts, worth

if TYPE_CHECKING:
    from kservec.core.tree import Json
    from kservec.core.validity.field_rules import Check

HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
HOOK_HANDLERS = ("exec", "httpGet", "tcpSocket", "sleep")
SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef")
PROBE_NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
HUGE_PAGES = "hugepages-"
MANY_PAGES = 10**5
"""Bytes below which an amount of huge pages is a number of them."""
STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})
RESTART_POLICIES = ("Always", "Never", "OnFailure")
HIGHEST_ID = 2**31 - 1
LOCALHOST = "Localhost"
PROFILES = (LOCALHOST, "RuntimeDefault", "Unconfined")
RECURSIONS = ("Disabled", "IfPossible", "Enabled")
NOT_OF_THE_NODE = {
    "properties": {"localhostProfile": ABSENT, "type": {"enum": ["RuntimeDefault", "Unconfined"]}},
    "required": ["type"],
}

_is_field = Pattern(
    r"metadata\.(name|namespace|uid|(labels|annotations)\['[^']+'\])|spec\.(nodeName|serviceAccountName)"
    r"|status\.(hostIPs?|podIPs?)"
).fullmatch
_is_resource = Pattern(r"(limits|requests)\.(cpu|memory|ephemeral-storage|hugepages-.+)").fullmatch
PLAIN_RESOURCE = r"cpu|memory|ephemeral-storage|[a-z]+(?:\.[a-z]+)+/[a-z]+"
_match_size = Pattern(r"(?P<number>[0-9]+)(?P<unit>[A-Za-z]*)").fullmatch
_is_header = Pattern(r"[-A-Za-z0-9]+").fullmatch


def is_resource_name(name: str) -> bool:
    """Whether the text names a resource: a standard one, or one with a domain."""
    return name in STANDARD or name.startswith(HUGE_PAGES) or ("/" in name and is_key(name))


@unless({"patternProperties": {"/": {"type": ["string", "integer"], "pattern": "^[0-9]+$"}}})
def whole(resources: Json) -> Iterator[Wrong]:
    """Extended resources, GPUs among them, come in whole numbers."""
    for name, quantity in (resources or {}).items():
        if "/" in name and is_fraction(quantity):
            yield must_be(quantity, "a whole number", (name,))


def is_fraction(quantity: Json) -> bool:
    """Whether the quantity has a part below one. What is no quantity has none."""
    try:
        return parse_quantity(quantity).denominator != 1
    except (ValueError, TypeError):
        return False


@unless({"additionalProperties": ANY_QUANTITY})
def amounts(resources: Json) -> Iterator[Wrong]:
    """No quantity of the map may be below zero, nor more than there can be."""
    for name, quantity in (resources or {}).items():
        for wrong in an_amount(quantity):
            yield wrong._replace(at=(name,))


_PLAIN_NAMES = {"propertyNames": {"pattern": "^[^h]"}}


@unless({"properties": {"limits": _PLAIN_NAMES, "requests": _PLAIN_NAMES}})
def huge_pages(resources: Json) -> Iterator[Wrong]:
    """Huge pages are memory that comes on top of other resources."""
    names = {*(resources.get("limits") or ()), *(resources.get("requests") or ())}
    if any(name.startswith(HUGE_PAGES) for name in names) and names.isdisjoint({"cpu", "memory"}):
        yield Wrong(MISSING, "has huge pages, but neither cpu nor memory", remedy="add memory or cpu")


@unless(_PLAIN_NAMES)
def whole_pages(resources: Json) -> Iterator[Wrong]:
    """Huge pages come whole: as so many bytes as some pages of their size have.

    Kubernetes: pkg/apis/core/v1/helper/helpers.go, IsHugePageResourceValueDivisible
    """
    for name, quantity in (resources or {}).items():
        size = name.removeprefix(HUGE_PAGES)
        if size == name or not (worth(quantity) > 0):
            continue
        page, amount = worth(size), ceil(worth(quantity))
        if page <= 0 or page.denominator != 1:
            yield Wrong(INVALID, f'has no size of a page behind "{HUGE_PAGES}"', (name,), "call it hugepages-2Mi")
        elif amount % page:
            problem = f"is {quantity}, but must be a multiple of {size}, the size of a page"
            yield Wrong(INVALID, problem, (name,), meant_pages(amount, size))


def meant_pages(amount: int, size: str) -> str:
    """What to write for an amount of huge pages that are not whole: a small one is a number of pages."""
    found = _match_size(size)
    if found is None:
        return f"use a multiple of {size}"
    pages = amount if amount < MANY_PAGES else ceil(amount / worth(size))
    return f"did you mean {int(found['number']) * pages}{found['unit']}?"


@unless({"enum": [0, 1]})
def once(value: Json) -> Iterator[Wrong]:
    """Liveness and startup count as restored by the first success."""
    if value not in (0, 1):
        yield must_be(value, "1 for this kind of probe")


@unless({"properties": {"privileged": {"const": False}, "capabilities": without("add")}})
def escalation(context: Json) -> Iterator[Wrong]:
    """What is privileged cannot be kept from escalating."""
    if context.get("allowPrivilegeEscalation") is not False:
        return
    added = (context.get("capabilities") or {}).get("add") or ()
    if context.get("privileged") or not {"CAP_SYS_ADMIN"}.isdisjoint(added):
        message = "is not possible for a container that is privileged or has CAP_SYS_ADMIN"
        yield Wrong(
            INVALID, message, ("allowPrivilegeEscalation",), "remove it, or what makes the container privileged"
        )


def probe_rules(probe: str) -> Iterator[Rule]:
    """The rules of one kind of probe."""
    yield from (Rule(f"{probe}.{number}", within(0)) for number in PROBE_NUMBERS)
    if probe == "readinessProbe":
        yield Rule(probe, forbids("terminationGracePeriodSeconds", lambda _: True, "in a readiness probe"))
    else:
        yield Rule(f"{probe}.successThreshold", once)
        yield Rule(f"{probe}.terminationGracePeriodSeconds", within(1))
    yield Rule(f"{probe}.exec", needs("command"))
    yield from handler_rules(probe)


def handler_rules(owner: str) -> Iterator[Rule]:
    """The rules of the handlers of a probe or a hook."""
    yield from (Rule(f"{owner}.{handler}.port", a_port) for handler in ("httpGet", "tcpSocket", "grpc"))
    yield Rule(
        f"{owner}.httpGet.httpHeaders[].name", takes(_is_header, "letters, digits and dashes", fine="[-A-Za-z0-9]+")
    )


def hook_rules(hook: str) -> Iterator[Rule]:
    """The rules of one kind of lifecycle hook."""
    yield Rule(f"lifecycle.{hook}", exactly_one(*HOOK_HANDLERS))
    yield Rule(f"lifecycle.{hook}.exec", needs("command"))
    yield from handler_rules(f"lifecycle.{hook}")


def reference_rules(where: str) -> Iterator[Rule]:
    """The rules of a variable that a key of a ConfigMap or Secret gives."""
    yield Rule(where, needs("name", "key"))
    yield Rule(f"{where}.name", A_SUBDOMAIN)
    yield Rule(f"{where}.key", A_CONFIG_KEY)


@unless(NOT_OF_THE_NODE)
def localhost(value: Json) -> Iterator[Wrong]:
    """A profile has a type; of that of the node it has the name, and of no other one that there is."""
    kind = value.get("type")
    if not kind:
        yield Wrong(MISSING, "has no type", remedy="add type: RuntimeDefault, Localhost or Unconfined")
    elif kind == LOCALHOST and not value.get("localhostProfile"):
        yield Wrong(MISSING, "has no localhostProfile for the type Localhost", remedy="add localhostProfile")
    elif kind in PROFILES and kind != LOCALHOST and value.get("localhostProfile"):
        yield Wrong(INVALID, "is only possible with the type Localhost", ("localhostProfile",), REMOVE)


def profile_rules() -> Iterator[Rule]:
    """The rules of the profiles that a pod or a container is kept to."""
    for profile in ("seccompProfile", "appArmorProfile"):
        yield Rule(f"securityContext.{profile}", localhost)
        yield Rule(f"securityContext.{profile}.type", one_of("", *PROFILES))


def one_per_kind(check: Check) -> Iterator[Rule]:
    """A rule for limits and requests alike."""
    return (Rule(f"resources.{kind}", check) for kind in ("limits", "requests"))


CONTAINER_RULES: tuple[Rule, ...] = (
    Rule("restartPolicy", one_of(*RESTART_POLICIES)),
    Rule("env[].name", A_VARIABLE),
    Rule("env[].valueFrom", exactly_one(*SOURCES)),
    Rule(
        "env[].valueFrom.fieldRef.fieldPath",
        takes(
            _is_field,
            "a field of the pod such as metadata.name or metadata.labels['team']",
            fine=r"metadata\.(?:name|namespace)|status\.podIP",
        ),
    ),
    Rule("env[].valueFrom.resourceFieldRef.resource", takes(_is_resource, "such as limits.cpu or requests.memory")),
    *reference_rules("env[].valueFrom.configMapKeyRef"),
    *reference_rules("env[].valueFrom.secretKeyRef"),
    Rule("envFrom[]", exactly_one("configMapRef", "secretRef")),
    Rule("envFrom[].configMapRef", needs("name")),
    Rule("envFrom[].configMapRef.name", A_SUBDOMAIN),
    Rule("envFrom[].secretRef", needs("name")),
    Rule("envFrom[].secretRef.name", A_SUBDOMAIN),
    Rule("envFrom[].prefix", A_PREFIX),
    Rule("ports[].containerPort", within(1, 65535)),
    Rule("ports[].hostPort", within(0, 65535)),
    *(rule for probe in PROBES for rule in probe_rules(probe)),
    *(rule for hook in HOOKS for rule in hook_rules(hook)),
    *one_per_kind(
        keys_are(
            is_resource_name,
            "cpu, memory, ephemeral-storage, hugepages-<size> or one with a domain",
            fine=PLAIN_RESOURCE,
        )
    ),
    *one_per_kind(amounts),
    *one_per_kind(whole),
    *one_per_kind(whole_pages),
    *one_per_kind(odd_amounts),
    Rule("resources", huge_pages),
    Rule("volumeMounts[]", needs("mountPath")),
    Rule("volumeMounts[].recursiveReadOnly", one_of(*RECURSIONS)),
    Rule("volumeMounts[].subPath", A_PATH_BELOW),
    Rule("volumeMounts[].subPathExpr", A_PATH_BELOW),
    Rule("volumeMounts[]", forbids("subPathExpr", lambda mount: mount.get("subPath"), "beside subPath")),
    Rule(
        "volumeMounts[]",
        forbids(
            "recursiveReadOnly",
            lambda mount: mount["recursiveReadOnly"] in RECURSIONS[1:] and not mount.get("readOnly"),
            "without readOnly: true",
        ),
    ),
    Rule("securityContext.runAsUser", within(0, HIGHEST_ID)),
    Rule("securityContext.runAsGroup", within(0, HIGHEST_ID)),
    Rule("securityContext", escalation),
    *profile_rules(),
    Rule("restartPolicyRules[].action", one_of("Restart")),
    Rule("resizePolicy", unique("resourceName")),
    Rule("resizePolicy[].resourceName", one_of("cpu", "memory")),
    Rule("resizePolicy[].restartPolicy", one_of("NotRequired", "RestartContainer")),
    Rule("resources.claims[]", needs("name")),
    Rule("volumeDevices[]", needs("name", "devicePath")),
)
"""Rules of every container, init containers included."""


REASON = "in an init container, unless its restartPolicy is Always"
RUNS_ON = {"properties": {"restartPolicy": {"const": "Always"}}, "required": ["restartPolicy"]}


def of_those_that_run_on(name: str) -> Check:
    """The check of a field that init containers which end cannot have."""
    ends = ("", *RESTART_POLICIES[1:])
    check = forbids(name, lambda container: (container.get("restartPolicy") or "") in ends, REASON)
    return check._replace(fine={"anyOf": [RUNS_ON, check.fine]})


INIT_CONTAINER_RULES: tuple[Rule, ...] = tuple(Rule("", of_those_that_run_on(name)) for name in (*PROBES, "lifecycle"))
"""Further rules of init containers: those that end have nothing to be probed and no hooks."""
