"""render_llminferenceservice: the parts of an LLMInferenceService become objects, with what stands around them.

Decides which ServiceAccounts and Roles are made. How a workload is written is its plug's knowledge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.llm import names
from kservec.core.llm.accounts import account_object, group_account, main_account, reading_role
from kservec.core.llm.certificates import certificate_objects, without_certificate
from kservec.core.llm.devices import API_VERSION as CLAIM_VERSION
from kservec.core.llm.devices import KIND as CLAIM_KIND
from kservec.core.llm.devices import claim_template
from kservec.core.llm.kinds import require_kind
from kservec.core.llm.loose_ends import loose_ends
from kservec.core.llm.names import child_name
from kservec.core.llm.part import PartRole
from kservec.core.llm.workload_labels import COMPONENT, base_labels
from kservec.core.llm.workload_service import workload_service
from kservec.core.models.ca_bundle import namespace_copy
from kservec.core.pods.containers import find
from kservec.core.records import evolve
from kservec.core.unit import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.bundle import Manifest
    from kservec.core.llm.part import Part
    from kservec.core.registry import Env
    from kservec.core.tree import Path, Tree
    from kservec.core.unit import Unit


def render_llminferenceservice(unit: Unit, env: Env) -> Step:
    """Render the workloads of all parts and what the main ones need; of a stopped service only the CA bundle is left.

    Takes:   nothing
    Writes:  manifests: workloads, workload Service, ServiceAccounts, Roles, certificate, device claims, CA bundle
    Reports: llm/kind-absent, llm/no-certificate, llm/picker-port, llm/selects-nothing, llm/service-account-taken,
             platform/ca-bundle, output/object-twice
    KServe:  pkg/controller/v1alpha2/llmisvc/workload.go, reconcileWorkload; controller.go, Reconcile
    """
    bundle = unit.bundle
    copy = namespace_copy(unit.namespace, env, unit.ref)
    if copy is not None:
        bundle = bundle.add(copy)
    if unit.parts:
        bundle = bundle.add(*around(unit, env), *(workload_of(unit, part, env) for part in unit.parts))
    return Step(evolve(unit, bundle=bundle), tuple(loose_ends(unit, bundle)) if unit.parts else ())


def around(unit: Unit, env: Env) -> Iterator[Manifest]:
    """What stands around the workloads.

    Raises:
        Reject: a ServiceAccount's name is taken, or the cluster lacks what issues certificates or claims devices.
    """
    yield workload_service(unit, env)
    yield from certificate_objects(unit, env)
    claims = claim_template(unit)
    if claims is not None:
        require_kind(unit, env, (CLAIM_VERSION, CLAIM_KIND), claims.body.span(()))
        yield claims
    yield from single_account(unit, env)
    yield from group_accounts(unit, env)


def workload_of(unit: Unit, part: Part, env: Env) -> Manifest:
    """The workload of a part.

    Raises:
        Reject: the cluster lacks its kind.
    """
    assert unit.resolved is not None
    kind = next(kind for kind in env.plugs.part_workloads if kind.selects(part))
    require_kind(unit, env, (kind.api_version, kind.kind), unit.resolved.span((*part.path, "worker")))
    worker = without_certificate(part.worker, unit, env) if part.worker is not None else None
    part = evolve(part, pod=without_certificate(part.pod, unit, env), worker=worker)
    return kind.render(unit, part)


def single_account(unit: Unit, env: Env) -> Iterator[Manifest]:
    """What the routing sidecar of the main pods is allowed, and their account if they name none.

    KServe looks at the main template alone, so that leaders of several nodes get these too.
    """
    assert unit.resolved is not None
    if not has_sidecar(unit.resolved, ("template",)):
        return
    account, own = main_account(unit), child_name(unit.name, names.DEPLOYMENT)
    labels = base_labels(unit.name, COMPONENT)
    if account == own:
        yield account_object(unit, own, labels, env)
    roles = (child_name(unit.name, "-kserve-role"), child_name(unit.name, "-kserve-rb"))
    yield from reading_role(unit, roles, account, labels)


def group_accounts(unit: Unit, env: Env) -> Iterator[Manifest]:
    """The accounts of leaders and workers that name none, and what the routing sidecar of the main ones is allowed.

    The Role is also there for pods of one node that name an account of their own, as in KServe.
    """
    spec = unit.resolved
    assert spec is not None
    labels = base_labels(unit.name)
    main = group_account(unit, (), names.LEADER_WORKERS)
    is_own = main == child_name(unit.name, names.LEADER_WORKERS)
    has_group = has_workers(unit, PartRole.MAIN)
    if has_group and is_own:
        yield account_object(unit, main, labels, env)
    if (has_group or not is_own) and any(has_sidecar(spec, (pod,)) for pod in ("template", "worker")):
        roles = (child_name(unit.name, "-kserve-mn-role"), child_name(unit.name, "-kserve-mn-rb"))
        yield from reading_role(unit, roles, main, labels)
    if has_workers(unit, PartRole.PREFILL):
        prefill = group_account(unit, ("prefill",), names.PREFILL_LEADER_WORKERS)
        if prefill == child_name(unit.name, names.PREFILL_LEADER_WORKERS):
            yield account_object(unit, prefill, labels, env)


def has_workers(unit: Unit, role: PartRole) -> bool:
    """Whether the part of a role is spread over several pods."""
    return any(part.role is role and part.worker is not None for part in unit.parts)


def has_sidecar(spec: Tree, pod: Path) -> bool:
    """Whether a pod of the spec has the routing sidecar."""
    return find(spec.get(*pod, "initContainers") or (), names.SIDECAR) is not None
