"""Where models come from: one storage URI or several, and where they are mounted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.subject import storage_uri
from kservec.core.diagnostics import Code, Severity
from kservec.core.models.storage_scheme import Delivery, SchemeTrait
from kservec.core.models.storage_uris import NO_COMMON_PARENT, SHARE_A_FOLDER, no_common_parent
from kservec.core.records import evolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kservec.admission.subject import Part, Subject
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Json, Path

URI_AND_URIS = Code(
    "storage/uri-and-uris",
    Severity.ERROR,
    "both a single storage URI and storageUris",
    "A component names its model by one storageUri (for containers the variable STORAGE_URI) or its models by "
    "storageUris, not by both.",
)
MOUNT_PATH = Code(
    "storage/mount-path",
    Severity.ERROR,
    "a mount path that no model can be mounted at",
    "The mountPath of a model is not the root folder, and does not contain `..`.",
)
REPEATED_PATH = Code(
    "storage/mount-path-repeated",
    Severity.ERROR,
    "two volumes at one mount path",
    "Models on persistent volume claims are mounted one by one, so each needs a mountPath of its own.",
)
SPEC_TYPE = Code(
    "storage/spec-type",
    Severity.ERROR,
    "a storage spec for storage that KServe does not know",
    "Beside `storage`, a storageUri or the parameter `type` must name one of the kinds of storage that a storage spec "
    "can describe.",
)


def check_storage_uris(subject: Subject) -> Iterator[Diagnostic]:
    """KServe: inference_service_validation.go, validateMultipleStorageURIs."""
    for part in subject.parts:
        uris = part.spec.get("storageUris")
        if not uris:
            continue
        single = storage_uri(part)
        if single is not None:
            yield _both(subject, part, single.at)
        broken = tuple(
            f for i, entry in enumerate(uris) for f in _check_entry(subject, entry, (*part.path, "storageUris", i))
        )
        yield from broken
        if not broken:
            yield from _check_paths(subject, uris, (*part.path, "storageUris"))


def check_explainer_storage(subject: Subject) -> Iterator[Diagnostic]:
    """KServe: explainer.go, Validate of an ART explainer."""
    for part in subject.parts:
        if part.implementations == (("art",),):
            yield from check_storage_spec(subject, part.spec["art"], (*part.path, "art"))


def check_storage_spec(subject: Subject, model: Json, path: Path) -> Iterator[Diagnostic]:
    """A storage spec of a model or explainer beside its URI. KServe: component.go, validateStorageSpec."""
    storage = model.get("storage")
    if storage is None:
        return
    prefixes = tuple(p for s in subject.plugs.schemes if SchemeTrait.STORAGE_TYPE in s.traits for p in s.prefixes)
    uri = model.get("storageUri")
    if uri:
        if not uri.startswith(prefixes):
            message = f"beside `storage`, the storageUri begins with {_words(prefixes)}; it is {uri!r}"
            yield subject.finding(SPEC_TYPE, message, (*path, "storageUri"), "use one of them, or drop `storage`")
        return
    kind = (storage.get("parameters") or {}).get("type")
    if kind is not None and f"{kind}://" not in prefixes:
        types = _words(p.removesuffix("://") for p in prefixes)
        message = f"a storage spec is of type {types}, not {kind!r}"
        help_text = "use one of them, or name the model by a storageUri"
        yield subject.finding(SPEC_TYPE, message, (*path, "storage", "parameters", "type"), help_text)


def _words(choices: Iterable[str]) -> str:
    return " or ".join(sorted(choices))


def _both(subject: Subject, part: Part, at: Path) -> Diagnostic:
    message = f"this {part.role} names its model by a single URI and by storageUris"
    finding = subject.finding(URI_AND_URIS, message, (*part.path, "storageUris"), "keep one of the two")
    return evolve(finding, related=((subject.source.span(*part.path, *at), "the single URI"),))


def _check_entry(subject: Subject, entry: Json, path: Path) -> Iterator[Diagnostic]:
    """KServe: inference_service_validation.go, validateStorageURISpec, as far as no schema says it."""
    mount = entry["mountPath"]
    if mount == "/":
        problem = "the root folder cannot be the mount path of a model"
    elif ".." in mount:
        problem = f"the mount path {mount!r} contains `..`"
    else:
        return
    yield subject.finding(MOUNT_PATH, problem, (*path, "mountPath"), "write an absolute path such as /mnt/models/one")


def _check_paths(subject: Subject, uris: Sequence[Json], path: Path) -> Iterator[Diagnostic]:
    """KServe: inference_service_validation.go, validateMultipleStorageURIsSpec.

    As there, both rules hold only where at least two models are downloaded. KServe counts those that come as images
    among them, though they need not share a folder with others.
    """
    deliveries = [_delivery(subject, entry["uri"]) for entry in uris]
    mounted = [i for i, delivery in enumerate(deliveries) if delivery is Delivery.MOUNT]
    others = [uris[i]["mountPath"] for i, delivery in enumerate(deliveries) if delivery is Delivery.DOWNLOAD]
    if len(others) <= 1:
        return
    first: dict[str, int] = {}
    for i in mounted:
        mount = uris[i]["mountPath"]
        if mount in first:
            message = f"two volumes would be mounted at {mount}"
            yield subject.finding(REPEATED_PATH, message, (*path, i, "mountPath"), "give each its own mountPath")
        first.setdefault(mount, i)
    if not has_common_parent(others):
        yield subject.finding(NO_COMMON_PARENT, no_common_parent(others), path, SHARE_A_FOLDER)


def _delivery(subject: Subject, uri: str) -> Delivery | None:
    """How a model comes, as far as its URI alone says: None where the platform decides."""
    scheme = subject.plugs.scheme(uri)
    if scheme is None:
        return Delivery.DOWNLOAD
    return scheme.delivery if scheme.resolve is None else None


def has_common_parent(paths: Sequence[str]) -> bool:
    """Whether absolute paths share at least their first folder. KServe: pkg/utils/storage.go, FindCommonParentPath."""
    return len({path.strip("/").split("/")[0] for path in paths}) == 1
