"""The data that comes with the package: schemas and the built-in catalog."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from kservec.core.schemas.schema import Schemas

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

IN_CHECKOUT = {"catalog": ("runtimes", "catalog"), "schemas": ("schemas",)}


def packaged(name: str) -> Traversable:
    """A folder of data, `catalog` or `schemas`: a wheel carries them in the package, a checkout at its top."""
    inside = resources.files("kservec") / "_data" / name
    if inside.is_dir():
        return inside
    return Path(__file__).parents[3].joinpath(*IN_CHECKOUT[name])


@cache
def packaged_schemas() -> Schemas:
    """The schemas of all kinds, each read when it is first asked for."""
    folder = packaged("schemas")
    return Schemas(lambda name: folder.joinpath(*name.split("/")).read_bytes())


def packaged_catalog(version: str) -> tuple[tuple[str, bytes], ...]:
    """The built-in runtimes of a KServe version as (name, content)."""
    folder = packaged("catalog") / version
    files = sorted((f for f in folder.iterdir() if f.name.endswith(".yaml")), key=lambda f: f.name)
    return tuple((f"builtin/{f.name}", f.read_bytes()) for f in files)
