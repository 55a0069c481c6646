"""Waiting for other nodes, each time with a deadline: for the leader's name and its port, or for all to have joined."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from .cluster import Cluster, Role
from .refusals import UNAVAILABLE, USAGE, Refusal
from .shown import say

PAUSE_SECONDS: Final = 1.0
REMINDER_SECONDS: Final = 30.0
TRY_SECONDS: Final = 5.0
REMEDY: Final = "look at the leader's pod and its events; LEADER_TIMEOUT_SECONDS sets how long it is waited for"

Found = TypeVar("Found")


def wait_for_leader(cluster: Cluster, deadline_seconds: int) -> str:
    """The leader's address, once it has one; for a worker once it answers, too. Empty where there is no leader.

    Raises:
        Refusal: it has none in time, or does not answer.
    """
    if not cluster.leader:
        return ""
    start = time.monotonic()
    address = wait(f"the leader {cluster.leader} has no address", lambda: address_of(cluster.leader), deadline_seconds)
    if cluster.role is Role.WORKER:
        left = deadline_seconds - (time.monotonic() - start)
        what = f"the leader {cluster.leader} does not answer at {address}, port {cluster.port}"
        wait(what, lambda: answers(address, cluster.port), left)
    return address


def wait_for_nodes(cluster: Cluster, deadline_seconds: int) -> None:
    """Until all nodes of a Ray cluster have joined.

    Raises:
        Refusal: they have not in time.
    """
    what = f"not all {cluster.nodes} nodes have joined the Ray cluster"
    wait(what, lambda: (joined_nodes(cluster.port) >= cluster.nodes) or None, deadline_seconds)


def wait(what: str, look: Callable[[], Found | None], seconds: float) -> Found:
    """What *look* finds, which is asked until it finds something.

    Raises:
        Refusal: it finds nothing in time.
    """
    start = reminded = time.monotonic()
    while (found := look()) is None:
        now = time.monotonic()
        if now - start >= seconds:
            raise Refusal(UNAVAILABLE, f"{what} after {round(now - start)} s", REMEDY)
        if now - reminded >= REMINDER_SECONDS:
            reminded = now
            say(f"{what} after {round(now - start)} s; it is waited for, at most {round(seconds)} s")
        time.sleep(min(PAUSE_SECONDS, max(0.0, seconds - (now - start))))
    return found


def address_of(host: str) -> str | None:
    """The first address of a host; None while it has none.

    Raises:
        Refusal: no host can have such a name.
    """
    try:
        found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except OSError:
        return None
    except UnicodeError:
        raise Refusal(USAGE, f"{host} is no name of a host", "name the leader's pod or Service") from None
    return str(found[0][4][0])


def answers(address: str, port: int) -> bool | None:
    """True once something listens; None while nothing does."""
    try:
        socket.create_connection((address, port), timeout=TRY_SECONDS).close()
    except OSError:
        return None
    return True


def joined_nodes(port: int) -> int:
    """How many nodes Ray's head on this machine knows; 0 while it cannot be asked."""
    command = [sys.executable, str(Path(__file__).with_name("ray_nodes.py")), f"127.0.0.1:{port}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)  # noqa: S603 - our own
    except subprocess.TimeoutExpired:
        return 0
    last = done.stdout.split()[-1:]
    return int(last[0]) if done.returncode == 0 and last and last[0].isdecimal() else 0
