"""Copies of models on the nodes: where a component finds one, if it has one.

Decides whether the model of a component lies in the cache that its labels name, and at which URI. Must not know how
caches are chosen, nor how a copy is mounted.
"""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity
from kservec.core.names import INTERNAL
from kservec.core.registry import SchemeTrait

if TYPE_CHECKING:
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.env import Env
    from kservec.core.unit import Component

LABEL = f"{INTERNAL}localmodel"
SOURCE_URI, CLAIM_NAME = f"{INTERNAL}localmodel-sourceuri", f"{INTERNAL}localmodel-pvc-name"

NO_CLAIM = Code(
    "storage/cache-without-claim",
    Severity.ERROR,
    "a local model cache is named by hand",
    "KServe writes the labels and annotations under internal.serving.kserve.io/ that tie a service to a local model "
    "cache. Remove them: a service whose storageUri lies in a cache uses the cache without them.",
)


def cached_uri(uri: str, component: Component, subject: ObjectRef, env: Env) -> str | None:
    """Where the copy of a model lies: the claim of its cache, a directory per cache, and the rest of the URI.

    None where no cache holds the model. KServe makes a path of any URI once its service has a cache.

    Raises:
        Reject: the labels name a cache, and no annotation names its claim.

    KServe: storage_initializer_injector.go, InjectStorageInitializer; local_model_cache_types.go, GetStorageKey
    """
    if LABEL not in component.labels.value:
        return None
    claim, source = component.annotation(CLAIM_NAME), component.annotation(SOURCE_URI) or ""
    if claim is None:
        raise Reject(no_claim(component, subject))
    folder = source.removesuffix("/")
    if uri.removesuffix("/") != folder and not uri.startswith(f"{folder}/"):
        return None
    scheme = env.plugs.scheme_with(SchemeTrait.NODE_CACHE)
    prefix = scheme.prefixes[0] if scheme is not None else ""
    return f"{prefix}{claim}/models/{sha256(source.encode()).hexdigest()[:16]}/{uri[len(folder) + 1 :]}"


def no_claim(component: Component, subject: ObjectRef) -> Diagnostic:
    """The diagnostic for a label that someone wrote by hand."""
    return Diagnostic(
        code=NO_CLAIM,
        message=f"the label {LABEL} names a local model cache, and the annotation {CLAIM_NAME} is missing",
        span=component.labels.span((LABEL,)),
        help="remove the label",
        subject=subject,
    )
