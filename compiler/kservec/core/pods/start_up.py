"""Start-up: how many seconds a container may take until its probe has failed for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.core.tree import Json

DEADLINE = 600
"""The seconds that a rollout has where nothing says otherwise. Kubernetes: pkg/apis/apps/v1/defaults.go"""
PERIOD, FAILURES = 10, 3
STARTUP, READINESS = "startupProbe", "readinessProbe"


class StartUp(NamedTuple):
    """The seconds, the probe that they come from, and how they come about."""

    seconds: int
    probe: str
    sum_of: str


def start_up(container: Json) -> StartUp:
    """How long a container may take to start: by its startup probe, else by its readiness probe."""
    name = STARTUP if container.get(STARTUP) else READINESS
    probe = container.get(name)
    if not probe:
        return StartUp(0, name, "")
    delay, period, failures = (
        int(probe.get(field) or default)
        for field, default in (("initialDelaySeconds", 0), ("periodSeconds", PERIOD), ("failureThreshold", FAILURES))
    )
    return StartUp(delay + period * failures, name, f"{name}: {delay} + {period} x {failures}")


def longest_start_up(containers: Iterable[Json]) -> int:
    """How long the slowest of several containers may take to start."""
    return max((start_up(container).seconds for container in containers), default=0)
