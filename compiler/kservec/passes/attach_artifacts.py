"""attach_artifacts: the model, its adapters and space for the cache come into the pods of an LLMInferenceService.

Decides which containers of which pods get what. How a URI is brought in is decided elsewhere.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Reject
from kservec.core.llm.accounts import account_of
from kservec.core.llm.artifacts import BY, URI, Source, model_source, model_uri, with_model
from kservec.core.llm.downloads import Receiver
from kservec.core.llm.kv_cache import with_cache_tiers
from kservec.core.llm.lora import adapters_of, is_switched_off
from kservec.core.llm.names import MAIN
from kservec.core.llm.origins import origin_of
from kservec.core.llm.part import PartRole
from kservec.core.llm.scheduler import TOKENIZER_CONTAINER
from kservec.core.models.odd_uris import Place, downloader, is_odd, said_of
from kservec.core.models.storage_initializer import settings
from kservec.core.models.storage_scheme import Attached
from kservec.core.names import MODEL_PATH
from kservec.core.pods.containers import find
from kservec.core.records import evolve
from kservec.core.unit import Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.lora import Adapter
    from kservec.core.llm.part import Part
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path, Tree
    from kservec.core.unit import Unit

BASE_MODEL_PATH = f"{MODEL_PATH}/base"
TOKENIZER_FILES = json.dumps([
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.json", "merges.txt", "config.json",
    "generation_config.json",
])  # fmt: skip


class Artifacts(NamedTuple):
    """What all pods of a service share: where the model comes from, and the adapters."""

    source: Source
    adapters: tuple[Adapter, ...]


def attach_artifacts(unit: Unit, env: Env) -> Step:
    """Bring the model into the pods of each part, and adapters and cache tiers to the servers.

    Takes:   nothing
    Writes:  pods of all parts
    Reports: llm/model-uri, llm/no-image-mode, llm/no-server, llm/adapter-uri, llm/adapters-share-path,
             storage/*, secret/*, platform/configuration
    KServe:  workload_storage.go, attachModelArtifacts; workload_kvcache.go, attachKVCacheSecondaryTiers
    """
    if not unit.parts:
        return Step(unit)
    settings(env.platform)
    artifacts = artifacts_of(unit, env)
    found: list[Diagnostic] = []
    parts = []
    for part in unit.parts:
        equipped, more = with_artifacts(part, unit, artifacts, env)
        parts.append(equipped)
        found += more
    found += odd_uris(unit, artifacts, parts, env) if artifacts is not None else ()
    return Step(evolve(unit, parts=tuple(parts)), tuple(dict.fromkeys(found)))


def artifacts_of(unit: Unit, env: Env) -> Artifacts | None:
    """The model and its adapters, where they are brought in at all.

    Raises:
        Reject: one of them cannot be; all that cannot are told of.
    """
    source: Source | None = None
    wrong: list[Diagnostic] = []
    adapters: tuple[Adapter, ...] = ()
    try:
        adapters = adapters_of(unit, env)
    except Reject as reject:
        wrong += reject.diagnostics
    try:
        model_uri(unit, env)
        source = None if is_switched_off(unit) else model_source(unit, env)
    except Reject as reject:
        wrong += reject.diagnostics
    if wrong:
        raise Reject(*wrong)
    return None if source is None else Artifacts(source, adapters)


def odd_uris(unit: Unit, artifacts: Artifacts, parts: Sequence[Part], env: Env) -> Iterator[Diagnostic]:
    """What there is to say of the URIs of the model and its adapters as texts."""
    assert unit.resolved is not None
    places: list[tuple[str, Path]] = [(a.uri, (*a.at, "uri")) for a in artifacts.adapters]
    for uri, at in ((artifacts.source.uri, URI), *places):
        if is_odd(uri, env):
            pod: Json = next((p.pod.value for p in parts if downloader(uri, p.pod.value) is not None), {})
            yield from said_of(uri, Place(partial(unit.resolved.span, at), unit.ref, pod), env)


def with_artifacts(
    part: Part, unit: Unit, artifacts: Artifacts | None, env: Env
) -> tuple[Part, tuple[Diagnostic, ...]]:
    """A part with what its pods need; without artifacts only with space for the cache.

    Raises:
        Reject: a pod cannot get what it needs.
    """
    pod, found = equipped(part.pod, part, unit, artifacts, env) if part.pod.value else (part.pod, ())
    if part.worker is None:
        return evolve(part, pod=pod), found
    worker, more = equipped(part.worker, part, unit, artifacts, env)
    return evolve(part, pod=pod, worker=worker), (*found, *more)


def equipped(pod: Tree, part: Part, unit: Unit, artifacts: Artifacts | None, env: Env) -> Attached:
    """One pod with what it needs.

    Raises:
        Reject: it cannot get it.
    """
    receiver = receiver_of(pod, part, unit, env)
    found: tuple[Diagnostic, ...] = ()
    if receiver is not None and artifacts is not None:
        serves = part.role in (PartRole.MAIN, PartRole.PREFILL)
        pod, found = with_model(pod, receiver, artifacts.source, artifacts.adapters if serves else ())
    return Attached(with_cache_tiers(pod, unit, part.path), found)


def receiver_of(pod: Tree, part: Part, unit: Unit, env: Env) -> Receiver | None:
    """The container of a pod that needs the model, and as what; None for a scheduler that needs none."""
    origin = origin_of(unit, ("model", "uri"), BY)
    account = account_of(unit, part.account, env)
    if part.role in (PartRole.MAIN, PartRole.PREFILL):
        return Receiver(unit, env, MAIN, MODEL_PATH, account, origin)
    if part.role is PartRole.TOKENIZER:
        return Receiver(unit, env, MAIN, BASE_MODEL_PATH, account, origin)
    if find(pod.get("containers") or (), TOKENIZER_CONTAINER) is None:
        return None
    account = account_of(unit, pod.get("serviceAccountName") or "", env)
    return Receiver(unit, env, TOKENIZER_CONTAINER, BASE_MODEL_PATH, account, origin, TOKENIZER_FILES)
