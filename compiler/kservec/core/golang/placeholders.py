"""Placeholders: the templates that KServe runs over containers, domain names and paths.

Decides what a template sees (an object's metadata, or a few named values) and how its output is read back. Must not
know which container or template it is, nor what is done with the result.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final, NamedTuple

from kservec.core.golang.template_error import TemplateError
from kservec.core.patterns import Pattern
from kservec.core.tree import Json, Path

__all__ = [
    "TemplateError",
    "fill_container",
    "fill_metadata",
    "has_placeholder",
    "missing_values",
    "render_container",
    "render_text",
    "with_names",
]

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
    from kservec.core.golang.object_templates import executed, filled_in  # noqa: PLC0415 - few have others

    try:
        return filled_in(filled, metadata)
    except TemplateError as error:
        alone = error
    try:
        return executed(container, metadata)
    except TemplateError:
        raise alone from None


def fill_metadata(value: Json, metadata: Json) -> Json:
    """A value whose texts have the metadata that they ask for; the same value if none does.

    For containers with templates of their own: a text that does not name the metadata, or also holds what is no
    template of KServe's, stays as it is.
    """
    if not has_placeholder(value):
        return value
    from kservec.core.golang.object_templates import filled_metadata  # noqa: PLC0415 - few have such templates

    return filled_metadata(value, metadata)


def missing_values(container: Json, metadata: Json) -> Iterator[tuple[Path, str]]:
    """The path of each text that asks for a label or annotation which the metadata lacks, and what it asks for."""
    for path, text in texts_of(container, ()):
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
    if not has_others:
        return filled
    from kservec.core.golang.object_templates import executed  # noqa: PLC0415 - few have others

    return executed(container, metadata)


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


def render_text(template: str, fields: Mapping[str, Json]) -> str:
    """Execute a domain or path template. A missing label gives `<no value>`, as KServe's text/template does.

    Args:
        template: the text, such as `{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}`.
        fields: what it may name: `Name`, `Namespace`...

    Raises:
        TemplateError: it is no template, or names something else.

    Source: KServe .../reconcilers/ingress/domain.go and path.go.
    """
    if "{{" not in template:
        return template
    from kservec.core.golang.formatting import Struct  # noqa: PLC0415 - few have templates of their own
    from kservec.core.golang.template import TEXT, render  # noqa: PLC0415 - as above

    return render(template, Struct("template values", fields), TEXT)


def has_placeholder(value: Json) -> bool:
    """Whether any string in the value, keys too, opens a template action."""
    # Only a text brings two braces in a row, for keys are texts and no map begins with a map.
    return "{{" in repr(value)


def texts_of(value: Json, path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        if "{{" in value:
            yield path, value
    elif isinstance(value, dict | list):
        items = sorted(value.items()) if isinstance(value, dict) else enumerate(value)
        for step, item in items:
            yield from texts_of(item, (*path, step))
