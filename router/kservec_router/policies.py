"""What the operator says of single steps: time limits, whether a call may be repeated, hedging.

KServe's graph has no fields for these, so they are settings of the router: `NODE/STEP=key:value,...`, where NODE and
STEP may be patterns (`*`) and STEP is a name or a position.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from math import isfinite
from typing import NamedTuple

from kservec_router.errors import SettingsError


class Policy(NamedTuple):
    """How a step is called. Seconds; 0 means no limit, no hedging."""

    timeout_seconds: float = 0
    retries: int = 0
    hedge_seconds: float = 0

    @property
    def is_plain(self) -> bool:
        """Whether each request makes one call, so that its body is needed once."""
        return not self.retries and not self.hedge_seconds


class Policies(NamedTuple):
    """Policies by pattern; the first that matches a step counts."""

    rules: tuple[tuple[str, Policy], ...] = ()

    def of(self, node: str, label: str) -> Policy:
        """The policy of a step."""
        return next((policy for pattern, policy in self.rules if fnmatchcase(f"{node}/{label}", pattern)), Policy())

    def unmatched(self, labels: list[str]) -> list[str]:
        """Patterns that match no step."""
        return [pattern for pattern, _ in self.rules if not any(fnmatchcase(label, pattern) for label in labels)]


def parse_policies(texts: tuple[str, ...]) -> Policies:
    """Policies as they are written in flags: `root/detect=timeout:5,retries:2`, `*/*=hedge:0.2`.

    Raises:
        SettingsError: A text is not of that form.
    """
    return Policies(tuple(_parse_rule(text) for text in texts))


def _parse_rule(text: str) -> tuple[str, Policy]:
    pattern, equals, fields = text.partition("=")
    if not equals or "/" not in pattern:
        raise SettingsError(f'step "{text}": write NODE/STEP=timeout:SECONDS,retries:NUMBER,hedge:SECONDS')
    values = dict(field.partition(":")[::2] for field in fields.split(","))
    unknown = sorted(set(values) - {"timeout", "retries", "hedge"})
    if unknown:
        raise SettingsError(f'step "{pattern}": there is no "{unknown[0]}"; there are timeout, retries and hedge')
    try:
        policy = Policy(float(values.get("timeout", 0)), int(values.get("retries", 0)), float(values.get("hedge", 0)))
    except ValueError:
        raise SettingsError(f'step "{pattern}": the values must be numbers') from None
    if not all(map(isfinite, policy)):
        raise SettingsError(f'step "{pattern}": the values must be finite')
    if min(policy) < 0:
        raise SettingsError(f'step "{pattern}": the values must not be negative')
    return pattern.strip(), policy
