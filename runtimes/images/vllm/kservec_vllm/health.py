"""Whether the server of this container answers: what the image's health check asks."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Sequence
from typing import Final

from .refusals import USAGE, Refusal
from .words import port, port_of, without

PORT: Final = "--port"
DEFAULT_PORT: Final = 8000
SECONDS: Final = 2.0


def is_healthy(words: Sequence[str], variable: str) -> bool:
    """Whether /health is answered, in HTTP or HTTPS. Whose certificate it is does not matter here.

    The port is that of `--port`, else of a variable, else 8000.

    Raises:
        Refusal: it is none, or there are other words.
    """
    if others := without(words, PORT):
        raise Refusal(
            USAGE, f"health is told {others[0]!r}", f"it takes {PORT} alone; `serve health` serves that model"
        )
    at = port_of(words, PORT) or (port(variable, "PORT") if variable else DEFAULT_PORT)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    plain = http.client.HTTPConnection("127.0.0.1", at, timeout=SECONDS)
    return answers(plain) or answers(http.client.HTTPSConnection("127.0.0.1", at, timeout=SECONDS, context=context))


def answers(connection: http.client.HTTPConnection) -> bool:
    """Whether a server says that it is well."""
    try:
        connection.request("GET", "/health")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
