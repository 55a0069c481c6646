"""Names: how objects are told from each other."""

from __future__ import annotations

from typing import NamedTuple

CORE, KNATIVE = "", "serving.knative.dev"
SERVICE = "Service"


class Name(NamedTuple):
    """An object by what tells it from all others, whatever version it is written in."""

    group: str
    kind: str
    namespace: str
    name: str

    @property
    def key(self) -> str:
        """The name as the key of a node."""
        kind = f"{self.kind}.{self.group}" if self.group else self.kind
        return f"{kind} {self.namespace}/{self.name}"
