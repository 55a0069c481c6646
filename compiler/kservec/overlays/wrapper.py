"""The folder that kustomize is run in: a copy of what an overlay reaches, and a kustomization around it.

The kustomization around it makes kustomize say where objects come from, and tells it of KServe's kinds. Kustomize sees
nothing else, so that what it makes follows from what was read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kservec.core.text.reading import Limits
from kservec.emit import dump
from kservec.overlays.closure import resolved
from kservec.overlays.kustomization import COMPONENT, KUSTOMIZATION_GROUP
from kservec.overlays.openapi import openapi_text
from kservec.overlays.texts import read_content

if TYPE_CHECKING:
    from kservec.core.paths import Json
    from kservec.core.schemas.schema import Schemas
    from kservec.overlays.closure import Closure

WRAPPER, TREE = "wrapper", "tree"
"""The folders of the kustomization around an overlay, and of the copy of the overlay."""
OBJECTS, OPENAPI, FILE = "objects.yaml", "openapi.json", "kustomization.yaml"

_find_kind = re.compile(r"^(kind|apiVersion)[ \t]*:[^\r\n]*", re.MULTILINE).sub


def staged(closure: Closure, schemas: Schemas) -> dict[str, bytes]:
    """The files to run kustomize over for an overlay, by their paths below an empty folder."""
    return wrapped(closure, schemas, {"resources": [f"../{TREE}/{closure.start}"]})


def staged_over(closure: Closure, schemas: Schemas, objects: Sequence[Json]) -> dict[str, bytes]:
    """The files to run kustomize over for patches of objects: the same, with the patches as a component."""
    files = wrapped(closure, schemas, {"resources": [OBJECTS], "components": [f"../{TREE}/{closure.start}"]})
    path = f"{TREE}/{closure.first.path}"
    text = files[path].decode("utf-8", "replace")
    files[path] = as_component(text).encode()
    return files | {f"{WRAPPER}/{OBJECTS}": "".join(f"---\n{dump(value)}" for value in objects).encode()}


def wrapped(closure: Closure, schemas: Schemas, fields: Json) -> dict[str, bytes]:
    """A copy of what an overlay reaches, and a kustomization with these fields around it."""
    around = {
        "apiVersion": f"{KUSTOMIZATION_GROUP}/v1beta1",
        "kind": "Kustomization",
        "buildMetadata": ["originAnnotations"],
        "openapi": {"path": OPENAPI},
        **fields,
    }
    return {
        f"{WRAPPER}/{FILE}": dump(around).encode(),
        f"{WRAPPER}/{OPENAPI}": openapi_text(schemas, own_openapi(closure)).encode(),
        **{f"{TREE}/{path}": content for path, content in closure.contents.items()},
    }


def own_openapi(closure: Closure) -> Json:
    """The OpenAPI document that an overlay brings; None without one. Kustomize takes that of the outermost alone."""
    field = closure.first.value.get("openapi")
    path = resolved(closure.start, str(field["path"])) if isinstance(field, dict) and "path" in field else None
    documents, _ = read_content(closure.contents.get(path or "", b""), path or "", Limits())
    return documents[0].value if documents else None


def as_component(text: str) -> str:
    """The text of a kustomization as one of a component. Every line stays where it is."""
    fields = {"kind": COMPONENT, "apiVersion": f"{KUSTOMIZATION_GROUP}/v1alpha1"}
    written = _find_kind(lambda found: f"{found[1]}: {fields.pop(found[1], '')}", text)
    missing = "".join(f"{field}: {value}\n" for field, value in sorted(fields.items()))
    return f"{written.rstrip()}\n{missing}"
