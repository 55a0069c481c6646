"""Whom the scheduler runs as, and what it may read.

Decides the ServiceAccount, Role and bindings of a scheduler. Must not know its pod.
KServe: pkg/controller/v1alpha2/llmisvc/scheduler.go, reconcileSchedulerServiceAccount
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.bundle import Manifest
from kservec.core.diagnostics import ObjectRef, Reject
from kservec.core.llm.accounts import RBAC, RBAC_VERSION, TAKEN, account_of, made, not_declared
from kservec.core.llm.names import SCHEDULER_BINDING, child_name
from kservec.core.llm.pools import POOL_GROUP, POOL_GROUP_ALPHA
from kservec.core.llm.resolved import SCHEDULER_POD
from kservec.core.llm.scheduler import makes_account, scheduler_account
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

MADE: Final = Origin(Layer.KSERVE_DEFAULT, "scheduler_access")
ROLE, ROLE_BINDING = "-epp-role", "-epp-rb"
DELEGATOR: Final = "system:auth-delegator"
READ: Final = ("get", "list", "watch")
WRITE: Final = (*READ, "create", "update", "patch", "delete")
ROUTER_GROUP: Final = "llm-d.ai"
GRANTS: Final = (
    (("",), ("pods",), READ),
    ((POOL_GROUP, POOL_GROUP_ALPHA), ("inferencepools", "inferenceobjectives", "inferencemodels"), READ),
    ((POOL_GROUP_ALPHA,), ("inferencemodelrewrites", "inferencepoolimports"), READ),
    ((ROUTER_GROUP,), ("inferenceobjectives", "inferencemodelrewrites"), READ),
    (("discovery.k8s.io",), ("endpointslices",), READ),
    (("coordination.k8s.io",), ("leases",), WRITE),
)
"""API groups, resources and verbs: what the scheduler watches, and the leases by which several elect a leader."""

RULES: Final = [
    {"apiGroups": list(groups), "resources": list(resources), "verbs": list(verbs)}
    for groups, resources, verbs in GRANTS
]


def access_objects(unit: Unit, labels: Json, env: Env) -> tuple[Manifest, ...]:
    """The ServiceAccount of a scheduler, unless it is the user's, and what the account may do.

    Raises:
        Reject: the account is the user's and not declared, or not the user's and declared.
    """
    assert unit.resolved is not None
    name = scheduler_account(unit.name, unit.resolved.value)
    if makes_account(unit.name, unit.resolved.value):
        account: tuple[Manifest, ...] = (account_object(unit, name, labels, env),)
    elif (unit.namespace, name) in env.cluster.service_accounts:
        account = ()
    else:
        raise Reject(not_declared(unit, SCHEDULER_POD, name))
    role, binding = child_name(unit.name, ROLE), child_name(unit.name, ROLE_BINDING)
    return (
        *account,
        delegation(unit, name, labels),
        made(unit, (RBAC_VERSION, "Role", role), labels, {"rules": RULES}),
        made(unit, (RBAC_VERSION, "RoleBinding", binding), labels, bound("Role", role, subject(unit, name))),
    )


def account_object(unit: Unit, name: str, labels: Json, env: Env) -> Manifest:
    """The ServiceAccount that is made for a scheduler, with all that lets it download what the servers do.

    Raises:
        Reject: one of that name is declared.
    """
    declared = env.cluster.service_accounts.get((unit.namespace, name))
    if declared is not None:
        message = f"ServiceAccount {unit.namespace}/{name} is declared, and {unit.ref} makes one of that name"
        found = finding(unit, TAKEN, message, None, "name another one in the scheduler's template, or rename this one")
        raise Reject(evolve(found, related=((declared.span, "declared here"),) if declared.span is not None else ()))
    account = account_of(unit, name, env)
    assert account is not None
    lists = {"imagePullSecrets": account.image_pull_secrets, "secrets": account.secrets}
    fields: dict[str, Json] = {field: [{"name": n} for n in names] for field, names in lists.items() if names}
    found_object = made(unit, ("v1", "ServiceAccount", name), labels, fields)
    if not account.annotations:
        return found_object
    body = found_object.body.put(("metadata", "annotations"), dict(account.annotations), MADE)
    return found_object._replace(body=body)


def delegation(unit: Unit, account: str, labels: Json) -> Manifest:
    """What lets a scheduler ask the API server who asks for its metrics. It is of the whole cluster."""
    name = child_name(unit.namespace, f"-{unit.name}{SCHEDULER_BINDING}")
    body = {
        "apiVersion": RBAC_VERSION,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name, "labels": labels},
        **bound("ClusterRole", DELEGATOR, subject(unit, account)),
    }
    return Manifest(ObjectRef(RBAC_VERSION, "ClusterRoleBinding", "", name), Tree.of(body, MADE))


def bound(kind: str, role: str, to: Json) -> dict[str, Json]:
    """A role of a kind, bound to a subject."""
    return {"roleRef": {"apiGroup": RBAC, "kind": kind, "name": role}, "subjects": [to]}


def subject(unit: Unit, account: str) -> Json:
    """A ServiceAccount as the subject of a binding."""
    return {"kind": "ServiceAccount", "name": account, "namespace": unit.namespace}
