"""Settings of the router: flags, else environment variables, else defaults.

`--graph-json` and PROPAGATE_HEADERS are KServe's own, so that its image can be swapped for this one.
KServe: cmd/router/main.go (main), pkg/constants/constants.go (RouterHeadersPropagateEnvVar)
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import isfinite
from typing import Any

from kservec_router.errors import SettingsError
from kservec_router.policies import Policies, parse_policies

PREFIX = "KSERVEC_ROUTER_"
HIGHEST_PORT = 65_535


def _port(text: str) -> int:
    """A port: 1 to 65535, or 0 for any that is free."""
    if not 0 <= (number := int(text)) <= HIGHEST_PORT:
        raise ValueError(f"{number} is no port")
    return number


def _size(text: str) -> int:
    """Bytes, as `65536`, `64Ki`, `64Mi`, `1Gi`."""
    for shift, unit in ((10, "Ki"), (20, "Mi"), (30, "Gi")):
        if text.endswith(unit):
            return int(text.removesuffix(unit)) << shift
    return int(text)


def _seconds(text: str) -> float:
    """A number of seconds; not an endless one."""
    if not isfinite(number := float(text)):
        raise ValueError(f"{text} is no number of seconds")
    return number


def _switch(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _setting(default: Any, read: Callable[[str], Any], about: str, variable: str = "") -> Any:
    """A field with what its flag needs: how to read it, and what it is about."""
    return field(default=default, metadata={"read": read, "about": about, "variable": variable})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that can be set. Times are in seconds, sizes in bytes."""

    graph_json: str = _setting("", str, "the graph's spec as JSON")
    graph: str = _setting("", str, "file with the graph, JSON or YAML; it is read again when it changes")
    host: str = _setting("", str, "address to listen on (default: all)")
    port: int = _setting(8080, _port, "port to listen on")
    propagate_headers: str = _setting(
        "", str, "patterns of headers that go on to the services, separated by commas", "PROPAGATE_HEADERS"
    )
    steps: str = _setting("", str, "policies of steps: NODE/STEP=timeout:S,retries:N,hedge:S; separated by semicolons")
    body_limit: int = _setting(64 << 20, _size, "longest body that is held in memory")
    stream_from: int = _setting(
        1 << 20, _size, "requests longer than this are passed on while they arrive, if possible"
    )
    head_limit: int = _setting(64 << 10, _size, "longest head of a request or a reply")
    max_requests: int = _setting(1024, int, "requests at a time; more are answered with 503")
    max_clients: int = _setting(8192, int, "connections of clients; more are answered with 503")
    max_connections: int = _setting(1024, int, "connections to one host")
    max_waiting: int = _setting(1024, int, "calls that wait for a connection to one host; more are answered with 503")
    connect_seconds: float = _setting(10, _seconds, "time limit for connecting")
    connect_attempts: int = _setting(3, int, "how often to try while nobody listens")
    idle_seconds: float = _setting(4, _seconds, "how long an unused connection is kept; less than the services keep it")
    retries: int = _setting(2, int, "retries of requests with a propagated Idempotency-Key")
    backoff_seconds: float = _setting(0.05, _seconds, "pause before the first retry; it doubles each time")
    drain_seconds: float = _setting(30, _seconds, "how long to serve on after SIGTERM, while /readyz says 503")
    shutdown_seconds: float = _setting(60, _seconds, "how long requests may take to end after that")
    reload_seconds: float = _setting(
        2, _seconds, "how often to look whether the graph's file changed; 0: only on SIGHUP"
    )
    access_log: bool = _setting(True, _switch, "write a line per request: true or false")
    spans: bool = _setting(False, _switch, "export OpenTelemetry spans, set up by OTEL_* variables: true or false")

    @property
    def patterns(self) -> list[str]:
        """The patterns of propagated headers."""
        return self.propagate_headers.split(",")

    @property
    def policies(self) -> Policies:
        """The policies of steps.

        Raises:
            SettingsError: They are not well-formed.
        """
        return parse_policies(tuple(text.strip() for text in self.steps.split(";") if text.strip()))


def parser() -> argparse.ArgumentParser:
    """The flags of `kservec-router`."""
    made = argparse.ArgumentParser(
        prog="kservec-router",
        description="Take requests through an InferenceGraph.",
        epilog=f"Each flag can be set in the environment as well: --max-requests as {PREFIX}MAX_REQUESTS.",
        allow_abbrev=False,
    )
    made.add_argument("--check", action="store_true", help="check the graph and the settings, and end")
    for one in fields(Settings):
        made.add_argument(
            "--" + one.name.replace("_", "-"), metavar="VALUE", help=_help(one.metadata["about"], one.default)
        )
    return made


def _help(about: str, default: Any) -> str:
    return f"{about} (default: {default})" if default not in ("", False, True) else about


def read_settings(flags: Mapping[str, str | None], environment: Mapping[str, str]) -> Settings:
    """Settings from flags, by field name (None: not given), and environment variables.

    Raises:
        SettingsError: A value cannot be read.
    """
    values = {}
    for one in fields(Settings):
        variable = one.metadata["variable"] or PREFIX + one.name.upper()
        text, source = flags.get(one.name), "--" + one.name.replace("_", "-")
        if text is None:
            text, source = environment.get(variable), variable
        if text is None:
            continue
        try:
            values[one.name] = one.metadata["read"](text)
        except ValueError:
            raise SettingsError(f'{source}: "{text[:80]}" is no value for this') from None
        if not isinstance(values[one.name], str) and values[one.name] < 0:
            raise SettingsError(f"{source}: it must not be negative")
    return Settings(**values)


def parse_arguments(words: Sequence[str], environment: Mapping[str, str]) -> tuple[Settings, bool]:
    """Settings from a command line, and whether only a check is wanted.

    Raises:
        SettingsError: A value cannot be read.
        SystemExit: The command line is wrong, or asks for help.
    """
    given = vars(parser().parse_args(words))
    only_check = given.pop("check")
    return read_settings(given, environment), only_check
