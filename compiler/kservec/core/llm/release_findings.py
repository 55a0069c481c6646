"""What is odd about a scheduler's release: its image against its version, its flags, and how many there are of it.

Must not change anything. The scheduler itself says most of this only when it starts, by not starting.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.listing import listed
from kservec.core.llm.names import VERSION_ANNOTATION
from kservec.core.llm.resolved import SCHEDULER_POD
from kservec.core.llm.scheduler import SCHEDULER_PATH
from kservec.core.llm.scheduler_config.releases import (
    LEADER_ELECTION,
    SINCE,
    Release,
    arguments,
    flag_of,
    is_release,
    is_settled,
    spelt,
    takes,
)
from kservec.core.llm.scheduler_config.versions import parse_version
from kservec.core.llm.scheduler_release import (
    FIELDS,
    MAIN_CONTAINER,
    argument_lists,
    image_release,
    is_brought,
    is_for_another_image,
    shown,
)
from kservec.core.spelling import closest
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Path, Tree
    from kservec.core.unit import Unit

UNKNOWN: Final = Code(
    "llm/scheduler-version-unknown",
    Severity.WARNING,
    "a scheduler's image of which nobody says what version it is",
    "Versions of the scheduler differ in their flags and in the names of their plugins. The version of the preset says "
    "nothing of another image; set the annotation app.kubernetes.io/version in router.scheduler.annotations beside it.",
)
DIFFERS: Final = Code(
    "llm/scheduler-version-differs",
    Severity.WARNING,
    "a scheduler's image of another version than its annotation says",
    "KServe brings the scheduler's flags and configuration up to the version that app.kubernetes.io/version says. An "
    "image of another version does not start with what it does not know. Change one of the two.",
)
UNKNOWN_FLAG: Final = Code(
    "llm/scheduler-flag-unknown",
    Severity.WARNING,
    "a flag that this version of the scheduler does not have",
    "The scheduler does not start with a flag that it does not know. Flags of presets that an older image does not "
    "have are left out; what the service or a base config says stays.",
)
RESPELT: Final = Code(
    "llm/scheduler-flag-respelt",
    Severity.NOTE,
    "a flag in the spelling of another version of the scheduler",
    "Up to 0.2 flags are written --poolName, later --pool-name; since 0.5 single dashes are for single letters only. "
    "The output has the spelling that the image's version takes.",
)
NO_ELECTION: Final = Code(
    "llm/scheduler-without-leader",
    Severity.WARNING,
    "several schedulers that elect no leader",
    "Before 0.3 the scheduler cannot elect a leader. Each copy then decides by the requests that it has seen itself, "
    "and scores of caches and queues miss what the others did. Use one copy, or a later version.",
)


def release_findings(unit: Unit, pod: Tree, annotations: Tree, replicas: int) -> Iterator[Diagnostic]:
    """What is odd about the release of a scheduler; `pod` and `annotations` are as they are written out."""
    assert unit.resolved is not None
    release = image_release(pod)
    if release is None:
        yield from unknown_release(unit, pod, annotations)
        return
    image, said = pod.get(*MAIN_CONTAINER, "image"), annotations.value.get(VERSION_ANNOTATION) or ""
    version = parse_version(said)
    if said and version is not None and not is_release(version, release):
        message = f"the scheduler is configured as {said}, and its image is {image}"
        place = annotations.span((VERSION_ANNOTATION,)) or pod.span((*MAIN_CONTAINER, "image"))
        yield finding(unit, DIFFERS, message, place, "change one of the two")
    if replicas > 1 and not takes(release, LEADER_ELECTION):
        message = f"the scheduler has {replicas} replicas, and {image} cannot elect a leader among them"
        yield finding(unit, NO_ELECTION, message, ("spec", *SCHEDULER_PATH, "replicas"), "use one, or 0.3 or later")
    written = unit.resolved.sub(*SCHEDULER_POD)
    if not is_settled(release, *argument_lists(written.get(*MAIN_CONTAINER))):
        yield from respelt_findings(unit, written, release)
        yield from unknown_findings(unit, pod, release)


def unknown_release(unit: Unit, pod: Tree, annotations: Tree) -> Iterator[Diagnostic]:
    """A warning about an image of which nothing says what version it is."""
    said = annotations.value.get(VERSION_ANNOTATION)
    if said and is_for_another_image(annotations, pod, None):
        place = (*MAIN_CONTAINER, "image")
        message = f"nothing says which version of the scheduler {pod.get(*place)} is; it is configured as {said}"
        hint = f"set {VERSION_ANNOTATION} in router.scheduler.annotations"
        yield finding(unit, UNKNOWN, message, pod.span(place), hint)


def respelt_findings(unit: Unit, pod: Tree, release: Release) -> Iterator[Diagnostic]:
    """A note about flags of the user's that are written in another way than the release does."""
    changed = [(at, text, spelt(release, text)) for at, text in flags_of(pod) if spelt(release, text) != text]
    own = [(at, text, new) for at, text, new in changed if not is_brought(pod, at)]
    if own:
        names = listed(new.partition("=")[0] for _, _, new in own)
        message = (
            f"the scheduler {shown(release)} takes {own[0][2].partition('=')[0]}, not {own[0][1].partition('=')[0]}"
        )
        yield finding(unit, RESPELT, message, pod.span(own[0][0]), f"write {names}")


def unknown_findings(unit: Unit, pod: Tree, release: Release) -> Iterator[Diagnostic]:
    """A warning about each flag that the release does not have."""
    for at, text in flags_of(pod):
        name = text.lstrip("-").partition("=")[0]
        if not takes(release, flag_of(name)) and not (name[:1] == "v" and name[1:].isdecimal()):
            near = closest(name, [flag for flag in SINCE if takes(release, flag)])
            hint = f"did you mean --{near}?" if near else "leave it out"
            message = f"the scheduler {shown(release)} has no flag {text.partition('=')[0]}"
            yield finding(unit, UNKNOWN_FLAG, message, pod.span(at), hint)


def flags_of(pod: Tree) -> Iterator[tuple[Path, str]]:
    """The flags of a scheduler's main container as they are written, with their places."""
    for field in FIELDS:
        items: list[str] = pod.get(*MAIN_CONTAINER, field) or []
        for argument in arguments(items):
            if argument.flag:
                yield (*MAIN_CONTAINER, field, argument.at), items[argument.at]
