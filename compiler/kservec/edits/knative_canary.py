"""A canary in Knative mode: the latest revision gets a share of the traffic, a named one the rest.

What the stable version had is kept in an annotation while the canary runs, so that it can be taken back.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kservec.core.golang.decoding import decode
from kservec.core.knative.revisions import BEFORE_CANARY, STABLE_REVISION
from kservec.core.paths import lookup
from kservec.edits.changes import Add, Put, Remove
from kservec.edits.pins import pin_changes, refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.paths import Json, Path
    from kservec.edits.changes import Change
    from kservec.edits.service import Service

PREDICTOR: Path = ("spec", "predictor")
SHARE: Path = (*PREDICTOR, "canaryTrafficPercent")
ANNOTATIONS: Path = ("metadata", "annotations")


def started(service: Service, percent: int, wanted: Mapping[str, str], stable: str) -> list[Change]:
    """The changes that start a canary.

    Raises:
        Reject: a canary runs already, or a value that is to be changed is not there.
    """
    if lookup(service.value, SHARE) is not None:
        hint = f"change its share: kservec canary step {service.name} --to N"
        raise refusal(f"{service.name} has a canary already", service.span(*SHARE), hint)
    before: dict[str, Json] = {}
    changes: list[Change] = []
    predictor = service.value["spec"]["predictor"]
    for below, value in pin_changes(predictor, wanted):
        path = (*PREDICTOR, *below)
        present = lookup(predictor, below)
        before[".".join(map(str, path))] = present
        changes.append(Add(path, value) if present is None else Put(path, value))
    return [
        *changes,
        Add(SHARE, percent),
        Add((*ANNOTATIONS, BEFORE_CANARY), json.dumps(before, separators=(",", ":"))),
        Add((*ANNOTATIONS, STABLE_REVISION), stable),
    ]


def stepped(service: Service, percent: int) -> list[Change]:
    """The change of the running canary's share."""
    return [Put(share_of(service), percent)]


def promoted(service: Service) -> list[Change]:
    """The changes that give all traffic to the latest revision."""
    return ended(service)


def rolled_back(service: Service) -> list[Change]:
    """The changes that bring the stable version back.

    Raises:
        Reject: no canary runs, or nothing says what the stable version was.
    """
    ends = ended(service)
    kept = (service.value["metadata"].get("annotations") or {}).get(BEFORE_CANARY)
    if kept is None:
        hint = "take the change of the spec back by hand (git revert); --to 0 takes all traffic from it now"
        raise refusal(f"nothing says what {service.name} was before the canary", service.span(*ANNOTATIONS), hint)
    return [*reversed([restored(path, value) for path, value in read_kept(kept, service).items()]), *ends]


def restored(path: str, value: Json) -> Change:
    """The change that gives a field the value that it had."""
    steps = tuple(path.split("."))
    return Remove(steps) if value is None else Put(steps, value)


def read_kept(text: str, service: Service) -> dict[str, Json]:
    """What the annotation keeps.

    Raises:
        Reject: it was changed by hand.
    """
    try:
        kept = decode(text)
    except ValueError:
        kept = None
    plain = isinstance(kept, dict) and all(value is None or isinstance(value, str) for value in kept.values())
    if not plain or not all(path.startswith("spec.predictor.") for path in kept):
        hint = "take the change of the spec back by hand (git revert)"
        raise refusal(f"{BEFORE_CANARY} cannot be read", service.span(*ANNOTATIONS, BEFORE_CANARY), hint)
    return dict(kept)


def ended(service: Service) -> list[Change]:
    """The changes that take away what only a running canary needs."""
    share_of(service)
    annotations = service.value["metadata"].get("annotations") or {}
    keys = [key for key in (STABLE_REVISION, BEFORE_CANARY) if key in annotations]
    return [*(Remove((*ANNOTATIONS, key)) for key in keys), Remove(SHARE)]


def share_of(service: Service) -> Path:
    """Where the share of the canary stands.

    Raises:
        Reject: no canary runs.
    """
    if lookup(service.value, SHARE) is None:
        raise refusal(f"{service.name} has no canary", service.span("metadata", "name"), "start one first")
    return SHARE
