"""LLMInferenceServices."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.llm.admit import Judges, admit_config, admit_llminferenceservice
from kservec.core.diagnostics import has_errors
from kservec.core.serving.stopping import says_stop
from kservec.core.serving.tracking import without_tracking
from kservec.core.unit import Unit
from kservec.documents.metadata import odd_in_llm
from kservec.readers.identity import with_identity
from kservec.readers.refused import is_read_on
from kservec.spec.llminferenceservice import LLMInferenceService

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.documents.entries import Entry

STORED = "serving.kserve.io/v1alpha2"
"""The version that others are converted to."""


def read(entry: Entry, env: Env) -> tuple[Unit | None, Sequence[Diagnostic]]:
    """The Unit of an LLMInferenceService.

    Raises:
        Reject: the platform's configuration cannot be used.
    """
    ref = entry.ref
    value = with_identity(env.schemas.with_defaults(entry.document.value, ref.api_version, ref.kind), ref)
    judges = Judges(platform=env.platform, plugs=env.plugs, caches=env.cluster.local_caches)
    admitted = admit_llminferenceservice(ref, entry.document, value, judges)
    is_refused = has_errors(admitted.diagnostics)
    if is_refused and not is_read_on(admitted.diagnostics):
        return None, admitted.diagnostics
    spec = LLMInferenceService.read(env.schemas.with_defaults(admitted.value, STORED, ref.kind))
    labels, annotations = without_tracking(spec.metadata.labels, spec.metadata.annotations)
    unit = Unit(
        ref=ref,
        source=admitted.source,
        spec=spec,
        labels=labels,
        annotations=annotations,
        stopped=says_stop(annotations),
    )
    return unit, admitted.diagnostics if is_refused else (*admitted.diagnostics, *odd_in_llm(unit, env.platform))


def config_findings(entry: Entry, env: Env) -> tuple[Diagnostic, ...]:
    """What KServe would say to a config."""
    ref = entry.ref
    value = with_identity(env.schemas.with_defaults(entry.document.value, ref.api_version, ref.kind), ref)
    return admit_config(ref, entry.document, value, Judges(platform=env.platform, plugs=env.plugs)).diagnostics
