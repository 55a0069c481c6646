"""Schemas: whether a document or an object has the structure of its kind, and what its missing fields default to.

Decides validity by the JSON Schemas that ship with kservec, and where in the input a fault is reported. Must not read
files (it is given a function that does) and must not know what any field means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cached_property
from operator import itemgetter
from types import CodeType
from typing import TYPE_CHECKING, NamedTuple

from jsonschema_rs import Draft202012Validator, RegexOptions

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.quantity import with_strict_quantities
from kservec.core.records import entity, fresh
from kservec.core.schemas.faults import Fault, Subject, field_path
from kservec.core.schemas.object_meta import PLAIN_OBJECT, metadata_faults
from kservec.core.schemas.stored_form import Store, as_it_is, is_due, storing
from kservec.core.schemas.structure import (
    LIST_KEYS,
    Plan,
    Repeat,
    bundle,
    fill,
    names_of_fields,
    plan_of,
    repeats,
    without_nulls,
)
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.text.document import Document
    from kservec.core.tree import Json, Path

UNKNOWN_KIND = Code(
    "schema/unknown-kind",
    Severity.ERROR,
    "an apiVersion and kind that kservec does not know",
    "No schema ships for this pair. It may be misspelt, a version that is no longer served, or a kind that plays no "
    "part in KServe.",
)

INDEX = "index.json"
TYPES = "types.json"
_QUOTE = '"'
_KSERVE = "serving.kserve.io/"
_RBAC = "rbac.authorization.k8s.io/"


class Kind(NamedTuple):
    """One kind that a schema ships for. `file` is its path below the schemas' folder."""

    api_version: str
    kind: str
    plural: str
    scope: str
    file: str

    @property
    def is_namespaced(self) -> bool:
        """Whether its objects live in a namespace."""
        return self.scope == "Namespaced"


class ToldApart:
    """Validator of `x-kubernetes-list-map-keys`: the items of a list are surely told apart by their keys.

    A list in which a key is missing does not pass: it may have a default.
    """

    def __init__(self, schema: Json, keys: list[str], path: list[str | int]) -> None:
        del schema, path
        self.key = itemgetter(*keys)

    def validate(self, items: Json) -> None:
        """Look at a list.

        Raises:
            LookupError, TypeError: a key is missing, or is no text or number.
            ValueError: two items have the same keys.
        """
        if len(items) > 1 and len(set(map(self.key, items))) != len(items):
            raise ValueError("two items have the same keys")


@entity
class Compiled:
    """The schema of a kind. What is made from it is made when it is first asked for."""

    schema: Json

    @cached_property
    def strict(self) -> Json:
        """The schema by which objects are judged: no patterns of quantities that take what no API server can read."""
        return {**self.schema, "$defs": with_strict_quantities(self.schema.get("$defs", {}))}

    @cached_property
    def plain(self) -> Draft202012Validator:
        """Tells objects of the kind that have no fault. It may miss some, such as those with odd metadata."""
        judged = {**self.strict, "allOf": [*self.strict.get("allOf", ()), PLAIN_OBJECT]}
        return Draft202012Validator(
            judged,
            validate_formats=True,
            pattern_options=RegexOptions(),
            keywords={} if self.takes_nulls else {LIST_KEYS: ToldApart},
        )

    @cached_property
    def validator(self) -> Draft202012Validator:
        """The validator of the kind."""
        return Draft202012Validator(self.strict, validate_formats=True, pattern_options=RegexOptions())

    @cached_property
    def plan(self) -> Plan | None:
        """Where the kind has defaults and keyed lists."""
        return plan_of(self.schema)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of all fields that the kind has anywhere."""
        return frozenset(names_of_fields(self.schema))

    @cached_property
    def takes_nulls(self) -> bool:
        """Whether it is a built-in kind, for which null is the same as missing."""
        return bool(self.schema.get("x-kubernetes-nulls") == "absent")


@entity
class Schemas:
    """The schemas that ship with kservec, each loaded and compiled when it is first asked for.

    `read` gives the bytes of a file below the schemas' folder (`input/types.json`); it is called once per file.
    What it returns must not change while this object lives: answers are kept.
    """

    read: Callable[[str], bytes]
    _kinds: dict[tuple[str, str], Kind] = fresh(factory=dict)
    _types: dict[str, Json] = fresh(factory=dict)
    _compiled: dict[tuple[str, str], Compiled] = fresh(factory=dict)
    _written: dict[tuple[str, str], Store] = fresh(factory=dict)

    def kinds(self) -> dict[tuple[str, str], Kind]:
        """Every kind, by (apiVersion, kind), in that order."""
        if not self._kinds:
            for row in json.loads(self.read(INDEX))["kinds"]:
                kind = Kind(row["apiVersion"], row["kind"], row["plural"], row["scope"], row["file"])
                self._kinds[kind.api_version, kind.kind] = kind
        return self._kinds

    def knows(self, api_version: str, kind: str) -> bool:
        """Whether there is a schema for this kind."""
        return (api_version, kind) in self.kinds()

    def is_builtin(self, api_version: str, kind: str) -> bool:
        """Whether a kind is Kubernetes' own, so that null and missing are the same.

        Raises:
            KeyError: there is no schema for this kind.
        """
        return self._compile(api_version, kind).takes_nulls

    def names(self) -> list[str]:
        """Every kind as `group/version/Kind`, in that order; `version/Kind` for the core group."""
        return [f"{api_version}/{kind}" for api_version, kind in self.kinds()]

    def bundled(self, name: str) -> Json | None:
        """The self-contained schema of `Kind` or `group/version/Kind`; None if there is no such kind.

        Of several kinds of one name: the one that kservec reads, else the built-in one, else the most stable version.
        """
        api_version, _, kind = name.rpartition("/")
        found = [
            known for known in self.kinds().values() if kind == known.kind and api_version in ("", known.api_version)
        ]
        best = min(found, key=_preference, default=None)
        return self.document(best.api_version, best.kind) if best else None

    def document(self, api_version: str, kind: str) -> Json:
        """The schema of a kind, with everything that it refers to: one self-contained JSON Schema 2020-12 document.

        Raises:
            KeyError: there is no schema for this kind.
        """
        return self._compile(api_version, kind).schema

    def check(self, doc: Document) -> tuple[Diagnostic, ...]:
        """Everything that is wrong with the structure of one document, located, in the order of the text.

        A document whose apiVersion and kind have no schema gets one finding that says so.
        """
        value = doc.value
        faults = self._identity_faults(value) if isinstance(value, dict) else [_no_mapping()]
        if not faults:
            faults = self.faults(value, value["apiVersion"], value["kind"])
        if not faults:
            return ()
        return tuple(sorted((_located(fault, doc) for fault in faults), key=lambda found: found.sort_key))

    def has_anywhere(self, name: str, api_version: str, kind: str) -> bool:
        """Whether a field of a name stands anywhere in a kind.

        Raises:
            KeyError: there is no schema for this kind.
        """
        return name in self._compile(api_version, kind).names

    def with_defaults(self, value: Json, api_version: str, kind: str) -> Json:
        """The object with the defaults that the schema of its kind states; `value` is not changed, but may be shared.

        Raises:
            KeyError: there is no schema for this kind.
        """
        return fill(value, self._compile(api_version, kind).plan)

    def as_stored(self, value: Json, api_version: str, kind: str) -> Json:
        """An emitted object as an API server stores it; it is returned as it is if its kind is unknown.

        Custom resources get all defaults, since their lists are compared as a whole: what a cluster fills in would be a
        difference for ever. `replicas` stays out, for where it is missing an autoscaler owns it. Built-in kinds only
        get the protocol of a port, which is part of what tells ports apart. Quantities are canonical everywhere.
        """
        key = (api_version, kind)
        store = self._written.get(key)
        if store is None:
            store = self._written[key] = self._storing(*key)
        return store(value)

    def fits(self, value: Json, api_version: str, kind: str) -> bool:
        """Whether `output_errors` surely finds nothing in an emitted object, told as quickly as can be.

        Raises:
            KeyError: there is no schema for this kind.
        """
        return self._compile(api_version, kind).plain.is_valid(value)

    def output_errors(self, value: Json, api_version: str, kind: str) -> list[tuple[Path, str]]:
        """What is wrong with the structure of an emitted object: (path, message), ordered by path.

        `metadata` is checked too. Repeated keys in lists count for custom resources only; see `repeated_items`.

        Raises:
            KeyError: there is no schema for this kind.
        """
        return [(fault.path, fault.message) for fault in self.output_faults(value, api_version, kind)]

    def output_faults(self, value: Json, api_version: str, kind: str) -> list[Fault]:
        """What is wrong with the structure of an emitted object, ordered by path.

        Raises:
            KeyError: there is no schema for this kind.
        """
        return sorted(self.faults(value, api_version, kind), key=lambda fault: (field_path(fault.path), fault.message))

    def repeated_items(self, value: Json, api_version: str, kind: str) -> list[Repeat]:
        """Items of keyed lists with the key of an earlier item, in the order of the value.

        Server-side apply refuses them in every kind. The API server itself refuses them in custom resources, but
        accepts some in built-in kinds (a second environment variable of one name).

        Raises:
            KeyError: there is no schema for this kind.
        """
        return [*repeats(value, self._compile(api_version, kind).plan)]

    def faults(self, value: Json, api_version: str, kind: str) -> list[Fault]:
        """What is wrong with the structure of a value, which is taken for one of a kind, in no order.

        Raises:
            KeyError: there is no schema for this kind.
        """
        if self.fits(value, api_version, kind):
            return []
        from kservec.core.schemas.field_faults import faults_of, repeat_faults  # noqa: PLC0415 - most have none

        compiled = self._compile(api_version, kind)
        metadata = value.get("metadata")
        faults = [] if compiled.takes_nulls else repeat_faults(repeats(value, compiled.plan))
        own = kind if api_version.startswith(_KSERVE) else ""
        faults += metadata_faults(metadata or {}, kind=own, takes_any_name=api_version.startswith(_RBAC))
        if compiled.validator.is_valid(value):
            return faults
        # Defaults and nulls that count as missing may be all that is wrong, so they are seen to before judging.
        due = fill(without_nulls(value) if compiled.takes_nulls else value, compiled.plan)
        subject = Subject(compiled.schema, value, quotable=kind != "Secret")
        return faults + faults_of(compiled.validator.iter_errors(due), subject)

    def _identity_faults(self, value: dict[str, Json]) -> list[Fault]:
        api_version, kind = value.get("apiVersion"), value.get("kind")
        if isinstance(api_version, str) and isinstance(kind, str) and self.knows(api_version, kind):
            return []
        return [_unknown_kind(api_version, kind, self.kinds())]

    def _storing(self, api_version: str, kind: str) -> Store:
        compiled = self._compile(api_version, kind) if self.knows(api_version, kind) else None
        wanted = _is_protocol if compiled and compiled.takes_nulls else _is_fixed
        plan = plan_of(compiled.schema, wanted) if compiled else None
        return storing(plan) if plan is not None and is_due(plan) else as_it_is

    def _compile(self, api_version: str, kind: str) -> Compiled:
        key = (api_version, kind)
        compiled = self._compiled.get(key)
        if compiled is None:
            compiled = self._compiled[key] = self._load(self.kinds()[key].file)
        return compiled

    def _load(self, file: str) -> Compiled:
        folder = file.partition("/")[0]
        if folder not in self._types:
            self._types[folder] = json.loads(self.read(f"{folder}/{TYPES}"))["$defs"]
        text = self.read(file).replace(b'"types.json#/', b'"#/')
        return Compiled(schema=bundle(json.loads(text), self._types[folder]))


ASKED_BACK: frozenset[CodeType] = frozenset(asking.__code__ for asking in (vars(Compiled)["plain"].func, Schemas.fits))
"""Code that hands over to native code which asks back: it would take an exception from outside for an answer."""


def _is_protocol(field_name: str) -> bool:
    return field_name == "protocol"


def _is_fixed(field_name: str) -> bool:
    return field_name != "replicas"


def _preference(kind: Kind) -> tuple[bool, bool, int, list[int], str]:
    """Sort key: input before output, built-in first, then v1 before v1beta1 before v1alpha2 before v1alpha1."""
    version = kind.api_version.rpartition("/")[2]
    numbers = [-int(digits) for digits in re.findall(r"\d+", version)]
    stage = 1 if "beta" in version else 2 if "alpha" in version else 0
    return (not kind.file.startswith("input/"), "/" in kind.api_version, stage, numbers, kind.api_version)


def _no_mapping() -> Fault:
    return Fault(code=UNKNOWN_KIND, path=(), message="the document is no mapping, so it has no apiVersion and kind")


def _unknown_kind(api_version: Json, kind: Json, kinds: dict[tuple[str, str], Kind]) -> Fault:
    for name, text in (("apiVersion", api_version), ("kind", kind)):
        if not isinstance(text, str) or not text:
            return Fault(code=UNKNOWN_KIND, path=(), message=f"{name} is missing", help=f"add {name}", at_key=True)
    versions = sorted(version for version, known in kinds if known == kind)
    if versions:
        message = f"there is no {kind} in {api_version}"
        hint = f"{kind} is in {' and '.join(versions)}"
        return Fault(code=UNKNOWN_KIND, path=("apiVersion",), message=message, label="no such version", help=hint)
    near = closest(kind, {known for version, known in kinds if version == api_version} or {known for _, known in kinds})
    message = f"unknown kind {kind} in {api_version}"
    return Fault(
        code=UNKNOWN_KIND,
        path=("kind",),
        message=message,
        label="unknown kind",
        help=f"did you mean {near}?" if near else "",
    )


def _located(fault: Fault, doc: Document) -> Diagnostic:
    return Diagnostic(
        code=fault.code,
        message=fault.message,
        span=_span(doc, fault.path, at_key=fault.at_key),
        help=written_help(fault, doc),
        label=fault.label,
        related=tuple((doc.span(path), text) for path, text in fault.related),
    )


def written_help(fault: Fault, doc: Document) -> str:
    """The help of a fault; what is to be put in quotes is the text that was written, such as n."""
    start, quote, rest = fault.help.partition('quotes: "')
    text = doc.plain(fault.path) if quote else ""
    return f'{start}{quote}{text}"{rest.partition(_QUOTE)[2]}' if text else fault.help


def _span(doc: Document, path: Path, *, at_key: bool) -> Span:
    return doc.key_span(path) if at_key and path else doc.span(path)
