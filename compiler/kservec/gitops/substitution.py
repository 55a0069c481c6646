"""Flux's variables: `${name}` in an object is for Flux to replace, unless the object says that it is not. Pure.

Scripts in pods are full of it, and Flux would put nothing in its place, or refuse the whole Kustomization.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container

    from kservec.gitops.rendered import Rendered

SUBSTITUTE = "kustomize.toolkit.fluxcd.io/substitute"
MARK = "${"
_variables = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)?").findall


def substitution(rendered: Rendered, known: Container[str]) -> dict[str, str]:
    """The annotation that keeps Flux's hands off an object in which a `${` is that is none of the known variables."""
    if MARK not in rendered.text or all(name in known for name in _variables(rendered.text)):
        return {}
    return {SUBSTITUTE: "disabled"}


def is_mixed(rendered: Rendered, known: Container[str]) -> bool:
    """Whether an object has both known variables and other texts of that form: neither choice is right then."""
    names = _variables(rendered.text) if MARK in rendered.text else []
    return any(name in known for name in names) and not all(name in known for name in names)
