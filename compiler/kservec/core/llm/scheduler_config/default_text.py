"""The scheduler's configuration where nobody wrote one.

Decides which plugins it has. KServe: pkg/controller/v1alpha2/llmisvc/scheduler.go, schedulerConfigText
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from kservec.core.llm.scheduler_config.releases import LLM_D_API, Release

LORA_SCORER: Final = "lora-affinity-scorer"
LORA_WEIGHT: Final = 4
Profile = tuple[tuple[str, int | None], ...]
"""The plugins of a profile, each with its weight; None for those that have none."""

DECIDER: Final = "always-disagg-pd-decider"
TOGETHER: Final[Profile] = (
    ("queue-scorer", 2), ("kv-cache-utilization-scorer", 2), ("prefix-cache-scorer", 3), ("no-hit-lru-scorer", 2),
    ("max-score-picker", None),
)  # fmt: skip
PREFILL: Final[Profile] = (
    ("prefill-filter", None), ("prefix-cache-scorer", 3), ("queue-scorer", 2), ("kv-cache-utilization-scorer", 2),
    ("max-score-picker", None),
)  # fmt: skip
DECODE: Final[Profile] = (
    ("decode-filter", None), ("active-request-scorer", 2), ("prefix-cache-scorer", 3), ("max-score-picker", None),
)  # fmt: skip
FOR_ONE: Final = ("single-profile-handler", *(name for name, _ in TOGETHER))
FOR_TWO: Final = (
    "disagg-headers-handler", "prefill-filter", "decode-filter", "queue-scorer", "kv-cache-utilization-scorer",
    "active-request-scorer", "prefix-cache-scorer", "max-score-picker", DECIDER,
)  # fmt: skip
SINCE: Final[Mapping[str, Release]] = {
    "kv-cache-utilization-scorer": (0, 3, 0), "active-request-scorer": (0, 3, 0), LORA_SCORER: (0, 3, 0),
    "no-hit-lru-scorer": (0, 4, 0), DECIDER: (0, 6, 0),
}  # fmt: skip
"""Plugins that earlier releases do not have."""
OLD_NAMES_UNTIL: Final[Release] = (0, 7, 0)
OLD_NAMES: Final = {"disagg-headers-handler": "prefill-header-handler"}
PROFILE_HANDLER: Final = f"""\
- type: disagg-profile-handler
  parameters:
    deciders:
      prefill: {DECIDER}
"""
OLD_PROFILE_HANDLER: Final = f"""\
- type: pd-profile-handler
  parameters:
    deciderPluginName: {DECIDER}
"""
FIRST_PROFILE_HANDLER: Final = """\
- type: pd-profile-handler
  parameters:
    threshold: 0
"""


@lru_cache(maxsize=16)
def default_text(*, has_prefill: bool, has_lora: bool, release: Release | None = None) -> str:
    """The configuration for servers that do all alike, or for those that share prefill and decode.

    It is KServe's; where an earlier release of the scheduler is known to run, it has the names and plugins of that.
    """
    lora = (LORA_SCORER,) if has_lora else ()
    if has_prefill:
        plugins = f"{plugin_lines(FOR_TWO, release)}{profile_handler(release)}{plugin_lines(lora, release)}"
        # A filter comes first, and scorers after it.
        profiles = {name: (p[0], *lora_entry(lora), *p[1:]) for name, p in (("prefill", PREFILL), ("decode", DECODE))}
    else:
        plugins = plugin_lines((*FOR_ONE, *lora), release)
        profiles = {"default": (*lora_entry(lora), *TOGETHER)}
    head = f"\napiVersion: {api(release)}/v1alpha1\nkind: EndpointPickerConfig\nplugins:\n"
    lines = "".join(profile_lines(*item, release) for item in profiles.items())
    return f"{head}{plugins}schedulingProfiles:\n{lines}"


def api(release: Release | None) -> str:
    """The API group of a configuration."""
    return "llm-d.ai" if release is None or release >= LLM_D_API else "inference.networking.x-k8s.io"


def profile_handler(release: Release | None) -> str:
    """The plugin that sends a request to prefill before decode, always."""
    if release is None or release >= OLD_NAMES_UNTIL:
        return PROFILE_HANDLER
    return OLD_PROFILE_HANDLER if has(DECIDER, release) else FIRST_PROFILE_HANDLER


def has(plugin: str, release: Release | None) -> bool:
    """Whether a release has a plugin of the defaults."""
    return release is None or release >= SINCE.get(plugin, release)


def lora_entry(scorers: tuple[str, ...]) -> Profile:
    """The scorers as a part of a profile."""
    return tuple((scorer, LORA_WEIGHT) for scorer in scorers)


def plugin_lines(types: tuple[str, ...], release: Release | None) -> str:
    """Plugins without parameters, one a line."""
    names = OLD_NAMES if release is not None and release < OLD_NAMES_UNTIL else {}
    return "".join(f"- type: {names.get(name, name)}\n" for name in types if has(name, release))


def profile_lines(name: str, plugins: Profile, release: Release | None) -> str:
    """One profile."""
    lines = (
        f"  - pluginRef: {plugin}\n" + (f"    weight: {weight}\n" if weight is not None else "")
        for plugin, weight in plugins
        if has(plugin, release)
    )
    return f"- name: {name}\n  plugins:\n{''.join(lines)}"
