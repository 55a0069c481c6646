"""Conversion of v1alpha1, which KServe still takes, to v1alpha2, in which it keeps objects.

Decides where the fields of the one stand in the other. Values are copied only along the paths that change.
KServe: pkg/apis/serving/v1alpha1/llm_inference_service_conversion.go; pkg/apis/gie/v1alpha2pool
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.admission.llm.uris import with_lower_schemes
from kservec.core.golang.encoding import encode
from kservec.core.names import GROUP, INTERNAL
from kservec.core.paths import with_value
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.tree import Json, Path

STORED: Final = f"{GROUP}/v1alpha2"
OLD: Final = f"{GROUP}/v1alpha1"
MODEL_CRITICALITY: Final = f"{INTERNAL}model-criticality"
LORA_CRITICALITIES: Final = f"{INTERNAL}lora-criticalities"
PICKER_PORT: Final = 9002

MODEL: Final = ("spec", "model")
ADAPTERS: Final = (*MODEL, "lora", "adapters")
POOL: Final = ("spec", "router", "scheduler", "pool", "spec")
SERVICE: Final = "Service"


class Converted(NamedTuple):
    """An object in v1alpha2, and where values stand that were moved (path in it -> path in the user's document)."""

    value: Json
    moved: Mapping[Path, Path]


def convert(value: Json) -> Converted:
    """A service or a config in v1alpha2; the value itself if it is in it already, and as Go writes it.

    Args:
        value: the document after the defaults of its own version's CRD, by whose schema it is valid.
    """
    value = with_lower_schemes(value)
    if value["apiVersion"] != OLD:
        return Converted(value, {})
    moved: dict[Path, Path] = {}
    value = {**value, "apiVersion": STORED}
    pool = lookup(value, POOL)
    if pool is not None:
        value = with_value(value, POOL, converted_pool(pool))
        moved = dict(MOVED)
    return Converted(without_criticalities(value), moved)


def converted_pool(pool: Json) -> Json:
    """The spec of a pool as inference.networking.k8s.io/v1 has it.

    Beside a Service the port is written out; without it v1 would refuse the picker.
    """
    extension = pool.get("extensionRef") or {}
    kind = extension.get("kind", SERVICE)
    picker = {"group": extension.get("group", ""), "kind": kind, "name": extension.get("name", "")}
    number = extension.get("portNumber") or (PICKER_PORT if kind in (SERVICE, "") else None)
    if number is not None:
        picker["port"] = {"number": number}
    picker["failureMode"] = extension.get("failureMode", "FailClose")
    return {
        "selector": {"matchLabels": pool.get("selector") or {}},
        "targetPorts": [{"number": pool["targetPortNumber"]}],
        "endpointPickerRef": picker,
    }


MOVED: Final[Mapping[Path, Path]] = {
    (*POOL, "selector", "matchLabels"): (*POOL, "selector"),
    (*POOL, "targetPorts"): (*POOL, "targetPortNumber"),
    (*POOL, "endpointPickerRef", "port"): (*POOL, "extensionRef", "portNumber"),
    (*POOL, "endpointPickerRef"): (*POOL, "extensionRef"),
}
"""Where the fields of a pool were written; of two that hold a path the first counts."""


def without_criticalities(value: Json) -> Json:
    """The object with the criticality of its model and adapters in annotations, where nothing reads it."""
    kept: dict[str, str] = {}
    critical = lookup(value, (*MODEL, "criticality"))
    if critical is not None:
        value = with_value(value, MODEL, _without_criticality(lookup(value, MODEL)))
    if critical:
        kept[MODEL_CRITICALITY] = critical
    adapters = lookup(value, ADAPTERS)
    if isinstance(adapters, list):
        levels = {str(i): _criticality(adapter) for i, adapter in enumerate(adapters) if _criticality(adapter)}
        if levels:
            kept[LORA_CRITICALITIES] = encode(levels)
            value = with_value(value, ADAPTERS, [_without_criticality(adapter) for adapter in adapters])
    if not kept:
        return value
    metadata = value["metadata"]
    return {**value, "metadata": {**metadata, "annotations": {**(metadata.get("annotations") or {}), **kept}}}


def _criticality(adapter: Json) -> str:
    level = adapter.get("criticality") if isinstance(adapter, dict) else None
    return level if isinstance(level, str) else ""


def _without_criticality(model: Json) -> Json:
    if not isinstance(model, dict):
        return model
    return {name: part for name, part in model.items() if name != "criticality"}
