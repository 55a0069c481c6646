"""The scheduler's arguments, as its version takes them: flags that are gone, and the configuration's text.

Decides what is changed in the pod; what in the configuration, `scheduler_config` knows.
KServe: pkg/controller/v1alpha2/llmisvc/scheduler.go, schedulerTransform
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.llm.names import MAIN, VERSION_ANNOTATION
from kservec.core.llm.presets import CONFIG_TEXT
from kservec.core.llm.scheduler import TOKENIZER_CONTAINER, runs_tokenizer, tokenizer_url
from kservec.core.llm.scheduler_config.flags import (
    METRIC_FIELDS,
    SCRAPE_FIELDS,
    SCRAPE_FLAGS,
    BadFlagError,
    without_flags,
)
from kservec.core.llm.scheduler_config.migrations import NoTextError
from kservec.core.llm.scheduler_config.rewriting import (
    FIRST_MIGRATED,
    SCRAPING_BY_PLUGIN,
    Changes,
    Rewritten,
    rewritten,
)
from kservec.core.llm.scheduler_config.versions import Version, parse_version
from kservec.core.llm.scheduler_release import image_release, spelt_for
from kservec.core.pods.containers import find
from kservec.core.tree import Graft, Layer, Origin
from kservec.core.unit import finding

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.part import Part
    from kservec.core.registry import Env
    from kservec.core.tree import Path, Tree
    from kservec.core.unit import Unit

MADE: Final = Origin(Layer.KSERVE_DEFAULT, "scheduler_arguments")

VERSION: Final = Code(
    "llm/scheduler-version",
    Severity.ERROR,
    "the scheduler's version is none",
    "The annotation app.kubernetes.io/version of the scheduler tells which names and flags it takes. It has three "
    "numbers, without a v in front.",
)
FLAG: Final = Code(
    "llm/scheduler-flag",
    Severity.ERROR,
    "a flag that the scheduler no longer has",
    "Flags that were removed are turned into parameters of the inline configuration, or of --config-text. A file that "
    "--config-file names cannot be changed: say there what the flag said, and remove it.",
)
CONFIG: Final = Code(
    "llm/scheduler-plugin",
    Severity.ERROR,
    "a plugin of the scheduler's configuration cannot be brought up to date",
    "The configuration is rewritten for the version of the scheduler, and a parameter that has to change is not what "
    "it must be.",
)


class Configured(NamedTuple):
    """A scheduler's pod, and its configurations with their places among the arguments."""

    pod: Tree
    configs: tuple[tuple[int, Rewritten], ...] = ()
    version: Version = (0, 0, 0, True)
    unread: tuple[int, ...] = ()


def up_to_date(unit: Unit, part: Part, env: Env) -> Configured:
    """A scheduler's pod with the arguments that its version takes.

    Raises:
        Reject: its version is none, or a flag is gone and there is no text that could say what it said.
    """
    assert unit.resolved is not None
    version = version_of(unit, part)
    pod = spelt_for(part.pod, image_release(part.pod), version)
    has_sidecar = find(pod.get("containers") or (), TOKENIZER_CONTAINER) is not None
    if version < FIRST_MIGRATED and not has_sidecar:
        return Configured(pod, version=version)
    metrics: Mapping[str, str] = {}
    scraping: Mapping[str, str] = {}
    if version >= FIRST_MIGRATED:
        pod, metrics = without(unit, pod, ("args",), METRIC_FIELDS)
    if version >= SCRAPING_BY_PLUGIN:
        pod, scraping = without(unit, pod, ("command", "args"), SCRAPE_FLAGS)
    changes = Changes(
        version=version,
        has_sidecar=has_sidecar,
        tokenizer_url=tokenizer_url(unit, env.platform) if runs_tokenizer(unit.resolved.value, env) else "",
        metrics=tuple(metrics.items()),
        scraping=tuple(scraping.items()),
    )
    return with_texts(unit, Configured(pod, version=version), changes)


def version_of(unit: Unit, part: Part) -> Version:
    """The version of the scheduler.

    Raises:
        Reject: it is none.
    """
    text: str = part.pod_annotations.value.get(VERSION_ANNOTATION) or ""
    version = parse_version(text)
    if version is None:
        place = part.pod_annotations.span((VERSION_ANNOTATION,))
        message = f"{text!r} is no version: three numbers with dots between them are due"
        raise Reject(finding(unit, VERSION, message, place, "write it as in 0.10.0"))
    return version


def without(unit: Unit, pod: Tree, fields: tuple[str, ...], flags: Collection[str]) -> tuple[Tree, Mapping[str, str]]:
    """A pod whose containers do not have some flags, and the values of those that something must be told.

    Raises:
        Reject: there are such values, and no text of a configuration that could say them.
    """
    values: dict[str, str] = {}
    for container in pod.get("containers") or ():
        changed, found = without_flags(container, fields, flags)
        if not found:
            continue
        told = [flag for flag in found if flag in SCRAPE_FIELDS or flag in METRIC_FIELDS]
        if told and not config_places(pod):
            raise Reject(no_place(unit, pod, container["name"], sorted(told)))
        values = found if flags is METRIC_FIELDS else {**values, **found}
        at = ("containers", container["name"])
        pod = pod.put(at, changed, Graft(pod, at))
        for field in fields:
            pod = pod.note((*at, field), MADE) if changed.get(field) != container.get(field) else pod
    return pod, values


def no_place(unit: Unit, pod: Tree, container: str, flags: list[str]) -> Diagnostic:
    """The diagnostic for flags whose values would be lost."""
    named = ", ".join(f"--{flag}" for flag in flags)
    message = f"the scheduler no longer takes {named}, and {unit.ref} has no inline configuration that could say it"
    args: list[str] = pod.get("containers", container, "args") or []
    at = next((i for i, arg in enumerate(args) if arg.lstrip("-").partition("=")[0] in flags), 0)
    place = pod.span(("containers", container, "args", at)) or pod.span(("containers", container))
    return finding(unit, FLAG, message, place, "say it in the configuration, and remove the flag")


def config_places(pod: Tree) -> list[int]:
    """Where among the arguments of the main container texts of configurations stand."""
    container = find(pod.get("containers") or (), MAIN) or {}
    return [i for i, (name, _) in enumerate(pairwise(container.get("args") or ()), 1) if name in CONFIG_TEXT]


def with_texts(unit: Unit, before: Configured, changes: Changes) -> Configured:
    """A pod whose texts of configurations are up to date. After one that is no configuration all stay as they are.

    Raises:
        Reject: one cannot be brought up to date.
    """
    pod = before.pod
    configs: list[tuple[int, Rewritten]] = []
    for i in config_places(pod):
        at: Path = ("containers", MAIN, "args", i)
        try:
            found = rewritten(pod.get(*at), changes)
        except (NoTextError, BadFlagError) as error:
            code = CONFIG if isinstance(error, NoTextError) else FLAG
            remedy = "correct it where the scheduler's configuration or arguments are written"
            raise Reject(finding(unit, code, f"{unit.ref}: {error}", pod.span(at), remedy)) from None
        if found is None:
            return before._replace(pod=pod, configs=tuple(configs), unread=(i,))
        configs.append((i, found))
        pod = pod.put(at, found.text, Graft(pod, at))
        if not found.keeps_sidecar:
            pod = pod.without(("containers", TOKENIZER_CONTAINER), MADE)
    return before._replace(pod=pod, configs=tuple(configs))
