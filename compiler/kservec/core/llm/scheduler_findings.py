"""What is odd about a scheduler's configuration, found before it runs: names that nothing has, and what it cannot do.

Must not change anything. The scheduler itself says all of this only when it starts, by not starting.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.names import MAIN
from kservec.core.llm.presets import CONFIG_FILE, CONFIG_TEXT, LATENCY_PRODUCER
from kservec.core.llm.scheduler import SCHEDULER_PATH, TOKENIZER_PATH
from kservec.core.llm.scheduler_config.plugins import KNOWN, KNOWN_IN, PLUGINS, PROFILES, has_type, names_of, plugins_of
from kservec.core.llm.scheduler_config.releases import is_scheduler
from kservec.core.pods.containers import find
from kservec.core.spelling import closest, meant_name
from kservec.core.unit import finding
from kservec.core.visible import visible

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic, Span
    from kservec.core.llm.scheduler_arguments import Configured
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit

UNKNOWN_PLUGIN: Final = Code(
    "llm/scheduler-plugin-unknown",
    Severity.WARNING,
    "a plugin of a type that the scheduler does not have",
    "The scheduler does not start with a plugin of a type that it does not know. The types are those of llm-d's router "
    "in the version of the preset; a scheduler of your own may have more.",
)
DANGLING: Final = Code(
    "llm/scheduler-plugin-undeclared",
    Severity.WARNING,
    "a profile that refers to a plugin which is not declared",
    "Profiles refer to plugins by their names, and to those without a name by their types. KServe renames some types "
    "for later versions of the scheduler, and then no profile finds a plugin by its old type.",
)
UNREAD: Final = Code(
    "llm/scheduler-config-unread",
    Severity.WARNING,
    "the scheduler's configuration is no configuration",
    "What --config-text is followed by is no YAML map with a kind. It is passed on as it is, and the scheduler does "
    "not start with it.",
)
NO_CONFIG: Final = Code(
    "llm/scheduler-config-flag",
    Severity.ERROR,
    "a flag for the scheduler's configuration, without one",
    "The flag is the last argument, and what KServe puts behind it would be taken for its value.",
)
TWO_CONFIGS: Final = Code(
    "llm/scheduler-configs",
    Severity.WARNING,
    "the scheduler has two configurations",
    "Of several flags for the scheduler's configuration the last counts. KServe adds one for an inline configuration; "
    "and with the default one where it finds no flag followed by its value, for which it takes --config-text=... not.",
)
NO_PREDICTOR: Final = Code(
    "llm/latency-predictor-missing",
    Severity.WARNING,
    "predictions of latency without the servers that make them",
    "KServe adds the servers that learn and predict latency when the inline configuration asks for them. One that lies "
    "in a ConfigMap is read too late for that.",
)
NO_TOKENIZER: Final = Code(
    "llm/tokenizer-missing",
    Severity.ERROR,
    "a scheduler that needs tokens, and a tokenizer without a container",
    "KServe adds the container of the tokenizer when the inline configuration asks for tokens. With one that lies in a "
    "ConfigMap, which is read too late for that, say router.scheduler.tokenizer: {}.",
)
CONFIG: Final = (*SCHEDULER_PATH, "config")
INLINE: Final = (*CONFIG, "inline")
CONFIG_FLAGS: Final = CONFIG_TEXT + CONFIG_FILE


def config_findings(unit: Unit, configured: Configured) -> Iterator[Diagnostic]:
    """What is odd about the configurations of a scheduler."""
    yield from flag_findings(unit, configured)
    image = (find(configured.pod.get("containers") or (), MAIN) or {}).get("image") or ""
    for i in configured.unread:
        place = configured.pod.span(("containers", MAIN, "args", i))
        message = f"the scheduler's configuration of {unit.ref} cannot be read: it is no YAML map with a kind"
        yield finding(unit, UNREAD, message, place, "correct it")
    for i, (_, config, _) in configured.configs:
        at: Path = ("containers", MAIN, "args", i)
        if configured.version[:2] == KNOWN_IN and is_scheduler(image):
            yield from unknown_types(unit, configured, config, at)
        yield from dangling(unit, configured, config, at)
        if has_type(config, LATENCY_PRODUCER) and find(configured.pod.get("containers"), "prediction-server") is None:
            message = f"{unit.ref} predicts latencies, and no server in the scheduler's pod does"
            hint = "put the configuration inline"
            yield finding(unit, NO_PREDICTOR, message, configured.pod.span(at), hint)


def flag_findings(unit: Unit, configured: Configured) -> Iterator[Diagnostic]:
    """What is odd about the flags that give a scheduler its configuration."""
    args: list[str] = (find(configured.pod.get("containers") or (), MAIN) or {}).get("args") or []
    flags = [i for i, arg in enumerate(args) if arg.partition("=")[0] in CONFIG_FLAGS]
    for i, following in pairwise(flags):
        place = configured.pod.span(("containers", MAIN, "args", i))
        if following == i + 1 and "=" not in args[i]:
            yield finding(unit, NO_CONFIG, f"{args[i]} has no value", place, "write the value behind it")
        else:
            message = (
                f"the scheduler's configuration after {args[i].partition('=')[0]} is not used: another comes later"
            )
            yield finding(unit, TWO_CONFIGS, message, place, "keep one of them")


def unknown_types(unit: Unit, configured: Configured, config: Json, at: Path) -> Iterator[Diagnostic]:
    """A warning about each plugin of a type that the scheduler does not have."""
    for plugin in plugins_of(config) or ():
        kind = plugin.get("type") if isinstance(plugin, dict) else None
        if isinstance(kind, str) and kind not in KNOWN:
            near = closest(kind, KNOWN)
            hint = f"did you mean {near}?" if near else "take one of its types, or leave the plugin out"
            place = written_at(unit, "type", kind) or configured.pod.span(at)
            yield finding(unit, UNKNOWN_PLUGIN, f"the scheduler has no plugin of the type {visible(kind)}", place, hint)


def dangling(unit: Unit, configured: Configured, config: Json, at: Path) -> Iterator[Diagnostic]:
    """A warning about each reference of a profile that leads to no plugin."""
    names = {name for name in names_of(plugins_of(config) or ()) if isinstance(name, str)}
    profiles = config.get(PROFILES)
    for profile in profiles if isinstance(profiles, list) else ():
        refs = profile.get(PLUGINS) if isinstance(profile, dict) else None
        for ref in refs if isinstance(refs, list) else ():
            name = ref.get("pluginRef") if isinstance(ref, dict) else None
            if isinstance(name, str) and name not in names:
                near = meant_name(name, names)
                hint = f"did you mean {near}?" if near else "declare it among the plugins"
                refers = f"the profile {visible(profile.get('name'))} refers to the plugin {visible(name)}"
                message = f"{refers}, which is not declared"
                place = written_at(unit, "pluginRef", name) or configured.pod.span(at)
                yield finding(unit, DANGLING, message, place, hint)


def written_at(unit: Unit, field: str, value: str) -> Span | None:
    """Where a field of the inline configuration has a value; None if it has not, or the configuration is elsewhere.

    Migrations move plugins, so that their places in the text tell nothing.
    """
    assert unit.resolved is not None
    found = next(paths_to(unit.resolved.get(*INLINE), field, value), None)
    return unit.resolved.span((*INLINE, *found)) if found is not None else None


def paths_to(node: Json, field: str, value: str) -> Iterator[Path]:
    """The paths at which a field has a value."""
    for step, item in node.items() if isinstance(node, dict) else enumerate(node if isinstance(node, list) else ()):
        if step == field and item == value:
            yield (step,)
        yield from ((step, *rest) for rest in paths_to(item, field, value))


def tokenizer_findings(unit: Unit) -> Iterator[Diagnostic]:
    """An error about a tokenizer that would have no container."""
    assert unit.resolved is not None
    if not unit.resolved.get(*TOKENIZER_PATH, "containers"):
        message = f"the scheduler of {unit.ref} needs tokens, and its tokenizer has no container"
        place = unit.resolved.span(CONFIG) or unit.resolved.span(SCHEDULER_PATH)
        yield finding(unit, NO_TOKENIZER, message, place, "say router.scheduler.tokenizer: {} in the spec")
