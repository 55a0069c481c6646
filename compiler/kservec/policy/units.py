"""The judge of a run: the site of its objects, and for each unit what holds its objects against the policy."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kservec.core.paths import lookup
from kservec.core.pods.gpu_types import gpu_types
from kservec.core.policy import MODEL_FACTS
from kservec.policy.judging import Places, judged, severity_of
from kservec.policy.pod_security import POD_SECURITY
from kservec.policy.quotas import Bounds
from kservec.policy.scene import KNATIVE_GROUP, Scene, Site, pods_of
from kservec.policy.waivers import annotation_findings, waivers_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kservec.core.bundle import Manifest
    from kservec.core.diagnostics import Diagnostic, Span
    from kservec.core.policy import Policy, Waiver
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit
    from kservec.policy.judging import Judged
    from kservec.policy.pools import ModelWord

ENFORCE = "pod-security.kubernetes.io/enforce"
TELLING = 8
DEPTH_OF_POD = 4
"""Paths of this length lead to a pod, or to a list in it: what they come from is too much to point at."""
LEVELS = ("restricted", "baseline", "privileged")
ROUTES = frozenset({"HTTPRoute", "Ingress"})
VISIBILITY, LOCAL = "networking.knative.dev/visibility", "cluster-local"


class Judge:
    """What the objects of a run are held against: the policy, and what the cluster says of itself."""

    def __init__(self, env: Env, policy: Policy) -> None:
        cluster, platform = env.cluster, env.platform
        enforced = {name: labels.get(ENFORCE, "") for name, labels in cluster.namespaces.items()}
        self.policy = policy
        self.bounds = {
            namespace: Bounds(
                tuple(d for d in documents if d.value["kind"] == "ResourceQuota"),
                tuple(d for d in documents if d.value["kind"] == "LimitRange"),
            )
            for namespace, documents in cluster.bounds.items()
        }
        self.site = Site(
            policy=policy,
            plugs=env.plugs,
            kubernetes_version=platform.kubernetes_version,
            enforced={name: level for name, level in enforced.items() if level in LEVELS},
            expects_levels=severity_of(POD_SECURITY, policy) is not None,
            gpus=gpu_types(platform, None),
            bounded=frozenset(self.bounds),
            lock=env.additions.lock if env.additions is not None else None,
            node_pools=cluster.node_pools,
            queue_proxy=queue_proxy_of(env) if cluster.node_pools else {},
        )

    def bench(self, unit: Unit) -> Bench:
        """What judges the objects of a unit."""
        return Bench(self, unit)


def queue_proxy_of(env: Env) -> Mapping[str, int]:
    """What Knative adds to each of its pods."""
    from kservec.capacity.needs import queue_proxy  # noqa: PLC0415 - most clusters state no node pools

    return queue_proxy(env.platform.knative.get("config-deployment", {}))


class Bench:
    """What judges the objects of one unit."""

    def __init__(self, judge: Judge, unit: Unit) -> None:
        self.site = judge.site
        self.unit = unit
        self.exposed = is_exposed(unit)

    @cached_property
    def waivers(self) -> tuple[Waiver, ...]:
        """The waivers that the unit states itself."""
        return waivers_of(self.unit) if self.site.policy.annotations_waive else ()

    @cached_property
    def model(self) -> ModelWord | None:
        """What the unit states about its model; None if it states nothing."""
        if MODEL_FACTS not in (self.unit.spec.metadata.annotations or {}):
            return None
        from kservec.policy.pools import model_word  # noqa: PLC0415 - hardly any service states facts

        return model_word(self.unit)

    @property
    def findings(self) -> tuple[Diagnostic, ...]:
        """What is wrong with the waivers that the unit states, and with what it says about its model."""
        said = self.model.findings if self.model is not None else ()
        return (*annotation_findings(self.unit, allowed=self.site.policy.annotations_waive), *said)

    def judged(self, made: Manifest, text: str) -> Judged:
        """What the rules find in an object of the unit, located where its values come from."""
        scene = Scene(
            ref=made.ref,
            owner=self.unit.ref,
            body=made.body.value,
            pods=pods_of(made.ref, made.body.value),
            site=self.site,
            exposed=self.exposed,
            waivers=self.waivers,
            model_facts=self.model.facts if self.model is not None else None,
        )
        home = self.unit.source.span("metadata", "name")
        return judged(scene, text, Places(lambda path: self.near(made, path), lambda path: exact(made, path), home))

    def near(self, made: Manifest, path: Path) -> Span:
        """Where a value of an object was written, or what holds it in a container or volume; else the unit's name.

        A text that a pass put together is looked for in the user's document, as a whole.
        """
        if (span := exact(made, path)) is not None:
            return span
        document = self.unit.source.document
        if (at := place_of(document.value, made.body.get(*path))) is not None:
            return document.span(at)
        for end in range(len(path), min(len(path) - 1, DEPTH_OF_POD), -1):
            if (span := exact(made, path[:end])) is not None:
                return span
        found = made.body.span(path) if len(path) > DEPTH_OF_POD else None
        return found or self.unit.source.span("metadata", "name")


def exact(made: Manifest, path: Path) -> Span | None:
    """Where a value of an object was written; None if it, itself, was not."""
    found = made.body.origin(path)
    if found is None or found[0].doc is None:
        return None
    origin, rest = found
    document, at = origin.doc, (*origin.at, *rest)
    return document.span(at) if document is not None and lookup(document.value, at) is not None else None


def place_of(value: Json, text: Json, at: Path = ()) -> Path | None:
    """The first place in a document that holds a text, if that is long enough to tell something."""
    if not isinstance(text, str) or len(text) < TELLING:
        return None
    if isinstance(value, dict):
        parts: Iterable[tuple[str | int, Json]] = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    else:
        return at if value == text else None
    return next((found for key, part in parts if (found := place_of(part, text, (*at, key))) is not None), None)


def is_exposed(unit: Unit) -> bool:
    """Whether a route from outside the cluster leads to the pods of a unit."""
    for made in unit.bundle.manifests:
        labels = made.body.get("metadata", "labels") or {}
        if made.ref.kind in ROUTES or (made.ref.group == KNATIVE_GROUP and labels.get(VISIBILITY) != LOCAL):
            return True
    return False
