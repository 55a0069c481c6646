"""An API server with the definitions of custom kinds, for the length of a session."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest

from .building import NoGoError, executable
from .crds import install, modules_listed
from .running import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .client import ApiServer

numbers = count(1)


@pytest.fixture(scope="session")
def server(pytestconfig: pytest.Config) -> Iterator[ApiServer]:
    """A running API server that knows every kind that is rendered; skips what needs it if it cannot be built."""
    try:
        built = executable(announce=pytestconfig.get_terminal_writer().line)
    except NoGoError as reason:
        pytest.skip(f"NOT CHECKED AGAINST AN API SERVER: {reason}")
    with running(built) as api_server:
        install(api_server, modules_listed())
        yield api_server


@pytest.fixture
def prefix() -> str:
    """What the names of a test's namespaces begin with."""
    return f"t{next(numbers)}"
