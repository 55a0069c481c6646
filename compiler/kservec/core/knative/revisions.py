"""Revisions of Knative services: their names, and which of them is the stable one while a canary runs.

In a cluster KServe keeps the name of the stable revision in the status of the service. Here it comes from an
annotation, or from the tree of the last build, and only a revision that kservec has named can be referred to: numbers
that Knative gives are another cluster's, or another day's.
KServe: pkg/controller/v1beta1/inferenceservice/reconcilers/knative/ksvc_reconciler.go, createKnativeService
Knative: pkg/reconciler/configuration/configuration.go, CheckNameAvailability
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, ObjectRef, Reject, Severity
from kservec.core.patterns import Pattern
from kservec.core.tree import lookup
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.intents import CanaryIntent
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit

API_VERSION, KIND = "serving.knative.dev/v1", "Service"
REVISED = API_VERSION.encode()
"""What those files of a tree hold in which revisions are named."""
STABLE_REVISION = "kservec.dev/stable-revision"
BEFORE_CANARY = "kservec.dev/before-canary"
"""What the spec said before its canary was started, for taking it back."""
HASH_LENGTH = 10
WHOLE = 100
PREVIOUS_TAG = "prev"

is_numbered = Pattern(r".*-[0-9]{5,7}").fullmatch
"""Whether a name looks like one that Knative has given: the generation with at least five digits."""

is_digest = Pattern(rf"[0-9a-f]{{{HASH_LENGTH}}}").fullmatch
"""Whether the rest of a name is one that a build gives."""

FIRST_CANARY = Code(
    "knative/first-canary",
    Severity.ERROR,
    "a canary without a known stable revision",
    "canaryTrafficPercent gives the rest of the traffic to the revision that served all of it before. KServe finds its "
    "name in the status of the service; a build has to be told: by the annotation kservec.dev/stable-revision, or by "
    "the tree of the last build (--previous). A service that is new has no stable revision: apply it without "
    "canaryTrafficPercent first.",
)
NUMBERED_REVISION = Code(
    "knative/numbered-revision",
    Severity.ERROR,
    "the stable revision has no name of its own",
    "Knative has numbered the stable revision. Such a number is not in git: another cluster, or the same one after the "
    "service was made anew, counts differently, and traffic would go to some other version or nowhere. Name revisions "
    "(knative.revisionNames: hash in kservec.yaml), apply that build, and start the canary then.",
)
OTHER_SERVICE = Code(
    "knative/stable-revision-unknown",
    Severity.ERROR,
    "the stable revision is not one of this service",
    "The annotation kservec.dev/stable-revision names a revision, or several separated by commas, one for each "
    "component that has canaryTrafficPercent. The name of a revision is that of its component and ten hexadecimal "
    "digits: no build could have made one of another name.",
)
CANARY_RUNS = Code(
    "knative/canary-runs",
    Severity.WARNING,
    "a canary refers to a revision by name",
    "While a canary runs, part of the traffic goes to a revision that the tree names but does not contain. A cluster "
    "that has never seen it (a new one, or one that collected it as garbage) cannot bring the service up from it.",
)

CANARY_OF_ITSELF = Code(
    "knative/canary-of-itself",
    Severity.WARNING,
    "a canary that is the stable version",
    "The spec has canaryTrafficPercent, but makes the very revision that is the stable one: both shares of the traffic "
    "go to the same pods.",
)


def revision_name(service: str, template: Json) -> str:
    """The name of the revision that a template makes: it changes whenever anything in the template does."""
    import hashlib  # noqa: PLC0415 - loads OpenSSL, a fiftieth of a short run

    text = json.dumps(template, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return f"{service}-{hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]}"


def traffic(canary: CanaryIntent | None, stable: str, *, tagged: bool) -> list[Json]:
    """The shares of traffic: all to the latest revision, or what a canary leaves to the stable one.

    Args:
        canary: the share of the latest revision, if it has not everything.
        stable: the name of the stable revision.
        tagged: whether the latest revision has a host name of its own.
    """
    percent = WHOLE if canary is None else canary.percent
    latest = {"latestRevision": True, "percent": percent, **({"tag": "latest"} if tagged else {})}
    if percent >= WHOLE:
        return [latest]
    rest = {"revisionName": stable, "latestRevision": False, "percent": WHOLE - percent, "tag": PREVIOUS_TAG}
    return [latest, rest]


def stable_revision(unit: Unit, component: Component, canary: CanaryIntent, env: Env) -> str:
    """The revision that the canary's rest of the traffic goes to; empty if the canary takes everything.

    Raises:
        Reject: nothing names it, or it has no name that can be relied on.
    """
    if canary.percent >= WHOLE:
        return ""
    name = annotated(unit, component)
    if not name:
        previous = env.previous.get(ObjectRef(API_VERSION, KIND, unit.namespace, component.name))
        if previous is None:
            message = f"canaryTrafficPercent of {component.name}: nothing says which revision is the stable one"
            hint = (
                "name it in the annotation kservec.dev/stable-revision, or build with --previous DIR; "
                "apply a new service without canaryTrafficPercent first"
            )
            raise Reject(finding(unit, FIRST_CANARY, message, canary.origin.span(), hint))
        name = last_stable(previous)
    if not name or is_numbered(name):
        shown = f"revision {name}" if name else "the revision of the last build"
        message = f"canaryTrafficPercent of {component.name}: {shown} is numbered by Knative, and has no lasting name"
        hint = "name revisions (knative.revisionNames: hash in kservec.yaml), apply that, then start the canary"
        raise Reject(finding(unit, NUMBERED_REVISION, message, canary.origin.span(), hint))
    return name


def annotated(unit: Unit, component: Component) -> str:
    """The stable revision of a component that the service's annotation names; empty if there is no annotation.

    Raises:
        Reject: the annotation names no revision of this component.
    """
    text = unit.annotations.get(STABLE_REVISION, "")
    names = [name.strip() for name in text.split(",") if name.strip()]
    prefix = f"{component.name}-"
    own = [name for name in names if name.startswith(prefix)]
    if names and (reason := misnamed(own, prefix)):
        message = f"{STABLE_REVISION} names {', '.join(own or names)}, {reason}"
        at = ("metadata", "annotations", STABLE_REVISION)
        hint = f"write the name of the revision that serves now: {prefix} and ten hexadecimal digits"
        raise Reject(finding(unit, OTHER_SERVICE, message, at, hint))
    return next(iter(own), "")


def misnamed(own: list[str], prefix: str) -> str:
    """Why none of the names of a component's revisions is the stable one; empty if one is, or has a number at least."""
    if not own:
        return f"but no revision of {prefix.removesuffix('-')}"
    if len(own) > 1:
        return "of which one component has one"
    is_possible = is_numbered(own[0]) or is_digest(own[0].removeprefix(prefix))
    return "" if is_possible else "which no build could have made"


def last_stable(previous: Json) -> str:
    """The stable revision of the last build: the one that its canary ran beside, else the one that it made itself.

    Empty if there is none, or where somebody has put something else than a name: no schema has seen the old tree.
    """
    traffic = lookup(previous, ("spec", "traffic"))
    targets = [lookup(target, ("revisionName",)) for target in traffic] if isinstance(traffic, list) else []
    own = lookup(previous, ("spec", "template", "metadata", "name"))
    name = next((name for name in (*targets, own) if name), "")
    return name if isinstance(name, str) else ""
