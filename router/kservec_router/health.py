"""`python -m kservec_router.health`: is the router of this container alive? For a container's health check.

Asks the port that the router has by its environment; a router with `--port` needs KSERVEC_ROUTER_PORT as well.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException

_SECONDS = 2


def is_healthy(environment: Mapping[str, str]) -> bool:
    """Whether GET /healthz on this host says 200, in time."""
    try:
        connection = HTTPConnection("127.0.0.1", int(environment.get("KSERVEC_ROUTER_PORT", "8080")), timeout=_SECONDS)
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except (OSError, HTTPException, ValueError):
        return False


if __name__ == "__main__":
    sys.exit(not is_healthy(os.environ))
