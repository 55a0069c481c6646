"""LocalModelCaches and LocalModelNamespaceCaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.local_cache import admit_cache
from kservec.core.diagnostics import has_errors
from kservec.core.models.local_models import find_cache
from kservec.core.unit import Source, Unit
from kservec.readers.identity import with_identity
from kservec.spec.localmodel import LocalModelCache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.documents.entries import Entry


def read(entry: Entry, env: Env) -> tuple[Unit | None, Sequence[Diagnostic]]:
    """The Unit of a cache of either kind.

    Raises:
        Reject: the platform's configuration cannot be used, or a value does not fit the model.
    """
    cache = find_cache(env.cluster.local_caches, entry.ref.namespace, entry.ref.name)
    if cache is None:
        # Its misfits were found when the caches were read.
        return None, ()
    found = tuple(admit_cache(cache, env.cluster, env.platform))
    source = Source(document=entry.document)
    spec = LocalModelCache.read(with_identity(entry.document.value, entry.ref))
    return None if has_errors(found) else Unit(ref=entry.ref, source=source, spec=spec), found
