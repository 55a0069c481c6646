"""keep_to_namespaces: nothing is made outside of the namespaces that an environment is meant for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.places import foreign
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.unit import Unit


def keep_to_namespaces(unit: Unit, env: Env) -> Step:
    """Refuse objects in other namespaces than the environment lists; without a list any will do.

    Takes:   nothing
    Writes:  nothing
    Reports: project/namespace
    """
    allowed = env.additions.namespaces if env.additions is not None else ()
    if not allowed:
        return Step(unit)
    here = unit.source.span("metadata", "namespace")
    refs = (unit.ref, *(manifest.ref for manifest in unit.bundle.manifests))
    foreigner = next((ref for ref in refs if not fits(ref.namespace, allowed)), None)
    return Step(unit, (foreign(foreigner, unit.ref, here),) if foreigner is not None else ())


def fits(namespace: str, allowed: tuple[str, ...]) -> bool:
    """Whether an object may be in a namespace; what is in none may be anywhere."""
    return not namespace or namespace in allowed
