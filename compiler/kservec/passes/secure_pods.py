"""secure_pods: containers that the compiler adds get the settings that the level of Pod Security asks for.

Decides which containers are ours, and what they lack. Never replaces what is written; must not judge the result.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.pods.pod_sets import with_pods
from kservec.core.pods.security_level import CONTEXT, Level, is_windows
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.pods.pod_sets import Pods
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path, Tree
    from kservec.core.unit import Unit

FILLED = Origin(Layer.PASS, "secure_pods")
USERS = frozenset({Layer.SPEC, Layer.RUNTIME, Layer.PRESET})
"""Layers that users write; what comes from the built-in catalog is ours even there."""
BUILTIN = "builtin/"
FIELDS = ("initContainers", "containers")
MODEL_IMAGE = "modelcar"
"""What the names of containers begin with whose image is the user's model: nobody knows whom it runs as."""
SYS_ADMIN = frozenset({"SYS_ADMIN", "CAP_SYS_ADMIN"})


def secure_pods(unit: Unit, env: Env) -> Step:
    """Fill in the settings that the level `restricted` asks for; the other levels ask for none.

    Settings go into containers, not pods: a pod's would hold for the user's containers too, and Knative takes only few.

    Takes:   nothing
    Writes:  securityContext of containers
    Reports: nothing
    """
    additions = env.additions
    if additions is None or additions.pod_security != Level.RESTRICTED:
        return Step(unit)
    everything = additions.secures_all
    return Step(with_pods(unit, lambda pods: secured(pods, everything=everything)))


def secured(pods: Pods, *, everything: bool) -> Tree:
    """A pod whose containers have the settings."""
    pod = pods.pod
    for field in FIELDS if not is_windows(pod.value) else ():
        for container in pod.value.get(field) or ():
            at: Path = (field, container["name"])
            if everything or is_added(pod, at):
                pod = with_settings(pod, at, container)
    return pod


def is_added(pod: Tree, at: Path) -> bool:
    """Whether a container is none of the user's, which whoever named the image says."""
    found = pod.origin((*at, "image"))
    if found is None or found[0].layer not in USERS:
        return True
    document = found[0].doc
    return document is not None and document.file.startswith(BUILTIN)


def with_settings(pod: Tree, at: Path, container: Json) -> Tree:
    """A pod one of whose containers has what it lacks."""
    own = container.get(CONTEXT) or {}
    user = model_user(pod.value) if is_model(container) and "runAsUser" not in own else None
    own = own if user is None else {**own, "runAsUser": user}
    lacking = missing(container, own, pod.value.get(CONTEXT) or {}) | ({} if user is None else {"runAsUser": user})
    pod = pod.fill((*at, CONTEXT), lacking, FILLED) if lacking else pod
    if "drop" not in (own.get("capabilities") or {"drop": ()}):
        pod = pod.put((*at, CONTEXT, "capabilities", "drop"), ["ALL"], FILLED)
    return pod


def missing(container: Json, own: Json, pod: Json) -> dict[str, Json]:
    """What the security settings of a container are to have that neither it nor its pod says."""
    filled: dict[str, Json] = {}
    capabilities = own.get("capabilities")
    if capabilities is None:
        filled["capabilities"] = {"drop": ["ALL"]}
    gains = own.get("privileged") or SYS_ADMIN & set((capabilities or {}).get("add") or ())
    if "allowPrivilegeEscalation" not in own and not gains:
        filled["allowPrivilegeEscalation"] = False
    user = own.get("runAsUser", pod.get("runAsUser"))
    knows_user = user or (user is None and not is_model(container))
    if "runAsNonRoot" not in own and "runAsNonRoot" not in pod and knows_user:
        filled["runAsNonRoot"] = True
    if "seccompProfile" not in own and "seccompProfile" not in pod:
        filled["seccompProfile"] = {"type": "RuntimeDefault"}
    return filled


def is_model(container: Json) -> bool:
    """Whether the image of a container is the user's model."""
    return bool(container["name"].startswith(MODEL_IMAGE))


def model_user(pod: Json) -> int | None:
    """The user that the platform runs images of models as: one of their containers has it, and the others follow."""
    users = ((c.get(CONTEXT) or {}).get("runAsUser") for f in FIELDS for c in pod.get(f) or () if is_model(c))
    return next((user for user in users if user), None)
