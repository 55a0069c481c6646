"""Under which names and where the model is served: names, port, certificate and key."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

from .refusals import CONFIG, NO_INPUT, Refusal
from .settings import Settings
from .words import flag_of, has, port, port_of, split, value, values, without

NAME: Final = "--served-model-name"
KSERVE_NAME: Final = "--model-name"
PORT: Final = "--port"
CONFIG_FILE: Final = "--config"
CERTIFICATE, KEY, AUTHORITIES = "--ssl-certfile", "--ssl-keyfile", "--ssl-ca-certs"


def serving_words(words: Sequence[str], settings: Settings) -> list[str]:
    """The words with names and port, as told, else by variable.

    Raises:
        Refusal: a name is empty, or the port is none.
    """
    found = list(words)
    if has(found, KSERVE_NAME):
        names = values(found, KSERVE_NAME)[:1]
        found = without(found, KSERVE_NAME)
        found = found if has(found, NAME) else [*found, NAME, *names]
    elif settings.names and not has(found, NAME):
        names = split(settings.names, "SERVED_MODEL_NAME")
        if any(flag_of(name) for name in names):
            raise Refusal(CONFIG, f"SERVED_MODEL_NAME is {settings.names!r}", "names do not begin with a dash")
        found = [*found, NAME, *names]
    if has(found, NAME) and not all(values(found, NAME) or [""]):
        raise Refusal(CONFIG, "the model is to be served under an empty name", f"give {NAME} a name, or leave it out")
    if settings.port and not has(found, PORT) and not has(found, "--headless", "--uds", CONFIG_FILE):
        found = [*found, f"{PORT}={port(settings.port, 'PORT')}"]
    port_of(found, PORT)
    return found


def check_tls(words: Sequence[str]) -> None:
    """Whether certificate and key come together, and can be read.

    Raises:
        Refusal: one is missing.
    """
    certificate, key = value(words, CERTIFICATE), value(words, KEY)
    if (certificate is None) != (key is None):
        lacks, given = (KEY, CERTIFICATE) if key is None else (CERTIFICATE, KEY)
        raise Refusal(CONFIG, f"{given} is given without {lacks}", f"add {lacks}, or leave both out to speak HTTP")
    if has(words, "--enable-ssl-refresh") and certificate is None:
        raise Refusal(CONFIG, "--enable-ssl-refresh is given without a certificate", f"add {CERTIFICATE} and {KEY}")
    for flag in (CERTIFICATE, KEY, AUTHORITIES):
        check_named(words, flag, "mount the Secret of the certificate; its name is in the volume tls-certs")


def check_config(words: Sequence[str]) -> None:
    """Whether a file of arguments can be read; what it says is left to vLLM.

    Raises:
        Refusal: it cannot.
    """
    check_named(words, CONFIG_FILE, "mount what holds it")


def check_named(words: Sequence[str], flag: str, remedy: str) -> None:
    """Whether the file that a flag names, if it is given, can be read."""
    name = value(words, flag)
    if name is not None and not (os.path.isfile(name) and os.access(name, os.R_OK)):
        what = "cannot be read as a file" if os.path.exists(name) else "is not there"
        raise Refusal(NO_INPUT, f"{name} of {flag} {what}", remedy)
