"""withhold_tokens: pods that have nothing to say to Kubernetes' API get no token of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.pods.accounts import bound_accounts
from kservec.core.pods.pod_sets import with_pods
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Step

if TYPE_CHECKING:
    from collections.abc import Collection

    from kservec.core.pods.pod_sets import Pods
    from kservec.core.registry import Env
    from kservec.core.tree import Tree
    from kservec.core.unit import Unit

WITHHELD = Origin(Layer.PASS, "withhold_tokens")
FIELD = "automountServiceAccountToken"


def withhold_tokens(unit: Unit, env: Env) -> Step:
    """Write `automountServiceAccountToken: false`, except where the spec says something or the account has a Role.

    Takes:   nothing
    Writes:  automountServiceAccountToken of pods
    Reports: nothing
    """
    if env.additions is None or not env.additions.hides_tokens:
        return Step(unit)
    bound = bound_accounts(unit.bundle)
    return Step(with_pods(unit, lambda pods: withheld(pods, bound)))


def withheld(pods: Pods, bound: Collection[str]) -> Tree:
    """A pod without a token, unless its account is among those that have a Role."""
    pod = pods.pod
    if pod.get(FIELD) is not None or pod.get("serviceAccountName") in bound:
        return pod
    return pod.put((FIELD,), value=False, origin=WITHHELD)
