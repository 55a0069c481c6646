"""Inventory: what is deployed, and how one object finds another: by name, by the labels of pods, by hosts.

Decides nothing about requests. Takes objects of any kind, for users' own manifests are deployed beside what is
compiled, and nobody has checked those.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.forecast import SCALER_KINDS, scalers_of
from kservec.compare.shapes import map_at
from kservec.core.paths import lookup
from kservec.core.pods.templates import TEMPLATES
from kservec.core.records import entity, evolve, fresh
from kservec.core.text.source import parse
from kservec.emit import dump
from kservec.gitops.rendered import GITOPS_FOLDER
from kservec.topology.names import CORE, KNATIVE, SERVICE, Name
from kservec.topology.routes import route_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kservec.compare.forecast import Scalers
    from kservec.core.diagnostics import ObjectRef, Span
    from kservec.core.tree import Json, Path, Tree
    from kservec.core.unit import Source, Unit
    from kservec.gitops.rendered import Rendered
    from kservec.topology.routes import Route


class Item(NamedTuple):
    """One deployed object: its value, the user's object that it is made of, and its tree if it was compiled."""

    ref: ObjectRef
    value: Json
    owner: ObjectRef
    body: Tree | None = None

    @property
    def name(self) -> Name:
        """What tells the object from all others."""
        return Name(self.ref.group, *self.ref[1:])

    def span(self, *path: str | int) -> Span | None:
        """Where the value at a path was written, if it was; of a value that patches changed it is not known."""
        if self.body is None or self.body.get(*path) != lookup(self.value, path):
            return None
        return self.body.span(path)


@entity
class Inventory:
    """All objects, and the ways in which they are found.

    `owned` are the objects of each of the user's, `labelled` the workloads by namespace and each label of their pods,
    `scalers` the bounds that autoscalers set, `autoscalers` the kind of the one of each workload by namespace and name.
    `devices` are the numbers of devices that claim templates ask for, by namespace. `sources` are the users' own
    objects, `routes` what routes say, `leading` the routes that lead to an object.
    """

    items: Mapping[Name, Item]
    owned: Mapping[ObjectRef, Sequence[Item]]
    labelled: Mapping[tuple[str, str, str], Sequence[Item]]
    scalers: Scalers
    autoscalers: Mapping[tuple[str, str], str]
    devices: Mapping[str, Mapping[str, int]]
    sources: Mapping[ObjectRef, Source]
    routes: Mapping[Name, Route] = fresh(factory=dict)
    leading: Mapping[Name, Sequence[Item]] = fresh(factory=dict)

    def service(self, namespace: str, name: str) -> Item | None:
        """The Service of a name, one of Knative's first, which makes one of the core group itself."""
        knative = self.items.get(Name(KNATIVE, SERVICE, namespace, name))
        return knative or self.items.get(Name(CORE, SERVICE, namespace, name))

    def at_host(self, host: str, namespace: str) -> Item | None:
        """The Service that a name in the cluster's DNS leads to, as pods of a namespace see it."""
        name, *rest = host.split(".")
        if rest[1:2] not in ([], ["svc"]):
            return None
        return self.service(rest[0] if rest else namespace, name)

    def selected(self, namespace: str, selector: Mapping[str, Json]) -> list[Item]:
        """The workloads whose pods a selector selects; an empty one selects none."""
        wanted = texts_of(selector).items()
        fewest = min((self.labelled.get((namespace, *pair), ()) for pair in wanted), key=len, default=())
        return [item for item in fewest if any(wanted <= labels.items() for labels in pod_labels(item))]

    def span_of(self, owner: ObjectRef, path: Path = ("metadata", "name")) -> Span | None:
        """Where a part of a user's object was written, if that is known."""
        source = self.sources.get(owner)
        return None if source is None else source.span(*path)


def items_of(unit: Unit) -> Iterator[Item]:
    """The objects of a unit that has gone through its passes."""
    return (Item(made.ref, made.body.value, unit.ref, made.body) for made in unit.bundle.manifests)


def rendered_items(objects: Iterable[Rendered], compiled: Iterable[Item], *, patched: bool = True) -> Iterator[Item]:
    """Objects as they are rendered, after patches and with plain manifests, but for those of Argo CD and Flux.

    Args:
        objects: the rendered objects.
        compiled: what was compiled, which tells where values were written.
        patched: whether patches may have changed what was compiled. If not it is taken as it is, for what else is added
            to rendered objects is no way of requests, and their text need not be read again.
    """
    known = {item.ref: item for item in compiled}
    for rendered in objects:
        item = known.get(rendered.ref)
        if item is not None and (not patched or dump(item.value) == rendered.text):
            yield item
        elif rendered.place.split("/")[0] != GITOPS_FOLDER:
            value = parse(rendered.text.encode(), "")[0][0].value
            yield Item(rendered.ref, value, rendered.owner, item.body if item is not None else None)


def inventory_of(items: Iterable[Item], sources: Mapping[ObjectRef, Source] | None = None) -> Inventory:
    """What is deployed, in the order of the objects' names.

    Args:
        items: the objects; of two with one name the first counts.
        sources: the user's objects that they are made of, for where those were written.
    """
    named: dict[Name, Item] = {}
    for item in items:
        named.setdefault(item.name, item)
    ordered = dict(sorted(named.items()))
    owned: dict[ObjectRef, list[Item]] = {}
    labelled: dict[tuple[str, str, str], list[Item]] = {}
    for item in ordered.values():
        owned.setdefault(item.owner, []).append(item)
        for pair in dict.fromkeys(pair for labels in pod_labels(item) for pair in labels.items()):
            labelled.setdefault((item.ref.namespace, *pair), []).append(item)
    bodies = [(item.ref, item.value) for item in ordered.values()]
    scalers = scalers_of(bodies)
    devices: dict[str, dict[str, int]] = {}
    for (namespace, claim), count in scalers.devices.items():
        devices.setdefault(namespace, {})[claim] = count
    inventory = Inventory(
        items=ordered,
        owned=owned,
        labelled=labelled,
        scalers=scalers,
        autoscalers=dict(autoscaled(bodies)),
        devices=devices,
        sources=sources or {},
    )
    read = ((name, route_of(item, inventory)) for name, item in ordered.items())
    routes = {name: route for name, route in read if route is not None}
    return evolve(inventory, routes=routes, leading=routes_to(routes, ordered))


def routes_to(routes: Mapping[Name, Route], items: Mapping[Name, Item]) -> dict[Name, list[Item]]:
    """The routes that lead to each object."""
    leading: dict[Name, list[Item]] = {}
    for name, route in routes.items():
        for target in route.targets:
            leading.setdefault(target, []).append(items[name])
    return leading


def autoscaled(bodies: Iterable[tuple[ObjectRef, Json]]) -> Iterator[tuple[tuple[str, str], str]]:
    """The workloads that have an autoscaler, by namespace and name, and the kind of that."""
    for ref, body in bodies:
        if (ref.group, ref.kind) in SCALER_KINDS:
            yield (ref.namespace, str(lookup(body, ("spec", "scaleTargetRef", "name")))), ref.kind


def templates(item: Item) -> Iterator[tuple[Path, Json]]:
    """The templates of pods in an object, and where they are."""
    for path in TEMPLATES.get((item.ref.group, item.ref.kind), ()):
        template = lookup(item.value, path)
        if isinstance(template, dict):
            yield path, template


def pod_labels(item: Item) -> Iterator[dict[str, str]]:
    """The labels of the pods of an object, for each of its templates."""
    return (texts_of(map_at(template, "metadata", "labels")) for _, template in templates(item))


def texts_of(labels: Mapping[str, Json]) -> dict[str, str]:
    """Labels as texts, which they are in all that an API server takes."""
    return {key: str(value) for key, value in labels.items()}
