"""attach_models: models come into pods, by volume or by download.

Decides for each model whether it is mounted, downloaded or left to `attach_images`, and which containers read it. How a
kind of storage is mounted, and how the download container is made, is decided elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.intents import ModelIntent, PullerIntent
from kservec.core.models.ca_bundle import namespace_copy
from kservec.core.models.cni_user import with_cni_user
from kservec.core.models.model_request import Changed, ModelRequest, Pods, attached
from kservec.core.models.model_uri import (
    ANY_SCHEME,
    is_supported,
    misspelt_scheme,
    no_model,
    password_in_uri,
    settled_scheme,
    unknown_scheme,
)
from kservec.core.models.node_cache import cached_uri
from kservec.core.models.odd_uris import Place, is_odd, said_of
from kservec.core.models.storage_initializer import Download, add_download, settings
from kservec.core.models.storage_scheme import Delivery, Placement
from kservec.core.models.storage_uris import attach_list
from kservec.core.names import MODEL_PATH, STORAGE_INITIALIZER
from kservec.core.pods.containers import find, variable
from kservec.core.pods.mounts import model_readers
from kservec.core.records import evolve
from kservec.core.unit import Mode, Step, finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.core.catalog import StorageContainer
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.intents import ModelSource
    from kservec.core.models.storage_scheme import Scheme
    from kservec.core.registry import Env
    from kservec.core.tree import Tree
    from kservec.core.unit import Component, Unit

VOLUME = "kserve-provision-location"
URI_VARIABLE = "STORAGE_URI"

TWO_PLACES = Code(
    "storage/two-places",
    Severity.ERROR,
    "two places for one model",
    "A model lies at storageUri, or at storage.path in the storage that storage.key names. Give one of the two; "
    "storage.key and storage.parameters alone may stand beside storageUri, for its credentials.",
)
NOT_DOWNLOADED = Code(
    "storage/not-downloaded",
    Severity.WARNING,
    "a model that is not downloaded",
    "The agent of a multi-model server pulls models while it runs, and KServe downloads none before it starts.",
)
EMPTY_URI = Code(
    "storage/empty-uri",
    Severity.WARNING,
    "a model with an empty URI",
    "The variable STORAGE_URI is there and empty. KServe adds a storage initializer all the same, which has nothing to "
    "download. Remove the variable, or fill it.",
)
OWN_INITIALIZER = Code(
    "storage/own-initializer",
    Severity.NOTE,
    "the pod brings its own storage initializer",
    "The pod has an init container with the name storage-initializer. Bringing in the model, and mounting it, is left "
    "to it and to the pod's own volumes.",
)


def attach_models(unit: Unit, env: Env) -> Step:
    """Bring models into the pods of each component, and the platform's CA bundle into the namespace.

    Takes:   ModelIntent, but for single models that come as images
    Writes:  pods: volumes, mounts, init containers, the user of the storage initializer; ConfigMap global-ca-bundle
    Reports: storage/*, secret/*, serviceaccount/not-declared, platform/ca-bundle, platform/configuration
    KServe:  storage_initializer_injector.go, InjectStorageInitializer and CommonStorageInitialization
    """
    if unit.mode is Mode.MODELMESH:
        return Step(unit)
    settings(env.platform)
    copy = namespace_copy(unit.namespace, env, unit.ref)
    found: list[Diagnostic] = []
    components = []
    for component in unit.components:
        equipped, more = with_models(component, unit, env)
        components.append(equipped)
        found.extend(more)
    bundle = unit.bundle.add(copy) if copy is not None else unit.bundle
    return Step(evolve(unit, components=tuple(components), bundle=bundle), tuple(found))


def with_models(component: Component, unit: Unit, env: Env) -> tuple[Component, list[Diagnostic]]:
    """A component with the models that its intents ask for; lists come before a single model, as in KServe.

    Raises:
        Reject: a model cannot be had.
    """
    intents = component.peek(ModelIntent)
    lists, singles = [i for i in intents if i.several], [i for i in intents if not i.several]
    if len(singles) > 1:
        message, span = "storageUri and storage.path both say where the model lies", singles[-1].origin.span()
        raise Reject(finding(unit, TWO_PLACES, message, span, "remove one of the two"))
    found = [] if intents or component.runtime is None else unnamed(unit, component)
    pods, images = Pods(component.pod, component.worker_pod), []
    for intent in (*lists, *singles):
        request = ModelRequest(unit, component, intent, attached(intent.origin), env)
        odd = [source for source in intent.sources if is_odd(source.uri, env)]
        found += judged(odd, request) if odd else ()
        if intent.several:
            pods, more = attach_several(request, pods)
        else:
            route = Route(*settled_scheme(intent.sources[0].uri, env))
            images += [intent] if route.is_image else []
            pods, more = attach_intent(request, route, pods)
        found.extend(more)
        for source in odd:
            found += said_of(source.uri, Place(source.origin.span, unit.ref, pods.pod.value), env)
    before = pods
    pods, more = pods.changed(lambda pod: Changed(*with_cni_user(pod, component.annotations, unit.ref)))
    found.extend(more)
    if not intents and pods is before:
        return component, found
    rest = [i for i in component.intents if not isinstance(i, ModelIntent)]
    return evolve(component, pod=pods.pod, worker_pod=pods.worker, intents=(*rest, *images)), found


def unnamed(unit: Unit, component: Component) -> list[Diagnostic]:
    """What there is to say of a predictor by a runtime that names no model."""
    from kservec.core.models.missing_model import missing_model  # noqa: PLC0415 - hardly any predictor does that

    return list(missing_model(unit, component))


def judged(sources: Iterable[ModelSource], request: ModelRequest) -> Iterator[Diagnostic]:
    """What there is to say of URIs as texts.

    Raises:
        Reject: one names no model.
    """
    for source in sources:
        about = (source.uri, request.env, source.origin.span, request.unit.ref)
        if (wrong := no_model(*about)) is not None:
            raise Reject(wrong)
        if (slip := misspelt_scheme(*about)) is not None:
            yield slip
        if (shown := password_in_uri(source.uri, source.origin.span, request.unit.ref)) is not None:
            yield shown


class Route(NamedTuple):
    """How a single model comes in: its URI, and that URI's scheme."""

    uri: str
    scheme: Scheme | None

    @property
    def is_image(self) -> bool:
        """Whether `attach_images` brings it in."""
        return self.scheme is not None and self.scheme.delivery is Delivery.IMAGE


def attach_several(request: ModelRequest, pods: Pods) -> tuple[Pods, tuple[Diagnostic, ...]]:
    """The pods of a component with the models of a list.

    Raises:
        Reject: a model cannot be had.
    """
    if request.component.peek(PullerIntent):
        return pods, (not_downloaded(request),)
    return pods.changed(lambda pod: attach_list(pod, request))


def attach_intent(request: ModelRequest, route: Route, pods: Pods) -> tuple[Pods, tuple[Diagnostic, ...]]:
    """The pods of a component with one model, but for one that comes as an image later.

    A model with a copy on the nodes is read from there; one that is an image comes as an image besides, as in KServe.

    Raises:
        Reject: the model cannot be had.
    """
    source, env = request.intent.sources[0], request.env
    if not source.uri.startswith(ANY_SCHEME) and not is_supported(source.uri, env):
        raise Reject(unknown_scheme(source.uri, env, source.origin, request.unit.ref))
    cached = cached_uri(source.uri, request.component, request.unit, env)
    if cached is not None:
        route = Route(cached, env.plugs.scheme(cached))
    container, found = request.container_for(source.uri if cached is None else cached)
    if route.is_image:
        return pods, found
    if request.component.peek(PullerIntent):
        return pods, (*found, not_downloaded(request))
    if not source.uri:
        found = (*found, empty_uri(request))
    pods, more = pods.changed(lambda pod: attach_single(pod, route, request, container))
    return pods, (*found, *more)


def attach_single(pod: Tree, route: Route, request: ModelRequest, container: StorageContainer | None) -> Changed:
    """A pod with one model at the place where all servers look for it; `container` is what downloads it, if it is.

    Raises:
        Reject: the model cannot be had.
    """
    if pod.value.get("initContainers") and find(pod.value["initContainers"], STORAGE_INITIALIZER) is not None:
        message = "the model is left to the pod's own init container storage-initializer"
        remedy, span = "give it another name to have the model downloaded as usual", request.intent.origin.span()
        return Changed(pod, (finding(request.unit, OWN_INITIALIZER, message, span, remedy),))
    readers = model_readers(pod, request.origin, request.unit.ref)
    if route.scheme is not None and route.scheme.attach is not None:
        placement = Placement(
            uri=route.uri,
            mount_path=MODEL_PATH,
            origin=request.origin,
            subject=request.unit.ref,
            targets=readers,
            read_only=request.intent.read_only,
        )
        pod, found = route.scheme.attach(pod, placement, request.env)
    else:
        wanted = Download(
            arguments=(route.uri, MODEL_PATH),
            volume=VOLUME,
            path=MODEL_PATH,
            holder=request.holder(pod),
            read_only=request.intent.read_only,
            storage=request.storage_key(),
            container=container,
            confidential=request.intent.confidential,
        )
        pod, found = add_download(pod, wanted, readers, request.env)
    return Changed(with_local_path(pod, readers[0], request), found)


def with_local_path(pod: Tree, server: str, request: ModelRequest) -> Tree:
    """A pod whose own container finds the model's directory in the variable where it named the URI."""
    if not variable(find(pod.value["containers"], server), URI_VARIABLE):
        return pod
    return pod.put(("containers", server, "env", URI_VARIABLE, "value"), MODEL_PATH, request.origin)


def not_downloaded(request: ModelRequest) -> Diagnostic:
    """The warning about a model of a multi-model server."""
    message = "the model is not downloaded, for an agent pulls models while the server runs"
    return finding(request.unit, NOT_DOWNLOADED, message, request.intent.origin.span(), "leave the URI out")


def empty_uri(request: ModelRequest) -> Diagnostic:
    """The warning about a model that lies nowhere."""
    message = f"{URI_VARIABLE} is empty, and a storage initializer is added for it"
    return finding(request.unit, EMPTY_URI, message, request.intent.origin.span(), "remove it")
