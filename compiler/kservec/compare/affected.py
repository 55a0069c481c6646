"""Which services changed documents concern, without compiling anything. Pure.

Rather too many than too few: what a platform's document means for a service only a build can tell. A document of a
namespace concerns the services there, any other one all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.compare.json_report import API_VERSION
from kservec.core.paths import lookup
from kservec.gitops.index import read_index
from kservec.report.json import identity
from kservec.report.words import json_text, plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kservec.compare.inputs import Altered, Described
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json

GROUP = "serving.kserve.io"
CACHES = frozenset({"LocalModelCache", "LocalModelNamespaceCache"})
UNIT_KINDS = CACHES | {"InferenceGraph", "InferenceService", "LLMInferenceService"}
"""Kinds that a build makes objects of."""
GRAPH, MODEL, SERVICE = "InferenceGraph", "TrainedModel", "InferenceService"
PARENT = ("spec", "inferenceService")

Name: TypeAlias = tuple[str, str, str]
"""Kind, namespace and name of a service."""


class Unit(NamedTuple):
    """A service that may be affected, and the changed files because of which it is."""

    ref: ObjectRef
    files: tuple[str, ...]

    @property
    def owner(self) -> str:
        """What the index calls it."""
        return f"{self.ref.namespace or '_cluster'}/{self.ref.kind}/{self.ref.name}"


class Reach(NamedTuple):
    """One environment that changed files concern: its services, and the files of its committed tree that are theirs."""

    name: str
    output: str
    units: tuple[Unit, ...]
    files: tuple[str, ...] = ()
    whole: bool = False


def affected_units(pairs: Sequence[Altered], known: Mapping[Name, Described]) -> tuple[Unit, ...]:
    """The services that changed documents concern.

    Args:
        pairs: the documents that differ.
        known: all services of the environment, before or after.
    """
    reasons: dict[Name, dict[str, None]] = {}
    for pair in pairs:
        for name in concerned(pair, known):
            reasons.setdefault(name, {}).update(dict.fromkeys(pair.files))
    for name, described in known.items():
        for called in services_of(name, described.document.value):
            if called in reasons:
                reasons.setdefault(name, {}).update(reasons[called])
    return tuple(Unit(known[name].ref, tuple(files)) for name, files in sorted(reasons.items()) if name in known)


def concerned(pair: Altered, known: Iterable[Name]) -> Iterator[Name]:
    """The services that one changed document concerns; those that graphs call come later."""
    ref = pair.ref
    if is_unit(ref):
        yield ref[1:]
    if ref.group == GROUP and ref.kind == MODEL:
        documents = (d.value for d in (pair.before, pair.after) if d is not None)
        yield from ((SERVICE, ref.namespace, str(lookup(value, PARENT))) for value in documents)
    elif not is_unit(ref) or ref.kind in CACHES:
        yield from (name for name in known if not ref.namespace or name[1] in (ref.namespace, ""))


def is_unit(ref: ObjectRef) -> bool:
    """Whether a build makes objects of a document."""
    return ref.group == GROUP and ref.kind in UNIT_KINDS


def services_of(name: Name, body: Json) -> Iterator[Name]:
    """The services that a graph calls by their names."""
    if name[0] != GRAPH:
        return
    nodes = lookup(body, ("spec", "nodes"))
    for node in nodes.values() if isinstance(nodes, dict) else ():
        steps = lookup(node, ("steps",))
        for step in steps if isinstance(steps, list) else ():
            if isinstance(step, dict) and isinstance(step.get("serviceName"), str):
                yield SERVICE, name[1], step["serviceName"]


def as_json(shown: str, commit: str, reaches: Sequence[Reach]) -> str:
    """What is affected as one document, for programs. Its schema is docs/schemas/affected.json."""
    environments = [
        {
            "name": reach.name,
            "output": reach.output,
            "all": reach.whole,
            "units": [{"object": identity(u.ref), "owner": u.owner, "because": list(u.files)} for u in reach.units],
            "files": list(reach.files),
        }
        for reach in reaches
    ]
    document = {
        "apiVersion": API_VERSION,
        "kind": "Affected",
        "base": {"ref": shown, "commit": commit},
        "environments": environments,
    }
    return json_text(document)


def as_lines(reaches: Sequence[Reach]) -> str:
    """What is affected as text: each environment, and its services with the files that concern them."""
    lines: list[str] = []
    for reach in reaches:
        lines.append(f"{reach.name}: {plural(len(reach.units), 'service')}{', all of them' if reach.whole else ''}")
        lines += [f"  {unit.owner}  because of {', '.join(unit.files)}" for unit in reach.units]
    return "".join(f"{line}\n" for line in lines)


def owned_paths(index: str, owners: Iterable[str]) -> tuple[str, ...]:
    """The files of a tree that some owners have, by its index."""
    wanted = frozenset(owners)
    entries = read_index(index)
    return tuple(sorted(path for path, several in entries.items() if any(entry.owner in wanted for entry in several)))
