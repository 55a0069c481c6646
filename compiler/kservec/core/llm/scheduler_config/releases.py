"""Releases of the scheduler: which one an image is, which flags it takes, and how it spells them.

Decides nothing about pods. A release that came after those that are known here, or somebody else's image, is none.
llm-d-router: cmd/epp and pkg/epp/server/options.go; before 0.9 those of gateway-api-inference-extension
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from kservec.core.llm.scheduler_config.versions import Version, parse_version

Release = tuple[int, int, int]

IMAGES: Final = ("llm-d-inference-scheduler", "llm-d-router-endpoint-picker")
"""What the images are called, the later name since 0.9, in whichever registry they lie."""
FIRST_KNOWN: Final[Release] = (0, 2, 0)
FIRST_UNKNOWN: Final[Release] = (0, 11, 0)

WITH_DASHES: Final[Release] = (0, 3, 0)
"""The first release that writes --pool-name, and no longer --poolName."""
STRICT: Final[Release] = (0, 5, 0)
"""The first release that reads on after an empty argument, and takes one dash only before single letters."""
SCRAPED_BY_PLUGIN: Final[Release] = (0, 10, 0)
"""The first release whose configuration says how servers are asked for their metrics, and no flag does."""
LLM_D_API: Final[Release] = (0, 9, 0)
"""The first release whose configuration is of llm-d's own API group."""

_ADDED: Final[Mapping[Release, tuple[str, ...]]] = {
    (0, 2, 0): (
        "cert-path", "config-file", "config-text", "enable-pprof", "grpc-health-port", "grpc-port", "health-checking",
        "kubeconfig", "kv-cache-usage-percentage-metric", "lora-info-metric", "metrics-port",
        "model-server-metrics-path", "model-server-metrics-port", "pool-name", "pool-namespace",
        "refresh-metrics-interval", "refresh-prometheus-metrics-interval", "secure-serving",
        "total-queued-requests-metric", "v", "zap-devel", "zap-encoder", "zap-log-level", "zap-stacktrace-level",
        "zap-time-encoding",
    ),
    (0, 2, 1): ("model-server-metrics-https-insecure-skip-verify", "model-server-metrics-scheme"),
    (0, 3, 0): ("ha-enable-leader-election", "metrics-staleness-threshold", "pool-group"),
    (0, 4, 0): (
        "cache-info-metric", "endpoint-selector", "endpoint-target-ports", "metrics-endpoint-auth", "tracing",
    ),
    (0, 5, 0): ("disable-endpoint-subset-filter", "enable-cert-reload", "total-running-requests-metric"),
    (0, 9, 0): ("enable-grpc-stream-metrics", "grpc-max-recv-msg-size", "grpc-max-send-msg-size"),
    (0, 10, 0): (
        "allow-experimental-plugins", "drain-timeout", "emit-endpoint-scores", "metrics-cert-dir",
        "metrics-client-ca-file", "tls-cipher-suites", "tls-min-version",
    ),
}  # fmt: skip
_REMOVED: Final[Mapping[Release, tuple[str, ...]]] = {
    (0, 5, 0): ("kubeconfig",),
    (0, 10, 0): (
        "model-server-metrics-https-insecure-skip-verify", "model-server-metrics-path", "model-server-metrics-port",
        "model-server-metrics-scheme",
    ),
}  # fmt: skip
SINCE: Final = {flag: release for release, flags in _ADDED.items() for flag in flags}
UNTIL: Final = {flag: release for release, flags in _REMOVED.items() for flag in flags}
SWITCHES: Final = frozenset((
    "allow-experimental-plugins", "disable-endpoint-subset-filter", "emit-endpoint-scores", "enable-cert-reload",
    "enable-grpc-stream-metrics", "enable-pprof", "ha-enable-leader-election", "health-checking",
    "metrics-endpoint-auth", "model-server-metrics-https-insecure-skip-verify", "secure-serving", "tracing",
    "zap-devel",
))  # fmt: skip
"""Flags that take no value from the argument behind them."""
LEADER_ELECTION: Final = "ha-enable-leader-election"
LISTS: Final = ("endpoint-target-ports", "tls-cipher-suites")
"""Flags that add to what was said before, where others replace it."""


def _in_camel_case(flag: str) -> str:
    first, *others = flag.split("-")
    return flag if first == "zap" else first + "".join(word.capitalize() for word in others)


_FLAGS: Final = {spelling: flag for flag in SINCE for spelling in (flag, _in_camel_case(flag))}


class Argument(NamedTuple):
    """A flag with its value, or another argument, whose `flag` is empty.

    `at` is its place in the list, and `length` how many items of that it takes.
    """

    at: int
    length: int
    flag: str


def is_scheduler(image: str) -> bool:
    """Whether an image is the scheduler of llm-d, in whichever registry; somebody else's may have more plugins."""
    return image.partition("@")[0].rpartition("/")[2].partition(":")[0] in IMAGES


@lru_cache(maxsize=64)
def release_of(image: str) -> Release | None:
    """The release of an image of the scheduler; None for other images, and for releases that are not known here."""
    name, _, tag = image.partition("@")[0].rpartition("/")[2].partition(":")
    version = parse_version(tag.removeprefix("v")) if name in IMAGES and tag else None
    return version[:3] if version is not None and FIRST_KNOWN <= version[:3] < FIRST_UNKNOWN else None


def is_release(version: Version, release: Release | None) -> bool:
    """Whether a version is that of a release; builds of one minor version take the same flags."""
    return release is not None and version[:2] == release[:2]


def takes(release: Release, flag: str) -> bool:
    """Whether a release has a flag."""
    return SINCE.get(flag, FIRST_UNKNOWN) <= release < UNTIL.get(flag, FIRST_UNKNOWN)


def flag_of(written: str) -> str:
    """The flag that is written behind dashes, in the spelling of later releases."""
    return _FLAGS.get(written, written)


@lru_cache(maxsize=16)
def lacking(release: Release) -> frozenset[str]:
    """The flags that a release does not have, and that are not turned into its configuration either."""
    gone = frozenset(UNTIL) if release >= SCRAPED_BY_PLUGIN else frozenset()
    return frozenset(flag for flag in SINCE if not takes(release, flag)) - gone


@lru_cache(maxsize=16)
def _spellings(release: Release) -> frozenset[str]:
    """How the flags of a release are written."""
    return frozenset(spelt(release, f"--{flag}") for flag in SINCE if takes(release, flag)) | {"-v"}


def is_settled(release: Release, *lists: Iterable[str]) -> bool:
    """Whether all arguments are surely as a release takes them, each flag once, told as quickly as can be."""
    known = _spellings(release)
    seen: set[str] = set()
    for argument in chain(*lists):
        if not argument:
            return False
        if argument[0] == "-":
            name = argument.partition("=")[0]
            if name not in known or name in seen:
                return False
            seen.add(name)
    return True


def spelt(release: Release, argument: str) -> str:
    """An argument with its flag as the release writes it; others stay as they are."""
    name, has_value, value = argument.lstrip("-").partition("=")
    flag = _FLAGS.get(name)
    if flag is None or not argument.startswith("-"):
        return argument
    new = flag if release >= WITH_DASHES else _in_camel_case(flag)
    dashes = "--" if release >= STRICT and len(new) > 1 else argument[: len(argument) - len(argument.lstrip("-"))]
    return f"{dashes}{new}{has_value}{value}"


def arguments(given: Iterable[str]) -> Iterator[Argument]:
    """The arguments of a list, each flag with its value."""
    items = list(given)
    at = 0
    while at < len(items):
        found = _argument(items, at)
        yield found
        at += found.length


def _argument(items: list[str], at: int) -> Argument:
    text = items[at]
    if not text.startswith("-"):
        return Argument(at, 1, "")
    written, is_joined, _ = text.lstrip("-").partition("=")
    flag = flag_of(written)
    following = items[at + 1] if at + 1 < len(items) else "-"
    has_value = not following.startswith("-") if flag not in SINCE else at + 1 < len(items)
    return Argument(at, 1 if is_joined or flag in SWITCHES or not has_value else 2, flag)
