"""Traces: where they go, if variables of OpenTelemetry say so and the arguments do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from .refusals import CONFIG, Refusal
from .settings import Settings
from .words import has, value

ENDPOINT: Final = "--otlp-traces-endpoint"
DETAILS: Final = "--collect-detailed-traces"


def tracing_words(words: Sequence[str], settings: Settings) -> list[str]:
    """The words with the endpoint of traces.

    Raises:
        Refusal: the endpoint is no URL, or details are to be collected for nobody.
    """
    found = list(words)
    if settings.traces_endpoint and not has(found, ENDPOINT):
        found = [*found, f"{ENDPOINT}={settings.traces_endpoint}"]
    endpoint = value(found, ENDPOINT)
    if endpoint is None and has(found, DETAILS):
        raise Refusal(CONFIG, f"{DETAILS} is given without {ENDPOINT}", f"add {ENDPOINT}=http://COLLECTOR:4317")
    if endpoint is not None and "://" not in endpoint:
        raise Refusal(CONFIG, f"{ENDPOINT} is {endpoint!r}, which is no URL", "write http://COLLECTOR:4317")
    return found
