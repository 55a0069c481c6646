"""Where objects keep the templates of their pods, whatever kind they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.paths import Path

TEMPLATE: Final[Path] = ("spec", "template")
GROUP: Final[Path] = ("spec", "leaderWorkerTemplate")
LEADER: Final[Path] = (*GROUP, "leaderTemplate")
WORKER: Final[Path] = (*GROUP, "workerTemplate")
SIZE: Final[Path] = (*GROUP, "size")
"""How many pods a group of leader and workers has."""

TEMPLATES: Final[Mapping[tuple[str, str], tuple[Path, ...]]] = {
    ("", "Pod"): ((),),
    ("apps", "DaemonSet"): (TEMPLATE,),
    ("apps", "Deployment"): (TEMPLATE,),
    ("apps", "ReplicaSet"): (TEMPLATE,),
    ("apps", "StatefulSet"): (TEMPLATE,),
    ("batch", "CronJob"): (("spec", "jobTemplate", *TEMPLATE),),
    ("batch", "Job"): (TEMPLATE,),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (LEADER, WORKER),
    ("serving.knative.dev", "Service"): (TEMPLATE,),
}
"""The paths of the templates, by the group and kind of the object."""
KINDS_WITH_PODS: Final = frozenset(kind for _, kind in TEMPLATES)
"""The kinds alone: some others have the name of one."""
