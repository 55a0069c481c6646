"""Node placement: whether pods that ask for certain nodes may run where a local volume is.

Decides from labels alone, and only what is certain: a label that the pod says nothing of may have any value. Must not
know nodes, nor what the volume holds.

Kubernetes: staging/src/k8s.io/component-helpers/scheduling/corev1/nodeaffinity/nodeaffinity.go
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kservec.core.selectors import satisfies
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.tree import Json

TERMS = ("nodeAffinity", "required", "nodeSelectorTerms")
POD_TERMS = (
    "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms",
)  # fmt: skip

Labels = Mapping[str, frozenset[str]]
"""Labels of the nodes that a pod may run on: the values that each of them may have."""


def volume_terms(volume_spec: Json) -> Sequence[Json]:
    """The alternatives of which a node must meet one to have a volume; none for a volume that is everywhere."""
    return lookup(volume_spec, TERMS) or ()


def may_meet(pod: Json, volume_spec: Json) -> bool:
    """Whether a pod may be scheduled to a node that has a volume.

    Args:
        pod: a PodSpec.
        volume_spec: the spec of a PersistentVolume.
    """
    terms = volume_terms(volume_spec)
    return not terms or any(_fits(term, labels) for labels in _alternatives(pod) for term in terms)


def _alternatives(pod: Json) -> Iterator[Labels]:
    """What the pod asks of its node's labels; each term of its affinity is an alternative."""
    selected = {key: frozenset((value,)) for key, value in (pod.get("nodeSelector") or {}).items()}
    terms: Sequence[Json] = lookup(pod, POD_TERMS) or ({},)
    for term in terms:
        allowed = dict(selected)
        for expression in term.get("matchExpressions") or ():
            if expression["operator"] == "In":
                key, values = expression["key"], frozenset(expression.get("values") or ())
                allowed[key] = allowed[key] & values if key in allowed else values
        yield allowed


def _fits(term: Json, labels: Labels) -> bool:
    """Whether nothing in a term speaks against the labels."""
    return all(
        any(satisfies({key: value}, expression) for value in labels[key])
        for expression in term.get("matchExpressions") or ()
        if (key := expression["key"]) in labels
    )
