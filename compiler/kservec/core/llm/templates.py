"""Templates in the configs of LLMInferenceServices: what they see, which functions they have, how they are filled in.

KServe runs one Go template over the JSON text of the whole object. So quotes cannot stand inside an action, and trim
markers take blanks but never the end of a line, which JSON writes as two characters. Texts are executed one by one
here, in their JSON form, so that an error has a place; only where some fail is the whole object executed, for a block
may reach over several. Must not know which texts there are.
KServe: pkg/controller/v1alpha2/llmisvc/config_merge.go, ReplaceVariables
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import ceil
from operator import is_
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.golang.encoding import encode, quote
from kservec.core.golang.formatting import FormatError, GoValue, NilPointer, Struct, Unknown
from kservec.core.golang.object_templates import object_meta
from kservec.core.golang.template import Options, render
from kservec.core.golang.template_error import Reach, TemplateError
from kservec.core.golang.template_quick import Prepared, prepared
from kservec.core.llm.go_types import FIELDS, SPEC, Type, go_name
from kservec.core.llm.names import child_name
from kservec.core.llm.pod_types import POD_FIELDS
from kservec.core.names import GROUP
from kservec.core.quantity import parse_quantity

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path

KIND: Final = "LLMInferenceService"
STORED: Final = f"{GROUP}/v1alpha2"
DEFAULT_GRACE_SECONDS: Final = 60
CLEANUP_SECONDS: Final = 5
ZEROS: Final[Mapping[str, GoValue]] = {"string": "", "bool": False, "int32": 0, "URL": "", "map": {}}


MOST_TRIED: Final = 32
"""Texts of which it is tried whether they fail for want of others."""


class Filled(NamedTuple):
    """A value without templates, but for texts that cannot be filled in, which stay as they are.

    `left_out`: of lists from which items were left out, by their paths, the indices of the others. `errors` are what is
    wrong with the texts that are left; their `where` is the path of the text in the value.
    """

    value: Json
    left_out: Mapping[Path, tuple[int, ...]]
    errors: tuple[TemplateError, ...] = ()


class Fault(NamedTuple):
    """A text that is no template by itself, or fails, and why."""

    text: str
    error: TemplateError


def plain_parts(value: Json) -> frozenset[int]:
    """The identities of the maps and lists of a value that have no templates in them, the outermost of each."""
    plain: set[int] = set()
    if _is_plain(value, plain):
        plain.add(id(value))
    return frozenset(plain)


def _is_plain(value: Json, plain: set[int]) -> bool:
    if not isinstance(value, dict | list):
        return not isinstance(value, str) or "{{" not in value
    items = value.values() if isinstance(value, dict) else value
    parts = [(item, _is_plain(item, plain)) for item in items]
    if all(is_plain for _, is_plain in parts) and not (isinstance(value, dict) and any("{{" in name for name in value)):
        return True
    plain.update(id(item) for item, is_plain in parts if is_plain and isinstance(item, dict | list))
    return False


_is_open = re.compile(r"\{\{(?!.*\}\})", re.DOTALL).search
_has_quote = re.compile(r'\{\{(?:(?!\}\}).)*"', re.DOTALL).search


def filled(value: Json, data: Struct, plain: frozenset[int] = frozenset()) -> Filled:
    """A value with all its templates executed; the value itself if it has none.

    An argument is often a template that gives nothing under some condition. KServe keeps it as an empty one, which
    some programs stop at; here items of lists that become empty are left out, but for values of flags.

    Args:
        value: the value.
        data: what its templates see.
        plain: the identities of parts of it that are known to have none.
    """
    filling = _Filling(data, plain, {}, {}, [])
    made = filling.value(value, ())
    if not filling.faults:
        return Filled(made, filling.left_out)
    try:
        return Filled(_decoded(render(encode(value), data, OPTIONS)), {})
    except TemplateError:
        return Filled(made, filling.left_out, _own(value, data, filling.faults))


def _own(value: Json, data: Struct, faults: Sequence[Fault]) -> tuple[TemplateError, ...]:
    """The errors of texts that are mistakes, though a block or a variable may reach over several; at least one.

    Where some texts begin what others may end, each of the rest counts if the whole fails for it alone. If that cannot
    be told, only the first counts.
    """
    has_blocks = {Reach.ONWARD, Reach.BACK} <= {fault.error.reach for fault in faults}
    others = [fault for fault in faults if not has_blocks or fault.error.reach is Reach.WITHIN]
    doubtful = [fault for fault in others if has_blocks or fault.error.reach is Reach.BACK]
    if len(doubtful) > MOST_TRIED or (has_blocks and not _works(value, data, others)):
        return (faults[0].error,)
    dependent = [fault for fault in doubtful if _works(value, data, [o for o in others if o.text != fault.text])]
    return tuple(fault.error for fault in others if fault not in dependent) or (faults[0].error,)


def _works(value: Json, data: Struct, faults: Iterable[Fault]) -> bool:
    """Whether a value can be executed as a whole, with nothing instead of some texts."""
    try:
        render(encode(_without(value, frozenset(fault.text for fault in faults))), data, OPTIONS)
    except TemplateError:
        return False
    return True


def _without(value: Json, texts: frozenset[str]) -> Json:
    """A value that has empty texts instead of some."""
    if isinstance(value, str):
        return "" if value in texts else value
    if isinstance(value, list):
        return [_without(item, texts) for item in value]
    if isinstance(value, dict):
        return {_without(name, texts): _without(item, texts) for name, item in value.items()}
    return value


@lru_cache(maxsize=256)
def _as_json(text: str) -> Prepared:
    """A text as JSON, which templates are in KServe. The same few stand in the presets of all services."""
    return prepared(quote(text), OPTIONS)


class _Filling(NamedTuple):
    """What templates see; what those made that were executed already, for many stand in a spec several times.

    `left_out` is that of `Filled`, `plain` has the identities of parts without templates, `faults` are those so far.
    """

    data: Struct
    plain: frozenset[int]
    known: dict[str, Json]
    left_out: dict[Path, tuple[int, ...]]
    faults: list[Fault]

    def value(self, value: Json, at: Path) -> Json:
        """A value with its templates executed, the same one if it has none."""
        kind = value.__class__
        if kind is str:
            return self.text(value, at) if "{{" in value else value
        if kind is dict:
            return self.map(value, at)
        if kind is list:
            return self.list(value, at)
        return value

    def list(self, value: list[Json], at: Path) -> list[Json]:
        """The same for a list, without the items of which nothing is left."""
        plain = self.plain
        items = [item if id(item) in plain else self.value(item, (*at, i)) for i, item in enumerate(value)]
        if all(map(is_, items, value)):
            return value
        kept = tuple(i for i, item in enumerate(items) if item != "" or value[i] == "" or is_awaited(items[:i]))
        if len(kept) == len(items):
            return items
        self.left_out[at] = kept
        return [items[i] for i in kept]

    def map(self, value: dict[str, Json], at: Path) -> dict[str, Json]:
        """The same for a map, whose keys may be templates, too."""
        changed: dict[str, Json] = {}
        has_named, plain = False, self.plain
        for name, item in value.items():
            has_named = has_named or "{{" in name
            kind = item.__class__
            if kind is str:
                if "{{" in item:
                    changed[name] = self.text(item, (*at, name))
            elif (kind is dict or kind is list) and id(item) not in plain:
                new = self.value(item, (*at, name))
                if new is not item:
                    changed[name] = new
        if has_named:
            return {self.value(name, (*at, name)): changed.get(name, item) for name, item in value.items()}
        return {**value, **changed} if changed else value

    def text(self, text: str, at: Path) -> Json:
        """What a text that is a template gives; the text itself if it fails."""
        if text in self.known:
            return self.known[text]
        try:
            made = self.known[text] = _decoded(_as_json(text).render(self.data, OPTIONS))
        except TemplateError as error:
            why = TemplateError(
                explained(text, error), error.offset, at, unsupported=error.unsupported, reach=error.reach
            )
            self.faults.append(Fault(text, why))
            return text
        return made


def is_awaited(before: Sequence[Json]) -> bool:
    """Whether an item may be the value of the flag that stands before it."""
    last = before[-1] if before else ""
    return isinstance(last, str) and last.startswith("-") and "=" not in last


def explained(text: str, error: TemplateError) -> str:
    """What is wrong with a text's template, in terms of the text and not of the JSON that it becomes."""
    if _is_open(text):
        return "an action is not closed by }}"
    if error.message.startswith("unexpected '\\\\'") and _has_quote(text):
        return "double quotes stand in an action, where KServe reads them with a backslash before; write `text` instead"
    return error.message


def _decoded(text: str) -> Json:
    if text[:1] == text[-1:] == '"' and "\\" not in text and text.count('"') == 2 and text.isprintable():
        return text[1:-1]
    try:
        return json.loads(text)
    except ValueError:
        raise TemplateError("a value that is filled in holds a quote, a backslash or a line break") from None


def data_of(metadata: Json, spec: Json, settings: Mapping[str, GoValue]) -> Struct:
    """What templates see: the service with its configs, and settings of the platform under `.GlobalConfig`.

    KServe shows them the service as it was written, so that what only a base config says reaches no flag of vLLM.
    """
    fields = struct(spec, SPEC)
    meta = object_meta(metadata)
    return Struct(
        KIND,
        {
            **meta.fields,
            "GetName": meta.fields["Name"],
            "GetNamespace": meta.fields["Namespace"],
            "Kind": KIND,
            "APIVersion": STORED,
            "ObjectMeta": meta,
            "Spec": fields,
            "Status": Unknown("the status is known only in a running cluster"),
            "GlobalConfig": Struct("GlobalConfig", settings),
        },
    )


class _Fields(Mapping[str, GoValue]):
    """The fields of a struct by their Go names, each made when it is first asked for: templates see few of them.

    `names` gives the JSON name of a field, and its type; None for types of Kubernetes, which tell no more.
    """

    __slots__ = ("_made", "_names", "_value")

    def __init__(self, value: Json, names: Mapping[str, tuple[str, Type | None]]) -> None:
        self._value, self._names = value, names
        self._made: dict[str, GoValue] = {}

    def __getitem__(self, name: str) -> GoValue:
        if name not in self._made:
            field, kind = self._names[name]
            item = self._value.get(field)
            self._made[name] = _elsewhere(item) if kind is None else _field(item, kind)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


_NAMES: Final = {
    owner: {go_name(name): (name, field) for name, field in fields.items()}
    for owner, fields in {**FIELDS, **POD_FIELDS}.items()
}


def struct(value: Json, kind: str) -> Struct:
    """A value of one of the types as Go sees it. Of others the fields are those that are there."""
    names = _NAMES.get(kind)
    return Struct(kind, _Fields(value, names if names is not None else {go_name(name): (name, None) for name in value}))


def _field(value: Json, kind: Type) -> GoValue:
    if value is None:
        if kind.is_pointer:
            return NilPointer(f"{'v1alpha2' if kind.name in FIELDS else 'v1'}.{kind.name}")
        return [] if kind.is_list else ZEROS.get(kind.name, Unknown(f"a missing {kind.name} is not supported"))
    if kind.is_list and isinstance(value, list):
        return [struct(item, kind.name) if isinstance(item, dict) else item for item in value]
    if isinstance(value, dict) and kind.name != "map":
        return struct(value, kind.name)
    return str(value) if kind.name == "Quantity" else value


def _elsewhere(value: Json) -> GoValue:
    """A value of a type of Kubernetes: its fields are those that are there."""
    if isinstance(value, dict):
        return struct(value, "object")
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
