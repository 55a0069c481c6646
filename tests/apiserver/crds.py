"""The custom resource definitions of the kinds that are rendered, read from the Go modules that publish them.

Nothing of them is kept here but names, versions and check sums: Go fetches each module into its own cache.
"""

from __future__ import annotations

import json
import re
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tests import libyaml

from .building import cache_folder, go
from .client import RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .client import ApiServer, Object

ESTABLISHED_SECONDS = 60
LIST = Path(__file__).parent / "definitions.yaml"
DOCUMENT_START = re.compile(r"(?m)^---.*\n")


class Module(NamedTuple):
    """A Go module at one version, and the definitions that are taken from it: file by name of the definition."""

    path: str
    version: str
    checksum: str
    definitions: dict[str, str]


def modules_listed() -> tuple[Module, ...]:
    """The modules of `definitions.yaml`."""
    return tuple(Module(**entry) for entry in libyaml.load(LIST.read_text()))


def install(server: ApiServer, modules: tuple[Module, ...]) -> None:
    """Apply every definition of the modules, and wait until the server serves all of them.

    Raises:
        NoGoError: the modules cannot be fetched without Go.
        subprocess.CalledProcessError: Go could not fetch a module.
        RefusedError: the server does not accept a definition.
        TimeoutError: a definition did not become established.
    """
    definitions = list(definitions_of(modules))
    for definition in definitions:
        server.apply(definition)
    deadline = time.monotonic() + ESTABLISHED_SECONDS
    for definition in definitions:
        while not is_established(server.read(definition)):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{definition['metadata']['name']} is not established")
            time.sleep(0.05)
    for definition in definitions:
        wait_until_served(server, definition, deadline)


def is_established(definition: Object) -> bool:
    """Whether a definition's names were accepted; right after its creation it has no conditions at all."""
    conditions = definition.get("status", {}).get("conditions") or ()
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def wait_until_served(server: ApiServer, definition: Object, deadline: float) -> None:
    """Wait until each served version of a kind answers.

    Raises:
        TimeoutError: it does not.
    """
    spec = definition["spec"]
    for version in (v["name"] for v in spec["versions"] if v["served"]):
        path = f"/apis/{spec['group']}/{version}/{spec['names']['plural']}?limit=1"
        while not is_served(server, path):
            if time.monotonic() > deadline:
                raise TimeoutError(f"{path} is not served")
            time.sleep(0.05)


def is_served(server: ApiServer, path: str) -> bool:
    """Whether there is something at a path."""
    try:
        server.get(path)
    except RefusedError as refused:
        if refused.status != 404:
            raise
        return False
    return True


def definitions_of(modules: tuple[Module, ...]) -> Iterator[Object]:
    """The definitions of modules, in their order.

    Raises:
        NoGoError: the modules cannot be fetched without Go.
        subprocess.CalledProcessError: Go could not fetch a module.
        LookupError: a module is not the one that was meant, or lacks a definition.
    """
    folders = fetched(modules)
    for module in modules:
        for name, file in module.definitions.items():
            text = (folders[module.path, module.version] / file).read_text()
            definition = libyaml.load(named(name, text))
            definition["metadata"].pop("labels", None)  # some are published as parts of a Helm chart, with its labels
            yield definition


def named(name: str, text: str) -> str:
    """The one document of a text that defines `name`; the others need not be parsed.

    Raises:
        LookupError: there is none.
    """
    for document in DOCUMENT_START.split(text):
        if f"\n  name: {name}\n" in document:
            return document
    raise LookupError(f"no definition of {name}")


def fetched(modules: tuple[Module, ...]) -> dict[tuple[str, str], Path]:
    """Where Go has put each module, by the module's path and version.

    Raises:
        NoGoError: there is no Go.
        subprocess.CalledProcessError: Go could not fetch a module.
        LookupError: the content of a module is not the one that was meant.
    """
    elsewhere = cache_folder()  # not in a module, whose own versions and sums would come into it
    elsewhere.mkdir(parents=True, exist_ok=True)
    command = [go(), "mod", "download", "-json", *(f"{m.path}@{m.version}" for m in modules)]
    done = subprocess.run(command, cwd=elsewhere, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    found = {(answer["Path"], answer["Version"]): answer for answer in json_stream(done.stdout)}
    for module in modules:
        answer = found[module.path, module.version]
        if answer["Sum"] != module.checksum:
            raise LookupError(f"{module.path}@{module.version} has the check sum {answer['Sum']}")
    return {key: Path(answer["Dir"]) for key, answer in found.items()}


def json_stream(text: str) -> Iterator[Object]:
    """The JSON objects of a text that holds one after the other."""
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        yield value
