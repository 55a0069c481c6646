"""Templates in the configs of LLMInferenceServices: what they see, which functions they have, how they are filled in.

KServe runs one Go template over the JSON text of the whole object. So quotes cannot stand inside an action, and trim
markers take blanks but never the end of a line, which JSON writes as two characters. Texts are executed one by one
here, in their JSON form, so that an error has a place; only where one fails is the whole object executed, for a block
may reach over several. Must not know which texts there are.
KServe: pkg/controller/v1alpha2/llmisvc/config_merge.go, ReplaceVariables
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from math import ceil
from operator import is_
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.golang.encoding import encode, quote
from kservec.core.golang.formatting import FormatError, GoValue, NilPointer, Struct, Unknown
from kservec.core.golang.placeholders import object_meta
from kservec.core.golang.template import Options, render
from kservec.core.golang.template_syntax import TemplateError
from kservec.core.llm.go_types import FIELDS, SPEC, Type, go_name
from kservec.core.llm.names import child_name
from kservec.core.quantity import parse_quantity

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path

DEFAULT_GRACE_SECONDS: Final = 60
CLEANUP_SECONDS: Final = 5
ZEROS: Final[Mapping[str, GoValue]] = {"string": "", "bool": False, "int32": 0, "URL": "", "map": {}}


def filled(value: Json, data: GoValue) -> Json:
    """A value with all its templates executed; the value itself if it has none.

    Raises:
        TemplateError: a template is wrong. `where` is the path of its text in the value.
    """
    try:
        return _Filling(data, {}).value(value, ())
    except TemplateError as error:
        alone = error
    try:
        return _decoded(render(encode(value), data, OPTIONS))
    except TemplateError:
        raise alone from None


@lru_cache(maxsize=256)
def _as_json(text: str) -> str:
    """A text as JSON, which templates are in KServe. The same few stand in the presets of all services."""
    return quote(text)


class _Filling(NamedTuple):
    """What templates see, and what those made that were executed already: many stand in a spec several times."""

    data: GoValue
    known: dict[str, Json]

    def value(self, value: Json, at: Path) -> Json:
        """A value with its templates executed, the same one if it has none."""
        kind = value.__class__
        if kind is str:
            return self.text(value, at) if "{{" in value else value
        if kind is dict:
            return self.map(value, at)
        if kind is list:
            items = [self.value(item, (*at, i)) for i, item in enumerate(value)]
            return value if all(map(is_, items, value)) else items
        return value

    def map(self, value: dict[str, Json], at: Path) -> dict[str, Json]:
        """The same for a map, whose keys may be templates, too."""
        changed: dict[str, Json] = {}
        has_named = False
        for name, item in value.items():
            has_named = has_named or "{{" in name
            kind = item.__class__
            if kind is str:
                if "{{" in item:
                    changed[name] = self.text(item, (*at, name))
            elif (kind is dict or kind is list) and (new := self.value(item, (*at, name))) is not item:
                changed[name] = new
        if has_named:
            return {self.value(name, (*at, name)): changed.get(name, item) for name, item in value.items()}
        return {**value, **changed} if changed else value

    def text(self, text: str, at: Path) -> Json:
        """What a text that is a template gives."""
        if text in self.known:
            return self.known[text]
        try:
            made = self.known[text] = _decoded(render(_as_json(text), self.data, OPTIONS))
        except TemplateError as error:
            raise TemplateError(error.message, error.offset, at, unsupported=error.unsupported) from None
        return made


def _decoded(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError:
        raise TemplateError("a value that is filled in holds a quote, a backslash or a line break") from None


def data_of(metadata: Json, spec: Json, settings: Mapping[str, GoValue]) -> Struct:
    """What templates see: the service as it was written, and settings of the platform under `.GlobalConfig`."""
    fields = struct(spec, SPEC)
    meta = object_meta(metadata)
    return Struct(
        "LLMInferenceService",
        {
            **meta.fields,
            "ObjectMeta": meta,
            "Spec": fields,
            "Status": Unknown("the status is known only in a running cluster"),
            "GlobalConfig": Struct("GlobalConfig", settings),
        },
    )


def struct(value: Json, kind: str) -> Struct:
    """A value of one of the types as Go sees it."""
    known = FIELDS.get(kind)
    if known is None:
        return Struct(kind, {go_name(name): _elsewhere(item) for name, item in value.items()})
    return Struct(kind, {go_name(name): _field(value.get(name), field) for name, field in known.items()})


def _field(value: Json, kind: Type) -> GoValue:
    if value is None:
        if kind.is_pointer:
            return NilPointer(f"v1alpha2.{kind.name}")
        return [] if kind.is_list else ZEROS.get(kind.name, Unknown(f"a missing {kind.name} is not supported"))
    if kind.is_list and isinstance(value, list):
        return [struct(item, kind.name) if isinstance(item, dict) else item for item in value]
    if isinstance(value, dict) and kind.name != "map":
        return struct(value, kind.name)
    return str(value) if kind.name == "Quantity" else value


def _elsewhere(value: Json) -> GoValue:
    """A value of a type of Kubernetes: its fields are those that are there."""
    if isinstance(value, dict):
        return Struct("object", {go_name(name): _elsewhere(item) for name, item in value.items()})
    return [_elsewhere(item) for item in value] if isinstance(value, list) else value


def kv_transfer_config(spec: GoValue) -> str:
    """The argument of vLLM that has it offload its cache; empty without a spec of it.

    Quotes are escaped for JSON and for the shell. KServe: ReplaceVariables, kvTransferConfig
    """
    if not isinstance(spec, Struct):
        return ""
    extra: dict[str, Json] = {
        "spec_name": "TieringOffloadingSpec",
        "cpu_bytes_to_use": ceil(parse_quantity(str(spec.fields["CPU"]))),
    }
    if spec.fields["EvictionPolicy"]:
        extra["eviction_policy"] = spec.fields["EvictionPolicy"]
    tiers = [{"type": "fs", "root_dir": f"/mnt/kv-cache-{i}"} for i in tier_indices(spec)]
    if tiers:
        extra["secondary_tiers"] = tiers
    config = {"kv_connector": "OffloadingConnector", "kv_role": "kv_both", "kv_connector_extra_config": extra}
    escaped = encode(config).replace('"', r"\\\"")
    return f"--kv-transfer-config '{escaped}'"


def tier_indices(spec: Struct) -> Iterator[int]:
    """The numbers of the tiers that lie in a file system."""
    secondary = spec.fields["Secondary"]
    for i, tier in enumerate(secondary if isinstance(secondary, list) else ()):
        if isinstance(tier, Struct) and isinstance(tier.fields["FileSystem"], Struct):
            yield i


def shutdown_timeout(pod: GoValue, pre_stop: GoValue) -> int:
    """The seconds that vLLM has to end: those of the pod, less the hook before and what is kept for the very end.

    KServe: ReplaceVariables, shutdownTimeout
    """
    if not isinstance(pre_stop, int):
        raise FormatError("shutdownTimeout takes a number of seconds")
    grace = pod.fields.get("TerminationGracePeriodSeconds") if isinstance(pod, Struct) else None
    seconds = grace if isinstance(grace, int) else DEFAULT_GRACE_SECONDS
    return max(0, seconds - pre_stop - min(CLEANUP_SECONDS, seconds))


def child(parent: GoValue, suffix: GoValue) -> str:
    """`child_name` for templates."""
    if not isinstance(parent, str) or not isinstance(suffix, str):
        raise FormatError("ChildName takes two texts")
    return child_name(parent, suffix)


OPTIONS: Final = Options(
    functions={"ChildName": child, "kvTransferConfig": kv_transfer_config, "shutdownTimeout": shutdown_timeout},
    missing_key_fails=True,
)
