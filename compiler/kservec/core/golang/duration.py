"""Durations as Go writes them: `90s`, `1h30m`, `-1.5h`."""

from __future__ import annotations

from fractions import Fraction

from kservec.core.digits import MOST_DIGITS
from kservec.core.patterns import Pattern

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
is_duration = Pattern(rf"[-+]?(?:{NUMBER}(?:ns|us|µs|μs|ms|s|m|h))+|[-+]?0").fullmatch
find_parts = Pattern(rf"({NUMBER})(ns|us|µs|μs|ms|s|m|h)").finditer


def seconds_of(text: str) -> Fraction | None:
    """The seconds of a duration, exactly; None for what is none. Go: time.ParseDuration."""
    if len(text) > MOST_DIGITS or not is_duration(text):
        return None
    total = sum((Fraction(part[1]) * UNITS[part[2]] for part in find_parts(text)), Fraction(0))
    return -total if text.startswith("-") else total
