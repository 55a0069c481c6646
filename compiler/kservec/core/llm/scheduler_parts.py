"""The workloads that choose servers for requests: the scheduler and, where it needs tokens, the tokenizer.

Decides their pods as far as the spec and the defaults of the scheduler's arguments go; what later versions make of the
arguments is `schedule_requests`'. KServe: expectedSchedulerDeployment and expectedTokenizerDeployment
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final

from kservec.core.golang.encoding import encode
from kservec.core.llm.names import MAIN, SCHEDULER, TOKENIZER, child_name
from kservec.core.llm.part import Part, PartRole
from kservec.core.llm.presets import CONFIG_FILE, CONFIG_TEXT
from kservec.core.llm.resolved import SCHEDULER_POD
from kservec.core.llm.scheduler import (
    SCHEDULER_COMPONENT,
    SCHEDULER_PATH,
    TOKENIZER_COMPONENT,
    TOKENIZER_PATH,
    part_labels,
    runs_scheduler,
    runs_tokenizer,
    scheduler_account,
)
from kservec.core.llm.scheduler_config.default_text import default_text
from kservec.core.llm.scheduler_config.releases import LEADER_ELECTION, takes
from kservec.core.llm.scheduler_release import image_release, with_version
from kservec.core.pods.containers import find
from kservec.core.tree import Concat, Layer, Origin, Tree, lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.llm.scheduler_config.releases import Release
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

MADE: Final = Origin(Layer.KSERVE_DEFAULT, "scheduler_parts")
CONFIG_FLAG: Final = "--config-text"
LEADER_FLAGS: Final = (f"--{LEADER_ELECTION}", f"-{LEADER_ELECTION}")
INLINE: Final = (*SCHEDULER_PATH, "config", "inline")
EMPTY: Final = Tree.of({}, MADE)


def scheduler_parts(unit: Unit, env: Env) -> tuple[Part, ...]:
    """The scheduler of a service, and its tokenizer, if it has them."""
    spec = unit.resolved
    if unit.stopped or spec is None:
        return ()
    scheduler = (scheduler_part(unit, spec),) if runs_scheduler(spec.value) else ()
    return (*scheduler, tokenizer_part(unit, spec)) if runs_tokenizer(spec.value, env) else scheduler


def scheduler_part(unit: Unit, spec: Tree) -> Part:
    """The scheduler."""
    made = part_labels(unit.name, SCHEDULER_COMPONENT)
    labels = spec.get(*SCHEDULER_PATH, "labels")
    replicas = spec.get(*SCHEDULER_PATH, "replicas")
    pod = spec.sub(*SCHEDULER_POD)
    return Part(
        role=PartRole.SCHEDULER,
        name=child_name(unit.name, SCHEDULER),
        path=SCHEDULER_PATH,
        labels=Tree.union((made, MADE), (labels, spec.sub(*SCHEDULER_PATH, "labels"))),
        annotations=EMPTY,
        pod=with_arguments(pod, spec, replicas or 0),
        pod_annotations=with_version(annotations_of(spec), pod),
        replicas=replicas,
    )


def annotations_of(spec: Tree) -> Tree:
    """The annotations of the scheduler's pods."""
    found = spec.sub(*SCHEDULER_PATH, "annotations")
    return found if found.value else EMPTY


def with_arguments(pod: Tree, spec: Tree, replicas: int) -> Tree:
    """The scheduler's pod whose main container elects a leader if there are several, and has a configuration."""
    container = find(pod.get("containers") or (), MAIN)
    if container is None:
        return pod
    args: list[Json] = container.get("args") or []
    release = image_release(pod)
    leader = leader_arguments(args, replicas, release)
    config = config_arguments(spec, args, release)
    added = [*leader, *config]
    if not added:
        return pod
    at = ("containers", MAIN, "args")
    put = pod.put(at, [*args, *added], Concat(len(args), pod.sub(*at), MADE))
    return put.note((*at, len(args) + len(added) - 1), spec.sub(*INLINE)) if is_written(spec) and config else put


def leader_arguments(args: Sequence[str], replicas: int, release: Release | None) -> list[Json]:
    """The argument by which one of several schedulers decides, where it is not there, and the release has it."""
    is_needed = replicas > 1 and not any(flag in args for flag in LEADER_FLAGS)
    return [LEADER_FLAGS[0]] if is_needed and (release is None or takes(release, LEADER_ELECTION)) else []


def is_written(spec: Tree) -> bool:
    """Whether a configuration stands in the spec."""
    return spec.get(*INLINE) is not None


def config_arguments(spec: Tree, args: Sequence[str], release: Release | None) -> list[Json]:
    """The arguments that give the scheduler its configuration; none where it is among those that there are."""
    inline = spec.get(*INLINE)
    if inline is not None:
        return [CONFIG_FLAG, inline if isinstance(inline, str) else encode(inline)]
    if any(name in CONFIG_TEXT + CONFIG_FILE for name, _ in pairwise(args)):
        return []
    has_lora = bool(lookup(spec.value, ("model", "lora", "adapters")))
    has_prefill = spec.get("prefill") is not None
    return [CONFIG_FLAG, default_text(has_prefill=has_prefill, has_lora=has_lora, release=release)]


def tokenizer_part(unit: Unit, spec: Tree) -> Part:
    """The tokenizer. Its downloads use the credentials of the scheduler's account."""
    pod = spec.sub(*TOKENIZER_PATH)
    has_pod = spec.get(*SCHEDULER_POD) is not None
    return Part(
        role=PartRole.TOKENIZER,
        name=child_name(unit.name, TOKENIZER),
        path=TOKENIZER_PATH[:-1],
        labels=Tree.of(part_labels(unit.name, TOKENIZER_COMPONENT), MADE),
        annotations=EMPTY,
        pod=pod if pod.value is not None else EMPTY,
        pod_annotations=EMPTY,
        replicas=1,
        account=scheduler_account(unit.name, spec.value) if has_pod else "",
    )
