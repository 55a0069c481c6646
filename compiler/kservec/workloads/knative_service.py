"""Knative Service: the workload of Knative mode.

What KServe's pod webhook adds to running pods stands in the revision's template here, so Knative sees all of it: it has
to fit Knative's schema, one port, and the features that are on.
KServe: pkg/controller/v1beta1/inferenceservice/reconcilers/knative/ksvc_reconciler.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import Manifest, manifest
from kservec.core.diagnostics import Code, Diagnostic, Needed, Severity
from kservec.core.intents import CanaryIntent
from kservec.core.knative.claims import with_read_only_claims
from kservec.core.knative.defaults import revision_defaults
from kservec.core.knative.demands import (
    AUTOSCALER,
    DEFAULTS,
    DEMANDED,
    FEATURE_DISABLED,
    FEATURES,
    INSTEAD,
    LIMIT_EXCEEDED,
    Demand,
    unmet,
)
from kservec.core.knative.revisions import (
    API_VERSION,
    CANARY_OF_ITSELF,
    CANARY_RUNS,
    KIND,
    revision_name,
    stable_revision,
    traffic,
)
from kservec.core.knative.security import secured
from kservec.core.registry import Deployed, Workload
from kservec.core.schemas.faults import field_path
from kservec.core.schemas.pruning import stray_fields
from kservec.core.serving.metadata import disallowed_labels, without_internal
from kservec.core.serving.tracking import is_for_objects
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Mode, finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path, Tree
    from kservec.core.unit import Component, Unit

MADE = Origin(Layer.KSERVE_DEFAULT, "knative_service")
TAG_ROUTING = "serving.kserve.io/enable-tag-routing"
SERVICE_ANNOTATIONS = ("serving.knative.dev/rollout-duration", "serving.knative.openshift.io/enablePassthrough")
"""Annotations that count on the service, not on its revisions."""

TEMPLATE: Path = ("spec", "template")
MOUNTED_TOKEN = "automountServiceAccountToken"  # noqa: S105 - the name of a field
ALREADY_MOUNTED = "Knative takes the value false alone, for true is what pods have without it"

FIELD_DROPPED = Code(
    "knative/field-dropped",
    Severity.WARNING,
    "a field that Knative services do not have",
    "The schema of a Knative service has fewer fields than a pod. In a cluster with KServe the API server drops the "
    "others without a word; here they are left out, and named.",
)
SUBSTITUTES = {
    "terminationGracePeriodSeconds": "Knative lets pods finish for as long as requests may take: set timeout",
    "serviceAccount": "write serviceAccountName",
    "lifecycle": "Knative drains connections itself; use Standard mode if the server needs a hook",
    "nodeName": "use nodeSelector or affinity",
    MOUNTED_TOKEN: "pods have the token unless the ServiceAccount says otherwise: change it there",
}
"""What to do instead of a field that is dropped."""


def selects(unit: Unit, component: Component) -> bool:
    """Every component of a Knative unit."""
    del component
    return unit.mode is Mode.KNATIVE


def render(unit: Unit, component: Component, env: Env) -> Deployed:
    """The Knative service of a component.

    Raises:
        Reject: a canary's stable revision is not known.
    """
    canary = next(iter(component.peek(CanaryIntent)), None)
    stable = stable_revision(unit, component, canary, env) if canary is not None else ""
    metadata = {"name": component.name, "namespace": unit.namespace}
    empty: Json = {"spec": {"template": {"metadata": {}, "spec": {}}}}
    made = manifest(API_VERSION, KIND, metadata, empty, unit.source.origin(*component.path))
    body = with_pod(with_metadata(made.body, component, env), unit, component)
    body, found = without_strays(body, unit, env)
    knative = env.platform.knative
    pod = revision_defaults(body.sub(*TEMPLATE, "spec"), knative.get(DEFAULTS, {}))
    pod = with_read_only_claims(pod, knative.get(FEATURES))
    body = body.graft((*TEMPLATE, "spec"), secured(pod, knative.get(FEATURES, {})))
    tagged = unit.routed and component.annotation(TAG_ROUTING) == "true"
    origin = MADE if canary is None else canary.origin
    body = body.put(("spec", "traffic"), traffic(canary, stable, tagged=tagged), origin)
    made = made._replace(body=with_name(body, component, env))
    if stable:
        found += (canary_warning(unit, component, made, stable),)
    return Deployed((made,), (*found, *demand_findings(made, unit, component, env)))


def with_metadata(body: Tree, component: Component, env: Env) -> Tree:
    """The service with labels and annotations on it and on its revisions."""
    kept_back = disallowed_labels(env.platform)
    at = (*TEMPLATE, "metadata")
    labels, of_pods = component.labels, component.pod_labels
    body = body.graft(("metadata", "labels"), labels) if labels.value else body
    body = body.graft((*at, "labels"), labels if of_pods is None else of_pods)
    for key in kept_back if of_pods is None else ():
        body = body.without((*at, "labels", key), MADE)
    own = component.annotations
    for key in own.value:
        where = ("metadata",) if key in SERVICE_ANNOTATIONS or is_for_objects(key) else at
        if without_internal({key: ""}):
            body = body.graft((*where, "annotations", key), own.sub(key))
    for key, value in component.pod_annotations.items():
        body = body.put((*at, "annotations", key), value, MADE)
    return body


def with_pod(body: Tree, unit: Unit, component: Component) -> Tree:
    """The service with the component's pod in it, and what the revision says beside the pod."""
    at = (*TEMPLATE, "spec")
    body = body.graft(at, component.pod)
    extension = component.extension
    if extension.timeout is not None:
        for name in ("timeoutSeconds", "responseStartTimeoutSeconds"):
            body = body.put((*at, name), extension.timeout, unit.source.origin(*component.path, "timeout"))
    if extension.container_concurrency is not None:
        origin = unit.source.origin(*component.path, "containerConcurrency")
        body = body.put((*at, "containerConcurrency"), extension.container_concurrency, origin)
    return body


def without_strays(body: Tree, unit: Unit, env: Env) -> tuple[Tree, tuple[Diagnostic, ...]]:
    """The service without the fields that its schema does not have, and a warning for each of them."""
    pod: Path = (*TEMPLATE, "spec")
    paths = list(stray_fields(body.value, env.schemas.document(API_VERSION, KIND)))
    paths += [(*pod, MOUNTED_TOKEN)] if body.get(*pod, MOUNTED_TOKEN) else []
    found = tuple(dropped(body, path, unit) for path in paths)
    for path in paths:
        body = body.without(path, MADE)
    return body, found


def dropped(body: Tree, path: Path, unit: Unit) -> Diagnostic:
    """The warning about a field that is left out."""
    name = str(path[-1])
    shown = field_path(path[len(TEMPLATE) + 1 :])
    reason = ALREADY_MOUNTED if name == MOUNTED_TOKEN else "a Knative service has no such field"
    message = f"{shown} has no effect: {reason}"
    hint = SUBSTITUTES.get(name, "remove it, or use Standard mode")
    return finding(unit, FIELD_DROPPED, message, body.span(path), hint)


def with_name(body: Tree, component: Component, env: Env) -> Tree:
    """The service whose revision has a name that follows from its content, where revisions are to have names."""
    if not env.names_revisions:
        return body
    final = env.schemas.as_stored(body.value, API_VERSION, KIND)
    name = revision_name(component.name, final["spec"]["template"])
    return body.put((*TEMPLATE, "metadata", "name"), name, MADE)


def canary_warning(unit: Unit, component: Component, made: Manifest, stable: str) -> Diagnostic:
    """The warning that the tree depends on a revision which is not in it, or that a canary is no other version."""
    at = (*component.path, "canaryTrafficPercent")
    if made.body.get(*TEMPLATE, "metadata", "name") == stable:
        message = f"the canary of {component.name} is its stable revision, {stable}: nothing in it differs"
        return finding(unit, CANARY_OF_ITSELF, message, at, "change the model or the pod, or remove the field")
    message = f"{component.name} sends traffic to revision {stable}, which only a cluster that has it can serve"
    return finding(unit, CANARY_RUNS, message, at, "end the canary in time")


def demand_findings(made: Manifest, unit: Unit, component: Component, env: Env) -> Iterator[Diagnostic]:
    """What a service needs of Knative's configuration: an error where that says no, a warning where it is not there."""
    for demand, is_declared in unmet(made.body.value["spec"]["template"], env.platform):
        if is_declared:
            yield refused(demand, made, unit, component, env)
        else:
            yield undeclared(demand)


def refused(demand: Demand, made: Manifest, unit: Unit, component: Component, env: Env) -> Diagnostic:
    """The error about a setting that does not grant what a service needs."""
    source = (*component.path, "maxReplicas") if demand.config == AUTOSCALER else ("metadata", "name")
    given = env.platform.knative[demand.config].get(demand.key, "not set")
    declared = env.platform.knative_spans.get(demand.config)
    return Diagnostic(
        code=FEATURE_DISABLED if demand.config == FEATURES else LIMIT_EXCEEDED,
        message=f"{made.ref.name} needs {wanted(demand)} in Knative's {demand.config}; it is {given}",
        span=made.body.span((*TEMPLATE, *demand.path)) or unit.source.span(*source),
        related=((declared, f"{demand.config} is declared here"),) if declared is not None else (),
        help=patch(demand),
        subject=unit.ref,
    )


def undeclared(demand: Demand) -> Diagnostic:
    """The warning about a setting that nothing declares; the same for all services that need it."""
    return Diagnostic(
        code=DEMANDED,
        message=f"services need {wanted(demand)} in Knative's {demand.config}, which is not declared",
        span=None,
        help=f"{patch(demand)}; then add {demand.config} to the platform's documents",
        rests_on=(Needed("ConfigMap", "knative-serving", demand.config),),
    )


def wanted(demand: Demand) -> str:
    """What a demand asks for, in words."""
    return f"{demand.key} {'of at least ' if demand.limit else ''}{demand.value}"


def patch(demand: Demand) -> str:
    """The command that grants a demand, after what to do instead if there is something."""
    data = f'{{"data":{{"{demand.key}":"{demand.value}"}}}}'
    command = f"kubectl patch configmap {demand.config} -n knative-serving --type merge -p '{data}'"
    return f"{INSTEAD[demand.key]}, or: {command}" if demand.key in INSTEAD else command


WORKLOAD = Workload(name="knative_service", rank=20, selects=selects, render=render)
