"""What a pod of an LLMInferenceService needs of the model, and the way each kind of URI is brought in.

Decides whether the model is mounted, comes as an image or is downloaded, and what of the adapters is. Must not know
which pods there are, nor how a download is made.
KServe: pkg/controller/v1alpha2/llmisvc/workload_storage.go, attachModelArtifacts
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.llm.downloads import Pair, with_downloads
from kservec.core.llm.lora import with_lora_arguments
from kservec.core.llm.names import LOCAL_MODEL_CLAIM, LOCAL_MODEL_LABEL, LOCAL_MODEL_SOURCE
from kservec.core.llm.origins import origin_of
from kservec.core.models.local_models import model_folder
from kservec.core.models.model_uri import meant_uri, no_model
from kservec.core.models.storage_scheme import Attached, Delivery, Placement, SchemeTrait
from kservec.core.names import MODEL_PATH, STORAGE_INITIALIZER
from kservec.core.unit import finding

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.downloads import Receiver
    from kservec.core.llm.lora import Adapter
    from kservec.core.models.storage_scheme import Scheme
    from kservec.core.registry import Env
    from kservec.core.tree import Tree
    from kservec.core.unit import Unit

BY: Final = "attach_artifacts"
URI: Final = ("model", "uri")

MODEL_URI: Final = Code(
    "llm/model-uri",
    Severity.ERROR,
    "a model that cannot be brought in",
    "LLMInferenceServices take fewer kinds of URIs than InferenceServices: those that `help` names. Others need a base "
    "config or template that brings in the model by itself, with storageInitializer.enabled: false.",
)
NO_IMAGE_MODE: Final = Code(
    "llm/no-image-mode",
    Severity.ERROR,
    "a model in an image, which the platform does not bring in",
    "The storageInitializer section of inferenceservice-config names no way of bringing in models that are images: set "
    "ociModelMode, or enableModelcar.",
)
NO_SERVER: Final = Code(
    "llm/no-server",
    Severity.ERROR,
    "no container can read the model",
    "The model and its adapters go to the container with the name main, and the pod has none.",
)


def model_uri(unit: Unit, env: Env) -> str:
    """The URI of the model, of whichever kind.

    Raises:
        Reject: it is none.
    """
    assert unit.resolved is not None
    uri: str = unit.resolved.get(*URI) or ""
    if "://" not in uri:
        message = f"the model of {unit.ref} has no URI" if not uri else f"{uri!r} is no URI"
        place = unit.resolved.span(URI) if uri else unit.source.span("spec", "model")
        meant = meant_uri(uri, env)
        remedy = f"did you mean {meant}?" if meant else "write it as scheme://path, such as hf://owner/model"
        raise Reject(finding(unit, MODEL_URI, message, place, remedy))
    return uri


class Source(NamedTuple):
    """Where the model is brought in from, and how; `keeps_initializer`: an init container of the user's stays."""

    uri: str
    scheme: Scheme
    keeps_initializer: bool = False


def model_source(unit: Unit, env: Env) -> Source:
    """Where the model is brought in from: a copy on the nodes, where there is one.

    Raises:
        Reject: LLMInferenceServices take no such URI.
    """
    assert unit.resolved is not None
    uri = cached_uri(unit, model_uri(unit, env), env)
    scheme = env.plugs.scheme(uri)
    if scheme is None or SchemeTrait.LLM not in scheme.traits:
        kinds = ", ".join(p for s in env.plugs.schemes if SchemeTrait.LLM in s.traits for p in s.prefixes)
        message = f"an LLMInferenceService cannot have its model from {uri!r}"
        raise Reject(finding(unit, MODEL_URI, message, unit.resolved.span(URI), f"models come from {kinds}"))
    if (wrong := no_model(uri, env, partial(unit.resolved.span, URI), unit.ref)) is not None:
        raise Reject(wrong)
    if scheme.resolve_for_llm is None:
        return Source(uri, scheme, keeps_initializer=scheme.delivery is Delivery.IMAGE)
    resolved = scheme.resolve_for_llm(uri, env)
    settled = env.plugs.scheme(resolved)
    if settled is None or settled is scheme:
        message = f"the platform does not say how {uri} comes into pods"
        remedy = "set ociModelMode in the storageInitializer section of inferenceservice-config"
        raise Reject(finding(unit, NO_IMAGE_MODE, message, unit.resolved.span(URI), remedy))
    return Source(resolved, settled)


def cached_uri(unit: Unit, uri: str, env: Env) -> str:
    """Where the model's copy on the nodes lies, if the service has one; else the URI as it is.

    Whether the cached URI ends in a slash makes no difference here; KServe then makes a path that does not exist.
    """
    source = unit.annotations.get(LOCAL_MODEL_SOURCE)
    if LOCAL_MODEL_LABEL not in unit.labels or source is None:
        return uri
    folder = source.removesuffix("/")
    if uri != folder and not uri.startswith(f"{folder}/"):
        return uri
    scheme = env.plugs.scheme_with(SchemeTrait.NODE_CACHE)
    prefix = scheme.prefixes[0] if scheme is not None else ""
    return f"{prefix}{unit.annotations[LOCAL_MODEL_CLAIM]}/{model_folder(source)}/{uri[len(folder) + 1 :]}"


def with_model(pod: Tree, receiver: Receiver, source: Source, adapters: Sequence[Adapter] = ()) -> Attached:
    """A pod with the model and the adapters, and a server that knows the adapters.

    Raises:
        Reject: no container can take what is brought in.
    """
    pairs = [Pair(a.uri, a.path, origin_of(receiver.unit, (*a.at, "uri"), BY)) for a in adapters if a.is_downloaded]
    if source.scheme.delivery is Delivery.DOWNLOAD:
        pod, found = with_downloads(pod, [Pair(source.uri, MODEL_PATH, receiver.origin), *pairs], receiver)
        return Attached(with_adapters(pod, receiver, adapters), found)
    pod, found = placed(pod, receiver, source, receiver.path)
    if pairs:
        pod, more = with_downloads(pod, pairs, receiver)
        found = (*found, *more)
    elif not source.keeps_initializer:
        pod = pod.without(("initContainers", STORAGE_INITIALIZER), receiver.origin)
    return Attached(with_adapters(pod, receiver, adapters), found)


def placed(pod: Tree, receiver: Receiver, source: Source, path: str, volume: str = "") -> Attached:
    """A pod with a model that is no download. One that is mounted needs no container to be mounted in.

    Raises:
        Reject: an image has nobody to be brought to.
    """
    attach = source.scheme.attach
    if attach is None:
        return Attached(pod)
    if not receiver.is_in(pod) and source.scheme.delivery is Delivery.IMAGE:
        raise Reject(no_server(pod, receiver))
    placement = Placement(
        uri=source.uri,
        mount_path=path,
        origin=receiver.origin,
        subject=receiver.unit.ref,
        targets=(receiver.container,) if receiver.is_in(pod) else (),
        volume=volume,
    )
    return attach(pod, placement, receiver.env)


def with_adapters(pod: Tree, receiver: Receiver, adapters: Sequence[Adapter]) -> Tree:
    """A pod with those adapters that are mounted, and a server that is told of all.

    Raises:
        Reject: there is no server.
    """
    if adapters and not receiver.is_in(pod):
        raise Reject(no_server(pod, receiver))
    for adapter in adapters:
        if not adapter.is_downloaded:
            pod, _ = placed(pod, receiver, Source(adapter.uri, adapter.scheme), adapter.path, adapter.volume)
    return with_lora_arguments(pod, receiver.unit, adapters)


def no_server(pod: Tree, receiver: Receiver) -> Diagnostic:
    """The diagnostic for a pod whose containers have other names."""
    names = ", ".join(str(c.get("name")) for c in pod.get("containers") or ()) or "none"
    message = f"no container is named {receiver.container}; the pod has {names}"
    span = pod.span(("containers",)) or receiver.origin.span()
    return finding(receiver.unit, NO_SERVER, message, span, f"name the container that serves {receiver.container}")
