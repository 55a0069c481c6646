"""Kinds that a cluster may lack, and an LLMInferenceService needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.registry import Env
    from kservec.core.unit import Unit

KIND_ABSENT: Final = Code(
    "llm/kind-absent",
    Severity.ERROR,
    "the cluster lacks a kind that the service needs",
    "The service leads to an object of a kind that is declared absent. Install what brings the kind along, or remove "
    "it from `absent` of the Cluster document if it is there.",
)


def require_kind(unit: Unit, env: Env, identity: tuple[str, str], place: Span | None) -> None:
    """Refuse a service that needs a kind which the cluster lacks; `place` is what asks for it.

    Raises:
        Reject: the cluster lacks it.
    """
    api_version, kind = identity
    if env.platform.has(api_version, kind):
        return
    message = f"{unit.ref} needs a {kind} ({api_version}), and the cluster has no such kind"
    raise Reject(finding(unit, KIND_ABSENT, message, place, f"install what brings {kind} along"))
