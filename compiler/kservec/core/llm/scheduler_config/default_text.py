"""The scheduler's configuration where nobody wrote one.

Decides which plugins it has. KServe: pkg/controller/v1alpha2/llmisvc/scheduler.go, schedulerConfigText
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

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
PROFILE_HANDLER: Final = f"""\
- type: disagg-profile-handler
  parameters:
    deciders:
      prefill: {DECIDER}
"""


@lru_cache(maxsize=4)
def default_text(*, has_prefill: bool, has_lora: bool) -> str:
    """The configuration for servers that do all alike, or for those that share prefill and decode."""
    lora = (LORA_SCORER,) if has_lora else ()
    if has_prefill:
        plugins = f"{plugin_lines(FOR_TWO)}{PROFILE_HANDLER}{plugin_lines(lora)}"
        # A filter comes first, and scorers after it.
        profiles = {name: (p[0], *lora_entry(lora), *p[1:]) for name, p in (("prefill", PREFILL), ("decode", DECODE))}
    else:
        plugins = plugin_lines((*FOR_ONE, *lora))
        profiles = {"default": (*lora_entry(lora), *TOGETHER)}
    head = "\napiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\nplugins:\n"
    return f"{head}{plugins}schedulingProfiles:\n{''.join(profile_lines(*item) for item in profiles.items())}"


def lora_entry(scorers: tuple[str, ...]) -> Profile:
    """The scorers as a part of a profile."""
    return tuple((scorer, LORA_WEIGHT) for scorer in scorers)


def plugin_lines(types: tuple[str, ...]) -> str:
    """Plugins without parameters, one a line."""
    return "".join(f"- type: {name}\n" for name in types)


def profile_lines(name: str, plugins: Profile) -> str:
    """One profile."""
    lines = (
        f"  - pluginRef: {plugin}\n" + (f"    weight: {weight}\n" if weight is not None else "")
        for plugin, weight in plugins
    )
    return f"- name: {name}\n  plugins:\n{''.join(lines)}"
