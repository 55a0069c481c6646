"""ServiceAccounts of an LLMInferenceService: which pods run as whom, and whose credentials downloads use.

Decides which accounts are made for the service and what they take over from others, and that those which it names
exist. Must not know pods.
KServe: pkg/controller/v1alpha2/llmisvc/workload_single_node.go, expectedSingleNodeMainServiceAccount;
workload_multi_node.go, expectedMultiNodeMainServiceAccount; scheduler.go, expectedSchedulerServiceAccount
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.bundle import Manifest
from kservec.core.cluster import ServiceAccount
from kservec.core.diagnostics import Code, Needed, ObjectRef, Reject, Severity
from kservec.core.llm.names import (
    DEPLOYMENT,
    LEADER_WORKERS,
    PREFILL_LEADER_WORKERS,
    SCHEDULER_ACCOUNT,
    child_name,
)
from kservec.core.models.credentials import DEFAULT_ACCOUNT
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit

MADE: Final = Origin(Layer.KSERVE_DEFAULT, "accounts")
RBAC: Final = "rbac.authorization.k8s.io"
RBAC_VERSION: Final = f"{RBAC}/v1"
GENERATED: Final = (DEPLOYMENT, LEADER_WORKERS, PREFILL_LEADER_WORKERS, SCHEDULER_ACCOUNT)

NOT_DECLARED: Final = Code(
    "llm/service-account-not-declared",
    Severity.ERROR,
    "pods that run as a ServiceAccount which nothing declares",
    "KServe deploys nothing of an LLMInferenceService that names a ServiceAccount which is not there. Declare it among "
    "the platform files, or under `serviceAccounts` of a Cluster document.",
)
TAKEN: Final = Code(
    "llm/service-account-taken",
    Severity.ERROR,
    "a ServiceAccount has the name of one that is made for the service",
    "The pods get a ServiceAccount of their own, and one of that name is declared. Name another one in the pod "
    "template, which is then used as it is, or rename the declared one.",
)
POOL_RULES: Final[Json] = [
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]},
    {
        "apiGroups": ["inference.networking.x-k8s.io", "inference.networking.k8s.io"],
        "resources": ["inferencepools"],
        "verbs": ["get", "list", "watch"],
    },
]
"""What the routing sidecar reads, to send requests on to pods of its pool only."""


def main_account(unit: Unit) -> str:
    """The account of a workload of one node with a routing sidecar: the named one, else one of its own."""
    return named(unit, ("template",)) or child_name(unit.name, DEPLOYMENT)


def group_account(unit: Unit, path: Path, suffix: str) -> str:
    """The account of leaders and workers alike: that of the leader, else of the worker, else one of their own."""
    return named(unit, (*path, "template")) or named(unit, (*path, "worker")) or child_name(unit.name, suffix)


def named(unit: Unit, pod: Path) -> str:
    """The account that a pod of the resolved spec names; empty if it names none."""
    assert unit.resolved is not None
    name: str = unit.resolved.get(*pod, "serviceAccountName") or ""
    return name


def undeclared_accounts(unit: Unit, env: Env) -> Iterator[Diagnostic]:
    """Errors about accounts that pods run as and nothing declares, each once. KServe looks for all of them first."""
    seen: set[str] = set()
    for pod, own in accounts_in_use(unit):
        name = named(unit, pod)
        if name and name not in {own, *seen} and (unit.namespace, name) not in env.cluster.service_accounts:
            seen.add(name)
            yield not_declared(unit, pod, name)


def accounts_in_use(unit: Unit) -> Iterator[tuple[Path, str]]:
    """The pods whose accounts KServe looks for, each with the name that it may have without being declared."""
    assert unit.resolved is not None
    for path, suffix in (((), LEADER_WORKERS), (("prefill",), PREFILL_LEADER_WORKERS)):
        at: Path = path
        own = child_name(unit.name, suffix)
        has_workers = unit.resolved.get(*at, "worker") is not None
        leader = (*at, "template")
        if not named(unit, leader):
            yield (*at, "worker"), own
        yield leader, own if has_workers else ""


def not_declared(unit: Unit, pod: Path, name: str) -> Diagnostic:
    """The diagnostic for an account that nothing declares."""
    assert unit.resolved is not None
    message = f"{'.'.join(map(str, pod))} of {unit.ref} runs as ServiceAccount {name}, which is not declared"
    span = unit.resolved.span((*pod, "serviceAccountName"))
    remedy = f"declare ServiceAccount {unit.namespace}/{name} among the platform files"
    found = finding(unit, NOT_DECLARED, message, span, remedy)
    return evolve(found, rests_on=(Needed("ServiceAccount", unit.namespace, name),))


def account_of(unit: Unit, name: str, env: Env) -> ServiceAccount:
    """The account of a name, `default` without one; an empty one if it is neither declared nor made for the service.

    Accounts that are made list what `default` lists; the scheduler's takes over all that the main pod's account has.
    """
    copied = named(unit, ("template",)) if name == child_name(unit.name, SCHEDULER_ACCOUNT) else ""
    found = env.cluster.service_accounts.get((unit.namespace, copied or name or DEFAULT_ACCOUNT))
    if found is not None:
        return found
    if name in [child_name(unit.name, suffix) for suffix in GENERATED]:
        return generated(unit, name, env)
    return ServiceAccount(namespace=unit.namespace, name=name or DEFAULT_ACCOUNT)


def generated(unit: Unit, name: str, env: Env) -> ServiceAccount:
    """An account that is made for the service. KServe: workload.go, injectSecretsFromDefaultServiceAccount."""
    found = env.cluster.service_accounts.get((unit.namespace, DEFAULT_ACCOUNT))
    return ServiceAccount(
        namespace=unit.namespace,
        name=name,
        secrets=found.secrets if found is not None else (),
        image_pull_secrets=found.image_pull_secrets if found is not None else (),
    )


def account_object(unit: Unit, name: str, labels: Json, env: Env) -> Manifest:
    """The object of an account that is made for the service.

    Raises:
        Reject: an account of that name is declared.
    """
    declared = env.cluster.service_accounts.get((unit.namespace, name))
    if declared is not None:
        message = f"ServiceAccount {unit.namespace}/{name} is declared, and {unit.ref} makes one of that name"
        found = finding(unit, TAKEN, message, None, "name another account in the pod template, or rename this one")
        raise Reject(evolve(found, related=((declared.span, "declared here"),) if declared.span is not None else ()))
    account = generated(unit, name, env)
    fields = {
        "imagePullSecrets": [{"name": secret} for secret in account.image_pull_secrets],
        "secrets": [{"name": secret} for secret in account.secrets],
    }
    kept = {field: value for field, value in fields.items() if value}
    return made(unit, ("v1", "ServiceAccount", name), labels, kept)


def reading_role(unit: Unit, names: tuple[str, str], account: str, labels: Json) -> tuple[Manifest, Manifest]:
    """The Role that routing sidecars need, and its binding to an account; `names` are those of the two."""
    role, binding = names
    subject = {"kind": "ServiceAccount", "name": account, "namespace": unit.namespace}
    bound = {"roleRef": {"apiGroup": RBAC, "kind": "Role", "name": role}, "subjects": [subject]}
    return (
        made(unit, (RBAC_VERSION, "Role", role), labels, {"rules": POOL_RULES}),
        made(unit, (RBAC_VERSION, "RoleBinding", binding), labels, bound),
    )


def made(unit: Unit, identity: tuple[str, str, str], labels: Json, fields: Json) -> Manifest:
    """An object of the service's namespace that KServe makes; `identity` is apiVersion, kind and name."""
    api_version, kind, name = identity
    metadata = {"name": name, "namespace": unit.namespace, **({"labels": labels} if labels else {})}
    body = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
    return Manifest(ObjectRef(api_version, kind, unit.namespace, name), Tree.of(body, MADE))
