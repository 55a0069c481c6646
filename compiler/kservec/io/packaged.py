"""The data that comes with the package: schemas and the built-in catalog."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from kservec._version import KSERVE_PROFILE
from kservec.core.profile import CURRENT, Profile
from kservec.core.schemas.schema import Schemas

PROFILE_FILE = "profile.yaml"
"""What a folder of the catalog says of its version of KServe beside runtimes, presets and configuration."""
DATA_SUFFIXES = (".json", ".yaml")
IN_CHECKOUT = {"catalog": ("runtimes", "catalog"), "schemas": ("schemas",)}


def packaged(name: str) -> Path:
    """A folder of data, `catalog` or `schemas`: a wheel carries them in the package, a checkout at its top.

    A path, since kservec never runs out of an archive (what it depends on cannot), and importlib.resources loads what
    reads archives: a thirtieth of a short run.
    """
    inside = Path(__file__).parents[1] / "_data" / name
    if inside.is_dir():
        return inside
    return Path(__file__).parents[3].joinpath(*IN_CHECKOUT[name])


@cache
def packaged_schemas() -> Schemas:
    """The schemas of all kinds, each read when it is first asked for."""
    folder = packaged("schemas")
    return Schemas(read=lambda name: folder.joinpath(*name.split("/")).read_bytes())


def packaged_versions(version: str) -> dict[str, str]:
    """What a build of a KServe version rests on: that version, and digests of the catalog and of the schemas."""
    return {
        "kserve": version,
        "catalog": folder_digest(packaged("catalog") / version),
        "schemas": folder_digest(packaged("schemas")),
    }


def folder_digest(folder: Path) -> str:
    """The digest of the files below a folder, their names included."""
    import hashlib  # noqa: PLC0415 - loads OpenSSL, a fiftieth of a short run

    digest = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.suffix in DATA_SUFFIXES):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(folder).as_posix()} {len(content)}\n".encode())
        digest.update(content)
    return f"sha256:{digest.hexdigest()}"


def packaged_profiles() -> tuple[str, ...]:
    """The versions of KServe that there is a profile of, the earliest first."""
    found = (folder.name for folder in packaged("catalog").iterdir() if (folder / PROFILE_FILE).is_file())
    return tuple(sorted(found, key=release_order))


def release_order(version: str) -> tuple[int, ...]:
    """Sort key of versions such as 0.21."""
    return tuple(int(part) for part in version.split("."))


@cache
def packaged_profile(version: str) -> Profile:
    """The profile of a version of KServe, one of `packaged_profiles`."""
    if version == KSERVE_PROFILE:
        return CURRENT
    from kservec.documents.profile import read_profile  # noqa: PLC0415 - most runs are for the current version

    path = packaged("catalog") / version / PROFILE_FILE
    return read_profile(path.read_bytes(), path.name)


def packaged_catalog(version: str) -> tuple[tuple[str, bytes], ...]:
    """The built-in runtimes of a KServe version as (name, content)."""
    folder = packaged("catalog") / version
    catalog = (f for f in folder.iterdir() if f.name.endswith(".yaml") and f.name != PROFILE_FILE)
    files = sorted(catalog, key=lambda f: f.name)
    return tuple((f"builtin/{f.name}", f.read_bytes()) for f in files)


def packaged_own_schema(document: str) -> bytes:
    """The JSON Schema of one of our own documents: `project` or `cluster`."""
    return (packaged("schemas") / "input" / f"kservec.dev_v1alpha1_{document}.json").read_bytes()


def packaged_template(name: str) -> str:
    """The text of a file that `kservec init` lays down, by its path among the templates."""
    return Path(__file__).parents[1].joinpath("scaffold", "files", *name.split("/")).read_text(encoding="utf-8")


def packaged_site(folder: str) -> dict[str, bytes]:
    """The files that sites are made with, by their names: `templates` or `assets`."""
    place = Path(__file__).parents[1] / "site" / folder
    return {path.name: path.read_bytes() for path in sorted(place.iterdir()) if path.is_file()}
