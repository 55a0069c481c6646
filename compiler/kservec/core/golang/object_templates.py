"""The templates in a container or another part of an object that see the object's metadata, executed.

Decides what a template sees of the metadata, and how its output is read back. Must not know which container or
template it is, nor what is done with the result.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Final

from kservec.core.golang.encoding import encode, quote
from kservec.core.golang.formatting import GoValue, NilPointer, Struct, Unknown
from kservec.core.golang.placeholders import find_metadata, texts_of
from kservec.core.golang.template import HTML, Options, render
from kservec.core.golang.template_error import Reach, TemplateError
from kservec.core.tree import Json, Path

_SERVER_FIELDS: Final = ("CreationTimestamp", "Finalizers", "Generation", "ManagedFields", "ResourceVersion", "UID")
"""Metadata that only the API server and controllers set."""

_CONTAINER_ORDER: Final = {
    name: i
    for i, name in enumerate(("name", "image", "command", "args", "workingDir", "ports", "envFrom", "env", "resources"))
}
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_AS_WRITTEN: Final = Options(no_value="")


def filled_in(container: Json, metadata: Json) -> Json:
    """A container with its placeholders filled in, text by text.

    Raises:
        TemplateError: a template is wrong. `where` is the path of its text in the container, `offset` counts there.
    """
    return _filled(container, object_meta(metadata), ())


def every_error(container: Json, metadata: Json, first: TemplateError) -> list[TemplateError]:
    """What is wrong with the texts of a container that cannot be filled in.

    That is the `first` alone where a block may reach over several texts, for some may then be good together.
    """
    data = object_meta(metadata)
    found: list[TemplateError] = []
    for path, text in texts_of(container, ()):
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


def filled_metadata(value: Json, metadata: Json) -> Json:
    """A value whose texts have the metadata that they ask for; what is no template of KServe's stays as it is."""
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


def executed(container: Json, metadata: Json) -> Json:
    """A container whose JSON was executed as one html/template, and read back.

    Raises:
        TemplateError: the template or its output is wrong.
    """
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
    for path, text in texts_of(container, ()):
        try:
            json.loads(render(quote(text), data, HTML))
        except (TemplateError, ValueError):
            return path
    return ()
