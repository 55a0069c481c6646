"""Whether the server of this container answers: what the image's health check asks."""

from __future__ import annotations

import http.client
import ssl
from typing import Final

from .words import port

DEFAULT_PORT: Final = 8000
SECONDS: Final = 2.0


def is_healthy(told: str) -> bool:
    """Whether /health is answered, at PORT or 8000, in HTTP or HTTPS. Whose certificate it is does not matter here.

    Raises:
        Refusal: PORT is no port.
    """
    at = port(told, "PORT") if told else DEFAULT_PORT
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
