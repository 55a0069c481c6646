"""Placeholders: the templates that KServe runs over containers, domain names and paths.

Decides what a template sees (an object's metadata, or a few named values) and how its output is read back. Must not
know which container or template it is, nor what is done with the result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from kservec.core.golang.encoding import encode, quote
from kservec.core.golang.formatting import GoValue, NilPointer, Struct, Unknown
from kservec.core.golang.template import HTML, TEXT, Options, render
from kservec.core.golang.template_syntax import Reach, TemplateError
from kservec.core.patterns import Pattern
from kservec.core.tree import Json, Path

__all__ = [
    "TemplateError",
    "fill_container",
    "fill_metadata",
    "has_placeholder",
    "missing_values",
    "object_meta",
    "render_container",
    "render_text",
    "with_names",
]

_SERVER_FIELDS: Final = ("CreationTimestamp", "Finalizers", "Generation", "ManagedFields", "ResourceVersion", "UID")
"""Metadata that only the API server and controllers set."""

_CONTAINER_ORDER: Final = {
    name: i
    for i, name in enumerate(("name", "image", "command", "args", "workingDir", "ports", "envFrom", "env", "resources"))
}
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_AS_WRITTEN: Final = Options(no_value="")
_asked: Final = Pattern(
    r"""\{\{-?\s*(?:\.(Labels|Annotations)\.(\w+)|index\s+\.(Labels|Annotations)\s+(?:"([^"]*)"|`([^`]*)`))\s*-?\}\}"""
)
find_metadata: Final = Pattern(
    r"\{\{-?\s*(?:index\s+)?\.(?:(?:Name|Namespace)\b|(?:Labels|Annotations)\b)[^{}]*\}\}"
).search
"""Finds a placeholder for the metadata in a text."""

_find_name: Final = re.compile(r"(?<!\{)\{\{ *\.(Name|Namespace) *\}\}")


def fill_container(container: Json, metadata: Json) -> Json:
    """A container with its placeholders filled in, text by text; the same value if it has none.

    Values come out as they are written, quotes may stand inside an action, and a missing label is empty. KServe
    executes the container's JSON as one html/template instead, where quotes break actions and values come out as HTML.
    Only a block that reaches over several texts is left to that, which can do it.

    Args:
        container: a container as plain JSON.
        metadata: `metadata` of the InferenceService.

    Raises:
        TemplateError: a template is wrong. `where` is the path of its text in the container, `offset` counts there.
    """
    filled, has_others = with_names(container, metadata)
    if not has_others:
        return filled
    try:
        return _filled(filled, object_meta(metadata), ())
    except TemplateError as error:
        alone = error
    try:
        return render_container(container, metadata)
    except TemplateError:
        raise alone from None


def every_error(container: Json, metadata: Json, first: TemplateError) -> list[TemplateError]:
    """What is wrong with the texts of a container that cannot be filled in.

    That is the `first` alone where a block may reach over several texts, for some may then be good together.
    """
    data = object_meta(metadata)
    found: list[TemplateError] = []
    for path, text in _texts(container, ()):
        try:
            _filled(text, data, path)
        except TemplateError as error:
            found.append(error)
    is_each_alone = all(error.reach is Reach.WITHIN for error in found)
    return found if is_each_alone and first.where in [error.where for error in found] else [first]


def _filled(value: Json, data: Struct, at: Path) -> Json:
    if isinstance(value, str):
        try:
            return render(value, data, _AS_WRITTEN) if "{{" in value else value
        except TemplateError as error:
            unsupported, reach = error.unsupported, error.reach
            raise TemplateError(error.message, error.offset, at, unsupported=unsupported, reach=reach) from None
    if isinstance(value, dict):
        return {_filled(name, data, at): _filled(item, data, (*at, name)) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, data, (*at, i)) for i, item in enumerate(value)]
    return value


def fill_metadata(value: Json, metadata: Json) -> Json:
    """A value whose texts have the metadata that they ask for; the same value if none does.

    For containers with templates of their own: a text that does not name the metadata, or also holds what is no
    template of KServe's, stays as it is.
    """
    if not has_placeholder(value):
        return value
    data = object_meta(metadata)

    def filled(item: Json) -> Json:
        if isinstance(item, str) and find_metadata(item):
            try:
                return render(item, data, _AS_WRITTEN)
            except TemplateError:
                return item
        if isinstance(item, dict):
            return {name: filled(inner) for name, inner in item.items()}
        return [filled(inner) for inner in item] if isinstance(item, list) else item

    return filled(value)


def missing_values(container: Json, metadata: Json) -> Iterator[tuple[Path, str]]:
    """The path of each text that asks for a label or annotation which the metadata lacks, and what it asks for."""
    for path, text in _texts(container, ()):
        for found in _asked.finditer(text):
            kind, key = (found[1], found[2]) if found[1] else (found[3], found[4] or found[5] or "")
            if key not in (metadata.get(kind.lower()) or {}):
                yield path, f"{kind.lower().removesuffix('s')} {key}"


def render_container(container: Json, metadata: Json) -> Json:
    """Replace the placeholders of a container as KServe does; the same value if it has none.

    The container's JSON is executed as an html/template over the object's metadata and read back, which has
    consequences that users of KServe rely on or run into: `+ < > & ' "` in a value come out as HTML entities, a
    backslash in a value starts a JSON escape, a line break breaks the JSON, double quotes inside an action break the
    action (backquotes work), and a missing label is empty.

    Args:
        container: a container as plain JSON.
        metadata: `metadata` of the InferenceService.

    Raises:
        TemplateError: the template or its output is wrong. `where` is the path of the string in the container, as
            far as one string is to blame; `offset` counts in its JSON.

    Source: KServe .../inferenceservice/utils/utils.go, ReplacePlaceholders.
    """
    filled, has_others = with_names(container, metadata)
    return _executed(container, metadata) if has_others else filled


class Named(NamedTuple):
    """A container whose placeholders for name and namespace are filled in, and whether there are any others in it."""

    value: Json
    has_others: bool


def with_names(container: Json, metadata: Json, plain: Mapping[str, Json] = MappingProxyType({})) -> Named:
    """The container with the name and namespace for the placeholders that only ask for them; the same if it has none.

    Nearly all do, in every service. Of names a template changes nothing, so no template has to be executed for them.
    A field that has the very value that it has in `plain` is known to hold no placeholder.
    """
    left: list[str] = []
    asked = {name: value for name, value in container.items() if plain.get(name) is not value} if plain else container
    filled = _named(asked, metadata, left)
    return Named(container if filled is asked else {**container, **filled}, bool(left))


def _named(value: Json, metadata: Json, left: list[str]) -> Json:
    """`with_names` of a map or list. Texts with other placeholders, keys too, are added to `left`."""
    is_map = value.__class__ is dict
    changed: dict[Json, Json] = {}
    items: Iterable[tuple[Json, Json]] = value.items() if is_map else enumerate(value)
    for step, item in items:
        kind = item.__class__
        if is_map and "{{" in step:
            left.append(step)
        if kind is str:
            if "{{" in item:
                changed[step] = _named_text(item, metadata, left)
        elif (kind is dict or kind is list) and (filled := _named(item, metadata, left)) is not item:
            changed[step] = filled
    if not changed:
        return value
    return {**value, **changed} if is_map else [changed.get(i, item) for i, item in enumerate(value)]


def _named_text(text: str, metadata: Json, left: list[str]) -> str:
    filled = _as_format(text) % {"Name": metadata.get("name", ""), "Namespace": metadata.get("namespace", "")}
    if "{{" in filled:
        left.append(filled)
    return filled


@lru_cache(maxsize=1024)
def _as_format(text: str) -> str:
    """The text in Python's own format, whose values are the name and the namespace: services have texts in common."""
    return _find_name.sub(r"%(\1)s", text.replace("%", "%%"))


def _executed(container: Json, metadata: Json) -> Json:
    names = sorted(container, key=lambda name: (_CONTAINER_ORDER.get(name, len(_CONTAINER_ORDER)), name))
    text = "{" + ",".join(f"{quote(name)}:{encode(container[name])}" for name in names) + "}"
    data = object_meta(metadata)
    try:
        output = render(text, data, HTML)
    except TemplateError as error:
        raise _located(error, container, names) from None
    rendered = _decoded(output)
    if rendered is None:
        raise TemplateError(
            "what the placeholders give is no JSON: a value holds a line break or a backslash, or a block is torn",
            where=_culprit(container, data),
        )
    if rendered.keys() != container.keys():
        # KServe decodes into the container it has, so what a block took away comes back with its placeholders.
        raise TemplateError("a template block reaches over several fields of the container", unsupported=True)
    return rendered


def render_text(template: str, fields: Mapping[str, Json]) -> str:
    """Execute a domain or path template. A missing label gives `<no value>`, as KServe's text/template does.

    Args:
        template: the text, such as `{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}`.
        fields: what it may name: `Name`, `Namespace`...

    Raises:
        TemplateError: it is no template, or names something else.

    Source: KServe .../reconcilers/ingress/domain.go and path.go.
    """
    return render(template, Struct("template values", fields), TEXT) if "{{" in template else template


def has_placeholder(value: Json) -> bool:
    """Whether any string in the value, keys too, opens a template action."""
    # Only a text brings two braces in a row, for keys are texts and no map begins with a map.
    return "{{" in repr(value)


def object_meta(metadata: Json) -> Struct:
    """An object's metadata as Go sees it. What only a cluster knows is refused when a template asks for it."""
    owners = metadata.get("ownerReferences")
    fields: dict[str, GoValue] = {
        name: Unknown(f"metadata field {name} is known only in a running cluster") for name in _SERVER_FIELDS
    }
    fields |= {
        "Name": metadata.get("name", ""),
        "GenerateName": metadata.get("generateName", ""),
        "Namespace": metadata.get("namespace", ""),
        "SelfLink": "",
        "DeletionTimestamp": NilPointer("v1.Time"),
        "DeletionGracePeriodSeconds": NilPointer("int64"),
        "Labels": metadata.get("labels") or {},
        "Annotations": metadata.get("annotations") or {},
        "OwnerReferences": Unknown("owner references are not supported in placeholders") if owners else (),
    }
    return Struct("v1.ObjectMeta", fields)


def _decoded(text: str) -> Json:
    """The map that a JSON text stands for; None if it is none. Lone surrogates become U+FFFD, as in Go."""
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if "\\u" in text:
        value = json.loads(_LONE_SURROGATE.sub("\ufffd", json.dumps(value, ensure_ascii=False)))
    return value if isinstance(value, dict) else None


def _located(error: TemplateError, container: Json, names: list[str]) -> TemplateError:
    """The same error with the path of the string in which it happened, and the offset there."""
    at = 1
    for name in names:
        at += len(quote(name)) + 1
        for path, start, size in _strings(container[name], (name,), at):
            if start <= error.offset < start + size:
                return TemplateError(error.message, error.offset - start, path, unsupported=error.unsupported)
        at += len(encode(container[name])) + 1
    return error


def _strings(value: Json, path: Path, at: int) -> Iterator[tuple[Path, int, int]]:
    """Path, start and length of each string in the JSON of `value`, which itself starts at `at`."""
    if isinstance(value, str):
        yield path, at, len(quote(value))
    elif isinstance(value, dict):
        for name in sorted(value):
            at += len(quote(name)) + 2
            yield from _strings(value[name], (*path, name), at)
            at += len(encode(value[name]))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _strings(item, (*path, i), at + 1)
            at += len(encode(item)) + 1


def _culprit(container: Json, data: Struct) -> Path:
    """The path of the first string that alone does not survive rendering; empty if each does."""
    for path, text in _texts(container, ()):
        try:
            json.loads(render(quote(text), data, HTML))
        except (TemplateError, ValueError):
            return path
    return ()


def _texts(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        if "{{" in value:
            yield path, value
    elif isinstance(value, dict | list):
        items = sorted(value.items()) if isinstance(value, dict) else enumerate(value)
        for step, item in items:
            yield from _texts(item, (*path, step))
