"""Durations as Go writes them: `90s`, `1h30m`, `-1.5h`."""

from __future__ import annotations

import re
from fractions import Fraction

from kservec.core.digits import MOST_DIGITS

UNITS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
"""Seconds in each unit; the micro sign and the Greek letter both count."""

NUMBER = r"(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)"
is_duration = re.compile(rf"[-+]?(?:{NUMBER}(?:ns|us|µs|μs|ms|s|m|h))+|[-+]?0").fullmatch
find_parts = re.compile(rf"({NUMBER})(ns|us|µs|μs|ms|s|m|h)").findall


def seconds_of(text: str) -> Fraction | None:
    """The seconds of a duration, exactly; None for what is none. Go: time.ParseDuration."""
    if len(text) > MOST_DIGITS or not is_duration(text):
        return None
    total = sum((Fraction(number) * UNITS[unit] for number, unit in find_parts(text)), Fraction(0))
    return -total if text.startswith("-") else total
