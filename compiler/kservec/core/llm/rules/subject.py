"""Subject: an LLMInferenceService or a config as rules look at it, and the way a rule reports.

The value is that of the storage version, v1alpha2, as it was written or as it was merged with its presets; where its
parts come from is the caller's knowledge. Holds no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.core.diagnostics import Diagnostic
from kservec.core.records import evolve
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from kservec.core.diagnostics import Code, ObjectRef, Span
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Plugs
    from kservec.core.tree import Json, Path

PREFILL = "prefill"
NO_LABELS: Mapping[str, str] = MappingProxyType({})
Rule: TypeAlias = Callable[["Subject"], Iterator[Diagnostic]]


class Place(NamedTuple):
    """Where a finding is shown, and other places that take part in it."""

    span: Span | None
    related: tuple[tuple[Span, str], ...] = ()


class Workload(NamedTuple):
    """The main workload of a service, or its prefill workload; `path` is where it stands."""

    path: Path
    spec: Json

    @property
    def name(self) -> str:
        """What messages call it."""
        return PREFILL if self.path[-1] == PREFILL else "the main workload"

    @property
    def parallelism(self) -> Json:
        """Its parallelism; empty if it has none."""
        return self.spec.get("parallelism") or {}

    @property
    def is_multi_node(self) -> bool:
        """Whether each of its copies is spread over several pods. KServe: a worker, even an empty one."""
        return self.spec.get("worker") is not None


class Subject(NamedTuple):
    """An object of one of the two kinds.

    `locate` gives the place of a path of `value` in the object's document, or of the nearest part of it that has one.
    `namespace_labels` are those of the service's namespace, as far as they are declared, and `network_policies` the
    NetworkPolicies in it. `is_guarded`: its pods get a NetworkPolicy of their own.
    """

    ref: ObjectRef
    value: Json
    locate: Callable[[Path], Place]
    platform: PlatformConfig
    plugs: Plugs
    namespace_labels: Mapping[str, str] = NO_LABELS
    is_guarded: bool = False
    network_policies: tuple[Json, ...] = ()

    @property
    def spec(self) -> Json:
        """The spec; empty if there is none."""
        return self.value.get("spec") or {}

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations of the object."""
        found: Mapping[str, str] = self.value["metadata"].get("annotations") or {}
        return found

    @property
    def workloads(self) -> tuple[Workload, ...]:
        """The main workload, which every service has, and the prefill workload where there is one."""
        main = Workload(("spec",), self.spec)
        prefill = self.spec.get(PREFILL)
        return (main,) if prefill is None else (main, Workload(("spec", PREFILL), prefill))

    def at(self, *path: str | int) -> Json:
        """The value at a path of the object; None if there is none."""
        return lookup(self.value, path)

    def finding(self, code: Code, message: str, path: Path, help: str) -> Diagnostic:  # noqa: A002
        """A finding at a path of the value."""
        place = self.locate(path)
        return Diagnostic(
            code=code, message=message, span=place.span, help=help, related=place.related, subject=self.ref
        )

    def beside(self, finding: Diagnostic, path: Path, text: str) -> Diagnostic:
        """A finding that also shows another place, with what is there."""
        place = self.locate(path)
        shown = () if place.span is None else ((place.span, text),)
        return evolve(finding, related=(*finding.related, *shown, *place.related))
