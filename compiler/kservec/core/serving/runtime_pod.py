"""What a runtime brings into the pods that it serves, and where each part of it is written.

It is the same for every service, so it is worked out once for each runtime. Must not know what is laid over it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.golang.placeholders import has_placeholder
from kservec.core.names import KSERVE_CONTAINER, TRANSFORMER_CONTAINER
from kservec.core.pods.containers import find
from kservec.core.pods.strategic import pod_settings
from kservec.core.records import entity
from kservec.core.serving.arguments import options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.catalog import Runtime
    from kservec.core.tree import Json, Origin


@entity
class RuntimePod:
    """The pod of a runtime in its parts, without empty fields.

    `settings` are the fields of the pod that count, `serving` is the container that the model's settings are laid over,
    `transformer` one that may stand beside it, and `others` are the further ones. `plain` are the fields of the serving
    container without placeholders, `arguments` are the options that it is started with. `pod`, `container`, `args`,
    `labels` and `annotations` are places.
    """

    settings: Json
    serving: Json
    transformer: Json | None
    others: tuple[Json, ...]
    plain: Json
    arguments: Mapping[str, tuple[str, int]]
    pod: Origin
    container: Origin
    args: Origin
    labels: Origin
    annotations: Origin


def runtime_pod(runtime: Runtime) -> RuntimePod | None:
    """The parts of a runtime's pod; None if it has no container to run."""
    containers = runtime.pod.get("containers") or ()
    serving = find(containers, KSERVE_CONTAINER)
    if serving is None:
        return None
    place = ("spec", "containers", containers.index(serving))
    return RuntimePod(
        settings=pod_settings(runtime.pod),
        serving=serving,
        transformer=find(containers, TRANSFORMER_CONTAINER),
        others=tuple(c for c in containers if c["name"] not in (KSERVE_CONTAINER, TRANSFORMER_CONTAINER)),
        plain={name: value for name, value in serving.items() if not has_placeholder({name: value})},
        arguments=options(serving.get("args") or ()),
        pod=runtime.origin("spec"),
        container=runtime.origin(*place),
        args=runtime.origin(*place, "args"),
        labels=runtime.origin("spec", "labels"),
        annotations=runtime.origin("spec", "annotations"),
    )
