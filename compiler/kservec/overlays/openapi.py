"""What kustomize has to know of KServe's kinds: which lists merge item by item, and which kinds have no namespace.

Kustomize replaces every list of a custom resource as a whole, and gives every custom resource a namespace, unless an
OpenAPI document tells it better. Such a document replaces kustomize's own knowledge, so that the built-in kinds are in
it, too. Only what leads to a keyed list is written. Made from the schemas that ship with kservec; knows no kind itself.

The definitions of custom resources say of hardly any list which field tells its items apart, not even of containers.
Where such a list has a name and items as in a pod, it gets the pod's keys.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from kservec.core.paths import KEY_FIELDS
from kservec.core.schemas.structure import LIST_KEYS

if TYPE_CHECKING:
    from kservec.core.paths import Json
    from kservec.core.schemas.schema import Kind, Schemas

_DEFINITION = len("#/$defs/")
_SHORTEST_SHARED = 60
_GVK = "x-kubernetes-group-version-kind"
_STRATEGY, _KEY, _LIST_TYPE = "x-kubernetes-patch-strategy", "x-kubernetes-patch-merge-key", "x-kubernetes-list-type"

POD_HOLDERS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("v1", "Pod"): ("spec",),
    ("v1", "PodTemplate"): ("template", "spec"),
    ("v1", "ReplicationController"): ("spec", "template", "spec"),
    ("apps/v1", "ReplicaSet"): ("spec", "template", "spec"),
    ("apps/v1", "StatefulSet"): ("spec", "template", "spec"),
    ("batch/v1", "CronJob"): ("spec", "jobTemplate", "spec", "template", "spec"),
}
"""Built-in kinds with pods for which no schema ships, and where their pods are: as in a Deployment."""
_POD_MODEL = ("apps/v1", "Deployment", ("spec", "template", "spec"))


@cache
def openapi_document(schemas: Schemas) -> Json:
    """The OpenAPI document for the `openapi.path` of a kustomization; made once for all overlays of a run.

    Kustomize: api/krusty/kustomizer.go, Run; kyaml/openapi/openapi.go, SetSchema.
    """
    shared = _Shared()
    kinds = {(kind.api_version, kind.kind): shared.skeleton(schemas.document(kind.api_version, kind.kind), kind.kind)
             for kind in schemas.kinds().values()}  # fmt: skip
    pod = shared.at(kinds[_POD_MODEL[:2]], _POD_MODEL[2])
    for holder, path in POD_HOLDERS.items():
        kinds.setdefault(holder, _nested(path, pod))
    definitions = {
        definition_name(*key): {**(shared.resolved(skeleton) or {}), _GVK: [group_version_kind(*key)]}
        for key, skeleton in kinds.items()
    }
    paths = dict(path_of(kind) for kind in schemas.kinds().values() if "." in kind.api_version)
    return {"definitions": {**shared.definitions, **definitions}, "paths": dict(sorted(paths.items()))}


def openapi_text(schemas: Schemas, own: Json = None) -> str:
    """The document as text, always the same; definitions and paths of a document of the user's own come over ours."""
    document = openapi_document(schemas)
    if isinstance(own, dict):
        added = {part: own[part] for part in document if isinstance(own.get(part), dict)}
        document = {part: {**known, **added.get(part, {})} for part, known in document.items()}
    return json.dumps(document, separators=(",", ":"), sort_keys=True) + "\n"


def definition_name(api_version: str, kind: str) -> str:
    """The name of a kind's definition: `io.k8s.` and the like play no part, so it is what people write."""
    return f"{api_version.replace('/', '.')}.{kind}"


def group_version_kind(api_version: str, kind: str) -> Json:
    """A kind as OpenAPI documents of Kubernetes name it."""
    group, _, version = api_version.rpartition("/")
    return {"group": group, "kind": kind, "version": version}


def path_of(kind: Kind) -> tuple[str, Json]:
    """Where an API server serves the objects of a kind, which tells whether they are in namespaces."""
    namespace = "namespaces/{namespace}/" if kind.is_namespaced else ""
    get = {_GVK: group_version_kind(kind.api_version, kind.kind), "responses": {}}
    return f"/apis/{kind.api_version}/{namespace}{kind.plural}/{{name}}", {"get": get}


def _nested(path: tuple[str, ...], skeleton: Json) -> Json:
    for step in reversed(path):
        skeleton = {"properties": {step: skeleton}, "type": "object"}
    return skeleton


class _Shared:
    """The parts of skeletons that are written once, by name. A part is named for the first field that has it."""

    def __init__(self) -> None:
        self.definitions: dict[str, Json] = {}
        self._names: dict[str, str] = {}
        self._taken: Counter[str] = Counter()
        self._known: dict[tuple[int, str], Json] = {}

    def skeleton(self, schema: Json, name: str) -> Json:
        """What is left of a self-contained schema; None if no list in it has keys."""
        return self._reduced(schema, schema.get("$defs", {}), name)

    def resolved(self, skeleton: Json) -> Json:
        """The part itself instead of a reference to it."""
        reference = (skeleton or {}).get("$ref")
        return self.definitions[reference.rpartition("/")[2]] if reference else skeleton

    def at(self, skeleton: Json, path: tuple[str, ...]) -> Json:
        """The part at a path of fields."""
        for step in path:
            skeleton = self.resolved(skeleton)["properties"][step]
        return skeleton

    def _reduced(self, schema: Json, definitions: Mapping[str, Json], name: str) -> Json:
        if not isinstance(schema, dict):
            return None
        if "$ref" in schema:
            target = definitions[schema["$ref"][_DEFINITION:]]
            if (id(target), name) not in self._known:
                self._known[id(target), name] = self._reduced(target, definitions, name)
            return self._known[id(target), name]
        below = {
            key: part
            for key, child in sorted(schema.get("properties", {}).items())
            if (part := self._reduced(child, definitions, key)) is not None
        }
        made: dict[str, Json] = {"properties": below, "type": "object"} if below else {}
        rest = self._reduced(schema.get("additionalProperties"), definitions, name)
        if rest is not None:
            made |= {"additionalProperties": rest, "type": "object"}
        made |= self._list(schema, definitions, name)
        return self._interned(made, name) if made else None

    def _list(self, schema: Json, definitions: Mapping[str, Json], name: str) -> dict[str, Json]:
        if not isinstance(schema.get("items"), dict):
            return {}
        items = self._reduced(schema["items"], definitions, f"{name}Item")
        keys = schema.get(LIST_KEYS) or keys_of(name, schema["items"], definitions)
        if not keys:
            return {} if items is None else {"items": items, "type": "array"}
        merged = {_STRATEGY: "merge", _KEY: keys[0], _LIST_TYPE: "map", LIST_KEYS: keys}
        return {"items": items or {"type": "object"}, "type": "array", **merged}

    def _interned(self, part: Json, name: str) -> Json:
        text = json.dumps(part, sort_keys=True)
        if len(text) < _SHORTEST_SHARED:
            return part
        if text not in self._names:
            self._taken[name] += 1
            self._names[text] = f"{name}.{self._taken[name]}"
            self.definitions[self._names[text]] = part
        return {"$ref": f"#/definitions/{self._names[text]}"}


def keys_of(name: str, items: Json, definitions: Mapping[str, Json]) -> list[str]:
    """The keys of a list that is called and made like one of a pod; none for others."""
    target = definitions[items["$ref"][_DEFINITION:]] if "$ref" in items else items
    key = KEY_FIELDS.get(name)
    return [key] if key is not None and key in target.get("properties", {}) else []
