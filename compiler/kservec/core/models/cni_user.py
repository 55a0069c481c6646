"""The user that a storage initializer runs as, where a service mesh catches its traffic.

With Istio's CNI plugin the network is redirected before the sidecar runs, and only the sidecar's user gets through.
KServe: pkg/webhook/admission/pod/storage_initializer_injector.go, SetIstioCniSecurityContext
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.digits import INT64, integer
from kservec.core.golang.decoding import decode
from kservec.core.names import STORAGE_INITIALIZER, STORAGE_INITIALIZER_UID
from kservec.core.patterns import Pattern
from kservec.core.pods.containers import find
from kservec.core.tree import Layer, Origin

if TYPE_CHECKING:
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.tree import Tree

AT = ("initContainers", STORAGE_INITIALIZER)
SIDECAR_USER = 1337
INTERCEPTION, STATUS = "sidecar.istio.io/interceptionMode", "sidecar.istio.io/status"

NOT_A_USER = Code(
    "annotation/not-a-user-id",
    Severity.WARNING,
    "an annotation that should be a user id is none",
    "serving.kserve.io/storage-initializer-uid takes a whole number. Anything else has no effect, except that the user "
    "of Istio's sidecar is not looked up either.",
)

_is_integer = Pattern(r"[+-]?[0-9]+", re.ASCII).fullmatch


def with_cni_user(pod: Tree, annotations: Tree, subject: ObjectRef) -> tuple[Tree, tuple[Diagnostic, ...]]:
    """The pod with the user of its storage initializer, if it has one and a user can be told."""
    text = annotations.value.get(STORAGE_INITIALIZER_UID)
    if text is None and INTERCEPTION not in annotations.value:
        return pod, ()
    if pod.value.get("initContainers") is None or pod.get(*AT) is None:
        return pod, ()
    if text is not None and not is_user(text):
        return pod, (not_a_user(text, annotations, subject),)
    user = integer(text) if text is not None else sidecar_user(pod, annotations)
    if user is None:
        return pod, ()
    said = STORAGE_INITIALIZER_UID if text is not None else STATUS
    has_origin = annotations.origin((said,)) is not None
    source = annotations.sub(said) if has_origin else Origin(Layer.PASS, "attach_models")
    return pod.put((*AT, "securityContext", "runAsUser"), user, source), ()


def is_user(text: str) -> bool:
    """Whether a text is a number of 64 bits. Go: strconv.ParseInt."""
    return _is_integer(text) is not None and -INT64 <= integer(text) < INT64


def sidecar_user(pod: Tree, annotations: Tree) -> int | None:
    """The user of Istio's sidecar, if it is there and its traffic is redirected without an init container."""
    if find(pod.value["initContainers"], "istio-init") is not None:
        return None
    name = sidecar_name(annotations) if annotations.value.get(INTERCEPTION) == "REDIRECT" else None
    sidecar = find(pod.value.get("containers") or (), name) if name else None
    if sidecar is None:
        return None
    user: int | None = (sidecar.get("securityContext") or {}).get("runAsUser")
    return SIDECAR_USER if user is None else user


def sidecar_name(annotations: Tree) -> str | None:
    """The first container that Istio's status annotation lists."""
    try:
        status = decode(annotations.value.get(STATUS) or "null")
    except ValueError:
        return None
    containers = status.get("containers") if isinstance(status, dict) else None
    first = containers[0] if isinstance(containers, list) and containers else None
    return first if isinstance(first, str) else None


def not_a_user(text: str, annotations: Tree, subject: ObjectRef) -> Diagnostic:
    """The warning about an annotation that has no effect."""
    return Diagnostic(
        code=NOT_A_USER,
        message=f"{STORAGE_INITIALIZER_UID}: {text!r} is no user id",
        span=annotations.span((STORAGE_INITIALIZER_UID,)),
        help="give a whole number, or leave the annotation out",
        subject=subject,
    )
