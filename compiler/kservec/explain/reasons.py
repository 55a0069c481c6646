"""Reasons: which findings of a whole run concern one of its units, and which may be why there is no object of a name.

Decides that by what findings are about, and by what stands in documents that could not be read. Must not know how a run
comes by its findings; it finds none itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.bundle import OBJECT_TWICE
from kservec.core.llm.names import SCHEDULER_BINDING
from kservec.core.names import model_config_name
from kservec.core.spelling import closest
from kservec.core.text.yaml_reader import TEMPLATE
from kservec.documents.broken import KIND, MAKERS, documents_at, fits, mentions
from kservec.documents.entries import CLUSTER
from kservec.explain.naming import is_start
from kservec.frontend import COMPILED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from kservec.core.diagnostics import Diagnostic, Needed, ObjectRef
    from kservec.core.unit import Unit

LIST = "List"
GATEWAY = "gateway"
"""The kind of an object that services are reached by and none leads to, though it be called like one."""
NAME = r"""\bname["']?\s*:\s*["']?([\w.-]+)"""
SHORTENED = r"(.+?)-?[0-9a-f]{32}"
"""A name of which a hash has taken the place of the rest."""


class Asked(NamedTuple):
    """What may be meant by the name of an object that is not there; each part is empty where it is not said.

    `name` goes on with the field, since names may have dots, too.
    """

    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, text: str) -> Asked:
        """The parts of `[NAMESPACE/]KIND/NAME[.FIELD]`; of `KIND/NAMESPACE/NAME`, and without a kind, as well.

        Of two parts the kind is that which begins with a capital or is a service's, else the second.
        """
        first, *rest = text.split("/")
        if not rest:
            return cls("", "", text)
        if len(rest) == 1 or re.search(r"[.\[]", rest[0]):
            return cls(first, "", "/".join(rest))
        kind, namespace = (first, rest[0]) if first[:1].isupper() or is_service(first) else (rest[0], first)
        return cls(kind, namespace, "/".join(rest[1:]))

    def may_come_of(self, name: str) -> bool:
        """Whether the object may be a service of a name, or be made of one; nothing speaks against one without name.

        Objects are called like their service, with a dash and more behind it. Only a few have something in front.
        """
        if not name:
            return True
        if not self.is_made:
            return False
        if is_start(name, self.name):
            return True
        if not self.kind or is_service(self.kind):
            return False
        shortened = re.match(SHORTENED, self.name)
        return (
            self.name.casefold().startswith(f"{name}-".casefold())
            or is_start(model_config_name(name), self.name)
            or re.match(rf"[\w-]*-{re.escape(name)}{SCHEDULER_BINDING}(?![\w-])", self.name) is not None
            or (shortened is not None and name.startswith(shortened[1]))
        )

    def may_be(self, ref: ObjectRef) -> bool:
        """Whether the object may be a service that was refused, its kind being misspelt perhaps, or come of it."""
        if self.namespace and ref.namespace and self.namespace != ref.namespace:
            return False
        meant = service_kind(ref.kind)
        wanted = service_kind(self.kind) if is_service(self.kind) else meant
        return bool(meant) and meant == wanted and self.may_come_of(ref.name)

    def among(self, refs: Iterable[ObjectRef]) -> frozenset[ObjectRef]:
        """The services that the object may be or come of: where some have just its name, those alone."""
        near = frozenset(ref for ref in refs if self.may_be(ref))
        return frozenset(ref for ref in near if is_start(ref.name, self.name)) or near

    @property
    def is_made(self) -> bool:
        """Whether services lead to objects of the kind."""
        return self.kind.casefold() != GATEWAY

    def may_stand_in(self, text: str) -> bool:
        """Whether the object may stand in a document that could not be read, or come of it.

        Of an empty text nothing is known, and what a template writes has no names yet.
        """
        kinds, names = re.findall(KIND, text), re.findall(NAME, text)
        wanted = service_kind(self.kind) if is_service(self.kind) else ""
        if kinds and not any(k == LIST or ((s := service_kind(k)) and wanted in ("", s)) for k in kinds):
            return False
        return not names or any(map(self.may_come_of, names))


def is_service(kind: str) -> bool:
    """Whether a kind, in any case, is one of those that are compiled."""
    return kind.casefold() in {known.casefold() for known in COMPILED}


def service_kind(kind: str) -> str:
    """The kind that is compiled and that a word means; an empty text if it means none."""
    return kind if kind in COMPILED else closest(kind, COMPILED) or ""


def concerning(
    unit: Unit,
    own: Sequence[Diagnostic],
    found: Sequence[Diagnostic],
    texts: Mapping[str, str],
    rests_on: Collection[ObjectRef] = (),
) -> tuple[Diagnostic, ...]:
    """The findings of a run that concern one of its units, in their order.

    What the unit lacks because a document that declares it is broken is said of that document alone: then it is that.

    Args:
        unit: the unit.
        own: what its passes found, as it would be shown, and what was found in its objects later.
        found: the findings of the run.
        texts: those of the files in which something could not be read.
        rests_on: the runtimes that the unit rests on. What is wrong with them is wrong with it.
    """
    said = set(map(told_apart, own))
    lacks = [needed for d in own if d.is_error and d not in found for needed in d.rests_on]
    return tuple(
        d
        for d in found
        if is_about(d, unit)
        or d.subject in rests_on
        or told_apart(d) in said
        or any(may_declare(d, needed, texts) for needed in lacks)
    )


def told_apart(found: Diagnostic) -> object:
    """What tells a finding from others; of those that are shown once, wherever they are, it is what they say."""
    return (found.code.slug, found.message) if found.once else found


def is_about(found: Diagnostic, unit: Unit) -> bool:
    """Whether a finding is about a unit: it says so, or it says nothing and is about a place in the unit's document.

    What is about an object that is made of the unit, such as what patches do to it, is about the unit. Where two lead
    to one object, either is at fault.
    """
    if found.subject == unit.ref or any(found.subject == made.ref for made in unit.bundle.manifests):
        return True
    places = found.spans if found.code is OBJECT_TWICE or found.subject is None else ()
    whole = unit.source.document.span()
    return any(place.line and place.file == whole.file and whole[1:3] <= place[1:3] < whole[3:5] for place in places)


def may_declare(found: Diagnostic, needed: Needed, texts: Mapping[str, str]) -> bool:
    """Whether an error is about a document that may declare an object which something needs."""
    if not found.is_error:
        return False
    if found.subject is None:
        return any(mentions(text, needed) for text in texts_of(found, texts))
    ref = found.subject
    return ref.kind == CLUSTER or fits((MAKERS.get(ref.kind, ref.kind), ref.namespace, ref.name), needed)


def reasons(
    asked: Asked, near: Collection[ObjectRef], found: Sequence[Diagnostic], texts: Mapping[str, str]
) -> tuple[Diagnostic, ...]:
    """The errors of a run that may be why there is no object of a name, in their order.

    Args:
        asked: what the object is called.
        near: the services that it may be or come of.
        found: the findings of the run.
        texts: those of the files in which something could not be read.
    """
    return tuple(d for d in found if d.is_error and may_hide(d, asked, near, texts))


def may_hide(found: Diagnostic, asked: Asked, near: Collection[ObjectRef], texts: Mapping[str, str]) -> bool:
    """Whether an error is about a service that an object may be or come of, or about a text that may hold that."""
    if found.subject is not None:
        return found.subject in near
    return any(map(asked.may_stand_in, texts_of(found, texts)))


def texts_of(found: Diagnostic, texts: Mapping[str, str]) -> Iterator[str]:
    """The documents that a finding is about; an empty text where there is none to look into."""
    if found.span is None or not (text := texts.get(found.span.file, "")):
        yield ""
    else:
        yield from documents_at(text, {0 if found.code is TEMPLATE else found.span.line})
