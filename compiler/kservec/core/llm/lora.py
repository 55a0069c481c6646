"""LoRA adapters: where each lies in the pods, and how vLLM is told of them.

Decides which adapters a service can have, and the arguments of the server. Must not know how models get into pods.
KServe: pkg/controller/v1alpha2/llmisvc/workload_lora.go
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.golang.encoding import encode
from kservec.core.llm.names import MAIN, child_name, model_resource_name
from kservec.core.llm.origins import origin_of
from kservec.core.models.model_uri import meant_uri, no_model
from kservec.core.models.storage_scheme import Delivery, SchemeTrait
from kservec.core.pods.mounts import volume_name
from kservec.core.tree import Concat, Graft
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.models.storage_scheme import Scheme
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path, Tree
    from kservec.core.unit import Unit

BY: Final = "lora"
LORA: Final = ("model", "lora")
ROOT: Final = "/mnt/lora/"
VARIABLE: Final = "VLLM_ADDITIONAL_ARGS"
MODULES: Final = "--lora-modules"
LIMITS: Final = (("maxRank", "--max-lora-rank"), ("maxAdapters", "--max-loras"), ("maxCpuAdapters", "--max-cpu-loras"))

ADAPTER_URI: Final = Code(
    "llm/adapter-uri",
    Severity.ERROR,
    "a LoRA adapter that cannot be brought in",
    "LoRA adapters are downloaded or mounted: a URI of another kind, or storageInitializer.enabled: false, leaves no "
    "way to bring them in.",
)
ADAPTER_PATH: Final = Code(
    "llm/adapters-share-path",
    Severity.ERROR,
    "two LoRA adapters at one path",
    "The path of an adapter is its name, with a dash for every character but letters, digits, dots, dashes and "
    "underscores. Two adapters whose names differ only in such characters would overwrite each other.",
)

_odd_characters = re.compile(r"[^a-zA-Z0-9._-]")


class Adapter(NamedTuple):
    """One adapter: its name, where it lies, where it is mounted, and where it stands in the spec."""

    name: str
    uri: str
    path: str
    scheme: Scheme
    at: Path

    @property
    def is_downloaded(self) -> bool:
        """Whether the storage initializer brings it in."""
        return self.scheme.delivery is Delivery.DOWNLOAD

    @property
    def volume(self) -> str:
        """The volume of an adapter that is mounted. KServe makes names that are refused from odd names of adapters."""
        return volume_name(child_name("lora-pvc-", self.name), "lora-pvc")


def adapters_of(unit: Unit, env: Env) -> tuple[Adapter, ...]:
    """The adapters of a service, by name.

    Raises:
        Reject: one of them cannot be brought in, or two share a path.

    KServe: enumerateLoRAAdapters
    """
    assert unit.resolved is not None
    written: Sequence[Json] = unit.resolved.get(*LORA, "adapters") or ()
    found, wrong = each_adapter(unit, env, written)
    if wrong:
        raise Reject(*wrong)
    adapters = tuple(sorted(found, key=lambda adapter: adapter.name))
    paths: dict[str, Adapter] = {}
    for adapter in adapters:
        other = paths.setdefault(adapter.path, adapter)
        if other is not adapter:
            message = f"adapters {other.name} and {adapter.name} of {unit.ref} are both at {adapter.path}"
            place = unit.resolved.span((*adapter.at, "name"))
            raise Reject(finding(unit, ADAPTER_PATH, message, place, "give one of them another name"))
    return adapters


def each_adapter(unit: Unit, env: Env, written: Sequence[Json]) -> tuple[list[Adapter], list[Diagnostic]]:
    """The adapters that can be brought in, and why the others cannot."""
    found: list[Adapter] = []
    wrong: list[Diagnostic] = []
    for i, entry in enumerate(written):
        try:
            found.append(adapter_of(unit, env, i, entry))
        except Reject as reject:
            wrong += reject.diagnostics
    return found, wrong


def adapter_of(unit: Unit, env: Env, index: int, entry: Json) -> Adapter:
    """One adapter.

    Raises:
        Reject: nothing can bring it in.
    """
    assert unit.resolved is not None
    name, uri = entry.get("name") or "", entry.get("uri") or ""
    at: Path = (*LORA, "adapters", index)
    scheme = env.plugs.scheme(uri) if "://" in uri else None
    if scheme is not None and SchemeTrait.LORA in scheme.traits and not is_switched_off(unit):
        if (wrong := no_model(uri, env, partial(unit.resolved.span, (*at, "uri")), unit.ref)) is not None:
            raise Reject(wrong)
        return Adapter(name, uri, ROOT + path_segment(name), scheme, at)
    if scheme is not None and SchemeTrait.LORA in scheme.traits:
        message = f"adapter {name} of {unit.ref} cannot be brought in: storageInitializer.enabled is false"
        remedy = "leave storageInitializer out, or set enabled: true"
    else:
        kinds = ", ".join(p for s in env.plugs.schemes if SchemeTrait.LORA in s.traits for p in s.prefixes)
        message = f"adapter {name} of {unit.ref} cannot be brought in from {uri!r}"
        meant = meant_uri(uri, env)
        remedy = f"{f'did you mean {meant}? ' if meant else ''}adapters come from {kinds}"
    raise Reject(finding(unit, ADAPTER_URI, message, unit.resolved.span((*at, "uri")), remedy))


def is_switched_off(unit: Unit) -> bool:
    """Whether the service brings in its model by itself."""
    assert unit.resolved is not None
    return unit.resolved.get("storageInitializer", "enabled") is False


def path_segment(name: str) -> str:
    """The folder of an adapter. KServe: sanitizeLoRAPathSegment."""
    cleaned = _odd_characters.sub("-", name)
    return "adapter" if cleaned in ("", ".", "..") else cleaned


def with_lora_arguments(pod: Tree, unit: Unit, adapters: Sequence[Adapter]) -> Tree:
    """A pod whose server knows the adapters by their own names and by those with the namespace.

    The arguments come first, so that the user's win. A server that has been told of adapters is left alone.
    """
    assert unit.resolved is not None
    at = ("containers", MAIN)
    server = pod.get(*at)
    if not adapters or knows_adapters(server):
        return pod
    limits = unit.resolved.get(*LORA)
    flags = [f"{flag}={limits[field]}" for field, flag in LIMITS if limits.get(field) is not None]
    modules = [
        f"'{encode({'name': name, 'path': adapter.path})}'"
        for adapter in adapters
        for name in (adapter.name, model_resource_name(unit.namespace, adapter.name))
    ]
    added = ["--enable-lora", *flags, MODULES, *modules]
    own = Graft(pod, (*at, "args"))
    origin = Concat(len(added), origin_of(unit, (*LORA, "adapters"), BY), own)
    return pod.put((*at, "args"), [*added, *(server.get("args") or ())], origin)


def knows_adapters(server: Json) -> bool:
    """Whether the user tells the server of adapters. KServe: userSuppliedLoRAConfig."""
    told = [e.get("value") or "" for e in server.get("env") or () if e["name"] == VARIABLE]
    return any(MODULES in text for text in (*told, *(server.get("command") or ()), *(server.get("args") or ())))
