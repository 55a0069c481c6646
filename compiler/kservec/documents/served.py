"""Served: what documents say that the version of KServe they are compiled for does not know.

Decides from the profile alone. An API server would drop such a field without a word, for its definition of the kind has
none; so it is an error here, at its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.paths import lookup
from kservec.core.schemas.faults import field_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.paths import Json, Path
    from kservec.core.profile import Missing, MissingScheme, Profile
    from kservec.core.registry import Env
    from kservec.documents.entries import Entry

NOT_SERVED = Code(
    "profile/not-in-this-version",
    Severity.ERROR,
    "a field or a kind of URI that this version of KServe does not have",
    "A later version of KServe brought it; the one that is compiled for would drop it without a word, or refuse it. "
    "Take it out, or compile for the later version (`kserve` in kservec.yaml, `--profile`).",
)
NOT_BUILT = Code(
    "profile/not-reproduced",
    Severity.ERROR,
    "a field that this version of KServe treats as kservec does not",
    "kservec is written after one version of KServe, and reproduces of the others what their profiles say. What this "
    "version makes of the field is not among that, so nothing is made of it instead of something else. Take the field "
    "out, or compile for the later version.",
)
URI_FIELDS = ("storageUri", "uri", "sourceModelUri")
"""The fields in which a model is named by a URI."""


def known_entries(entries: Sequence[Entry], profile: Profile) -> tuple[list[Entry], list[Diagnostic]]:
    """The documents that a version has all fields of, and errors about the others."""
    found = [(entry, tuple(missing_fields(entry, profile)) if entry.is_kserve else ()) for entry in entries]
    return [entry for entry, faults in found if not faults], [d for _, faults in found for d in faults]


def known_uris(entries: Sequence[Entry], env: Env) -> tuple[list[Entry], list[Diagnostic]]:
    """The documents whose models a version can bring in by their kinds of URIs, and errors about the others."""
    found = [(entry, tuple(missing_schemes(entry, env)) if entry.is_kserve else ()) for entry in entries]
    return [entry for entry, faults in found if not faults], [d for _, faults in found for d in faults]


def missing_fields(entry: Entry, profile: Profile) -> Iterator[Diagnostic]:
    """Errors about the fields of a document that a version does not have."""
    for field in profile.fields:
        if entry.ref.kind in field.kinds and lookup(entry.document.value, field.path) is not None:
            yield missing_field(entry, field, profile)


def missing_field(entry: Entry, field: Missing, profile: Profile) -> Diagnostic:
    """The error about one field."""
    place = field_path(field.path)
    if field.since:
        message = f"{place} came with KServe {field.since}, and {entry.ref} is compiled for {profile.version}"
        hint = f'remove it, or compile for kserve: "{field.since}"'
    else:
        message = f"what KServe {profile.version} makes of {place} is not reproduced: {field.why}"
        hint = "remove it, or compile for a later version"
    return Diagnostic(
        code=NOT_SERVED if field.since else NOT_BUILT,
        message=message,
        span=entry.document.key_span(field.path),
        help=hint,
        subject=entry.ref,
    )


def missing_schemes(entry: Entry, env: Env) -> Iterator[Diagnostic]:
    """Errors about URIs of kinds that a version does not have, and that no ClusterStorageContainer takes on."""
    for path, uri in uris(entry.document.value.get("spec"), ("spec",)):
        for scheme in env.profile.schemes:
            if uri.startswith(scheme.prefix) and env.catalog.storage_container_for(uri) is None:
                yield missing_scheme(entry, path, scheme, env.profile)


def missing_scheme(entry: Entry, path: Path, scheme: MissingScheme, profile: Profile) -> Diagnostic:
    """The error about one URI."""
    return Diagnostic(
        code=NOT_SERVED,
        message=f"{scheme.prefix} came with KServe {scheme.since}, and {entry.ref} is compiled for {profile.version}",
        span=entry.document.span(path),
        help=f'bring the model in another way, or compile for kserve: "{scheme.since}"',
        subject=entry.ref,
    )


def uris(value: Json, at: Path) -> Iterator[tuple[Path, str]]:
    """Every URI of a model at and below a place."""
    if isinstance(value, dict):
        for key, below in value.items():
            if key in URI_FIELDS and isinstance(below, str):
                yield (*at, key), below
            else:
                yield from uris(below, (*at, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from uris(item, (*at, i))
