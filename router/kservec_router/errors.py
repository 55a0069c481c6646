"""What the router raises: only about its own settings and graph, before it serves. Requests fail by replies."""

from __future__ import annotations


class GraphError(Exception):
    """The graph cannot be served; `problems` names everything that is wrong with it."""

    def __init__(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(problems))


class SettingsError(Exception):
    """A flag or an environment variable cannot be taken as it is."""
