"""The scheduler's configuration that lies in a ConfigMap: found, and put where an inline one would be.

KServe: pkg/controller/v1alpha2/llmisvc/config_merge.go, combineBaseRefsConfig
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.text.embedded import yaml_in
from kservec.core.tree import Layer, Origin
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.tree import Tree
    from kservec.core.unit import Unit

NOT_FOUND: Final = Code(
    "llm/scheduler-config-not-found",
    Severity.ERROR,
    "the scheduler's configuration is in no declared ConfigMap",
    "router.scheduler.config.ref names a ConfigMap in the service's namespace; one whose name begins with "
    "config-scheduler- may be in KServe's. The key is epp unless the reference names another.",
)
UNREADABLE: Final = Code(
    "llm/scheduler-config-text",
    Severity.ERROR,
    "a ConfigMap whose text is no configuration of a scheduler",
    "KServe puts the text in the place of an inline configuration, and the API server takes only a map there: YAML, or "
    "JSON if it begins with a brace. A service whose text is something else is not deployed.",
)
CONFIG: Final = ("router", "scheduler", "config")
DEFAULT_KEY: Final = "epp"
SHARED_PREFIX: Final = "config-scheduler-"


def with_scheduler_config(unit: Unit, spec: Tree, env: Env) -> Tree:
    """The spec whose scheduler's configuration is inline, if it refers to a ConfigMap; the reference wins over text.

    Raises:
        Reject: the ConfigMap, or its key, is not declared, or there is no configuration in it.

    KServe: config_merge.go, normalizeRawExtensionsToJSON
    """
    ref = spec.get(*CONFIG, "ref")
    if ref is None:
        return spec
    name, key = ref.get("name") or "", ref.get("key") or DEFAULT_KEY
    maps = env.cluster.config_maps
    found = maps.get((unit.namespace, name))
    if found is None and name.startswith(SHARED_PREFIX):
        found = maps.get((env.platform.kserve_namespace, name))
    if found is None or key not in found:
        what = f"has no key {key}" if found is not None else "is not declared"
        message = f"ConfigMap {unit.namespace}/{name} {what}, and {unit.ref} has its scheduler's configuration there"
        place = spec.span((*CONFIG, "ref"))
        raise Reject(finding(unit, NOT_FOUND, message, place, "declare the ConfigMap among the files"))
    if not is_map(found[key]):
        message = f"the text under {key} in ConfigMap {name}, for the scheduler of {unit.ref}, is no map"
        raise Reject(finding(unit, UNREADABLE, message, spec.span((*CONFIG, "ref")), "correct the text"))
    origin = Origin(Layer.PLATFORM, f"ConfigMap {name}")
    return spec.put(CONFIG, {"inline": found[key]}, origin)


def is_map(text: str) -> bool:
    """Whether a text is a map: in JSON if it begins with a brace, in YAML otherwise."""
    if text.startswith("{"):
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            return False
        return True
    read = yaml_in(text)
    return read is not None and isinstance(read[0], dict)
