"""Policy: what a project demands of its rendered objects, what it excuses, and how much a build may touch at once.

Values only. Which finding belongs to which rule is the business of the package of that name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.records import fresh, record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import Severity, Span
    from kservec.core.tree import Path

RESTRICTED = "restricted"
WAIVER = "kservec.dev/waive."
"""What the annotations begin with by which an object excuses itself; the name of a rule follows."""
MODEL_FACTS = "kservec.dev/model-facts"
"""The annotation by which a service says what is known of its model, as a JSON object."""
RULES_OF_OBJECTS = (
    "api-deprecated",
    "api-not-served",
    "capacity-at-max",
    "capacity-exceeded",
    "capacity-packing",
    "gpu-fit",
    "gpu-memory",
    "image-digest",
    "image-tag",
    "inline-secret",
    "limit-range",
    "lock-missing",
    "memory-fit",
    "model-revision",
    "no-node-fits",
    "pod-security",
    "pod-security-enforced",
    "quota-at-max",
    "quota-exceeded",
    "quota-unstated",
    "resources-missing",
    "shared-memory",
    "start-up-time",
    "sync-timeout",
    "trust-remote-code",
    "unauthenticated-server",
)
"""The rules whose findings are about an object, and can be excused for it."""


class Waiver(NamedTuple):
    """Findings of a code about an object that are excused, why, and until which day (`2027-01-31`, empty for ever).

    `object` is `Kind namespace/name`, in which `*` stands for any text. `at` is where it stands in the project file,
    `span` where an annotation says it.
    """

    code: str
    object: str
    reason: str
    expires: str = ""
    at: Path = ()
    span: Span | None = None


@record
class Policy:
    """What holds for one environment.

    `severities` are those of codes by their slugs, None for a rule that is off; codes that are not in it keep their
    own. `level` is the level of the Pod Security Standards that pods must pass, `levels` that of single namespaces,
    `asks_level`: the project states one of them for its pods. `annotations_waive`: objects may excuse themselves.
    `max_restarts`, `max_gpus` and `max_services` bound what one build may touch; None for no bound. `sync_timeout` is
    how many seconds the tool that syncs waits for objects to become ready, None where nothing waits.
    """

    severities: Mapping[str, Severity | None] = fresh(factory=dict)
    level: str = RESTRICTED
    levels: Mapping[str, str] = fresh(factory=dict)
    asks_level: bool = False
    waivers: tuple[Waiver, ...] = ()
    annotations_waive: bool = True
    max_restarts: int | None = None
    max_gpus: int | None = None
    max_services: int | None = None
    sync_timeout: int | None = None

    @property
    def brakes(self) -> bool:
        """Whether there is any bound to what one build may touch."""
        return (self.max_restarts, self.max_gpus, self.max_services) != (None, None, None)
