"""InferenceGraphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.graphs.admit import admit_inferencegraph
from kservec.core.diagnostics import has_errors
from kservec.core.serving.stopping import says_stop
from kservec.core.serving.tracking import without_tracking
from kservec.core.unit import Source, Unit
from kservec.documents.metadata import odd_in_graph
from kservec.readers.identity import with_identity
from kservec.readers.refused import is_read_on
from kservec.spec.graph import InferenceGraph

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.documents.entries import Entry


def read(entry: Entry, env: Env) -> tuple[Unit | None, Sequence[Diagnostic]]:
    """The Unit of an InferenceGraph.

    Raises:
        Reject: the platform's configuration cannot be used.
    """
    ref, source = entry.ref, Source(document=entry.document)
    value = with_identity(env.schemas.with_defaults(entry.document.value, ref.api_version, ref.kind), ref)
    admitted = admit_inferencegraph(ref, source, value, env.platform)
    is_refused = has_errors(admitted.diagnostics)
    if is_refused and not is_read_on(admitted.diagnostics):
        return None, admitted.diagnostics
    spec = InferenceGraph.read(value)
    labels, annotations = without_tracking(spec.metadata.labels, spec.metadata.annotations)
    unit = Unit(
        ref=ref,
        source=source,
        spec=spec,
        mode=admitted.mode,
        labels=labels,
        annotations=annotations,
        stopped=says_stop(annotations),
        routed=False,
    )
    return unit, admitted.diagnostics if is_refused else (*admitted.diagnostics, *odd_in_graph(unit))
