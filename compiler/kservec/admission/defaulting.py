"""Defaulting: what KServe's mutating webhook writes into an InferenceService.

Decides which values are filled in and where the user's framework shorthand goes. Reports nothing; what a chosen runtime
adds later is `choose_runtime`'s business. Values are copied only along the paths that change.
KServe: pkg/apis/serving/v1beta1/inference_service_defaults.go, DefaultInferenceService
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.admission.mode import MODES, default_mode
from kservec.admission.subject import MODEL_FIELDS, predictor_implementations
from kservec.core.names import DEPLOYMENT_MODE, KSERVE_CONTAINER, MODEL_FORMAT
from kservec.core.unit import Mode
from kservec.spec.inferenceservice import FRAMEWORKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json, Path

FRAMEWORK_FIELDS = frozenset(FRAMEWORKS)
V2_SHORTHANDS = frozenset({"triton", "onnx", "huggingface"})
"""Shorthands that speak v2 unless they say otherwise."""
V2_FORMATS = frozenset({"triton", "vLLM"})
"""Model formats, in this very spelling, that speak v2 unless the model says otherwise."""
AUTOMOUNT = "automountServiceAccountToken"


class Defaulted(NamedTuple):
    """A defaulted object, and where values stand that were moved (path in it -> path in the user's document)."""

    value: Json
    moved: Mapping[Path, Path]


def default_inferenceservice(value: Json, platform: PlatformConfig) -> Defaulted:
    """An InferenceService with what KServe's webhook would fill in; parts that do not change are shared.

    Args:
        value: the document after the CRD's own defaults.
        platform: gives resources, image versions, the default mode and the token mount of KServe's configuration.

    Raises:
        Reject: a section of the configuration that is needed cannot be used.
    """
    annotations = value["metadata"].get("annotations") or {}
    spec = value.get("spec") or {}
    predictor = spec.get("predictor")
    moved: Mapping[Path, Path] = {}
    is_modelmesh = _is_modelmesh(annotations)
    if predictor is not None and not is_modelmesh:
        predictor, moved = _default_predictor(predictor, platform)
    components = [("predictor", predictor)]
    if "transformer" in spec:
        components.append(("transformer", _default_transformer(spec["transformer"], platform)))
    if "explainer" in spec:
        components.append(("explainer", _default_explainer(spec["explainer"], platform)))
    if not platform.security.auto_mount_service_account_token:
        components = [(role, _without_token(component)) for role, component in components]
    model = None if is_modelmesh else (predictor or {}).get("model")
    metadata = _with_annotations(value["metadata"], _default_annotations(annotations, model, platform))
    for role, component in components:
        if component is not spec.get(role):
            moved = {**moved, **_renamed(role, spec.get(role) or {}, component)}
            spec = {**spec, role: component}
    return Defaulted({**value, "metadata": metadata, "spec": spec}, moved)


def _renamed(role: str, written: Json, component: Json) -> dict[Path, Path]:
    """Where the first container of a component stands, by its name, if that is KServe's and not the user's."""
    before, after = written.get("containers"), component.get("containers")
    if not before or not after or before[0].get("name") == after[0]["name"]:
        return {}
    at = ("spec", role, "containers")
    return {(*at, KSERVE_CONTAINER): (*at, 0)}


def _with_annotations(metadata: Json, added: Mapping[str, str]) -> Json:
    return {**metadata, "annotations": {**(metadata.get("annotations") or {}), **added}} if added else metadata


def _default_annotations(annotations: Mapping[str, str], model: Json, platform: PlatformConfig) -> dict[str, str]:
    """Annotations to write: the mode in its present spelling, and the format of the predictor's model, if any."""
    added: dict[str, str] = {}
    text = annotations.get(DEPLOYMENT_MODE)
    mode = default_mode(platform) if text is None else MODES.get(text)
    # A default of Knative is the one that KServe does not write down.
    if mode is not None and mode != text and not (text is None and mode is Mode.KNATIVE):
        added[DEPLOYMENT_MODE] = mode.value
    if model and MODEL_FORMAT not in annotations:
        name = (model.get("modelFormat") or {}).get("name")
        if name:
            added[MODEL_FORMAT] = name
    return added


def _is_modelmesh(annotations: Mapping[str, str]) -> bool:
    """Whether the user asks for ModelMesh, whose predictors stay as they are; a default of ModelMesh does not count."""
    return MODES.get(annotations.get(DEPLOYMENT_MODE, "")) is Mode.MODELMESH


def _default_predictor(predictor: Json, platform: PlatformConfig) -> tuple[Json, dict[Path, Path]]:
    moved: dict[Path, Path] = {}
    if MODEL_FIELDS.isdisjoint(predictor):
        return _default_custom_predictor(predictor, platform), moved
    if not FRAMEWORK_FIELDS.isdisjoint(predictor):
        framework = next((f for f in FRAMEWORKS if predictor.get(f) is not None), None)
        if framework is not None:
            predictor = _with_model(predictor, framework)
            moved[("spec", "predictor", "model")] = ("spec", "predictor", framework)
    model = predictor.get("model")
    if model and model.get("protocolVersion") is None and (model.get("modelFormat") or {}).get("name") in V2_FORMATS:
        predictor = {**predictor, "model": {**model, "protocolVersion": "v2"}}
    return predictor, moved


def _with_model(predictor: Json, framework: str) -> Json:
    """A predictor whose framework has become its `model`; a model that the user wrote is lost, as in KServe."""
    model = {**predictor[framework], "modelFormat": {"name": framework}}
    if framework in V2_SHORTHANDS and model.get("protocolVersion") is None:
        model["protocolVersion"] = "v2"
    rest = {field: value for field, value in predictor.items() if field != framework}
    rest["model"] = model
    return rest


def _default_custom_predictor(predictor: Json, platform: PlatformConfig) -> Json:
    """A predictor made of containers. KServe: predictor_custom.go, Default."""
    containers = predictor.get("containers")
    if not containers or len(predictor_implementations(predictor)) != 1:
        return predictor
    rename = len(containers) == 1 or not containers[0].get("name")
    return _with_first_container(predictor, _default_container(containers[0], platform, rename=rename))


def _default_transformer(transformer: Json, platform: PlatformConfig) -> Json:
    """KServe: transformer_custom.go, Default."""
    containers = (transformer or {}).get("containers")
    if not containers:
        return transformer
    return _with_first_container(transformer, _default_container(containers[0], platform, rename=True))


def _default_explainer(explainer: Json, platform: PlatformConfig) -> Json:
    """KServe: explainer_custom.go and explainer_art.go, Default."""
    if explainer is None:
        return None
    art, containers = explainer.get("art"), explainer.get("containers")
    if art is not None and not containers:
        art = _default_container(art, platform, rename=True)
        if art.get("runtimeVersion") is None:
            art = {**art, "runtimeVersion": platform.explainers.art.default_image_version}
        return {**explainer, "art": art}
    if containers and art is None:
        return _with_first_container(explainer, _default_container(containers[0], platform, rename=True))
    return explainer


def _with_first_container(component: Json, container: Json) -> Json:
    containers = component["containers"]
    if container is containers[0]:
        return component
    return {**component, "containers": [container, *containers[1:]]}


def _default_container(container: Json, platform: PlatformConfig, *, rename: bool) -> Json:
    """The container of a custom component: KServe's name if it is to have it, and the resources that it lacks.

    KServe: inference_service_defaults.go, setResourceRequirementDefaults
    """
    resources = container.get("resources") or {}
    changed = {k: v for k, v in _missing_resources(resources, platform).items() if v}
    if changed:
        resources = {**resources, **{k: {**(resources.get(k) or {}), **v} for k, v in changed.items()}}
        container = {**container, "resources": resources}
    if rename and container.get("name") != KSERVE_CONTAINER:
        container = {**container, "name": KSERVE_CONTAINER}
    return container


def _missing_resources(resources: Json, platform: PlatformConfig) -> dict[str, dict[str, str]]:
    """Requests and limits that the configuration has and a container lacks; presence counts, not the amount."""
    section = platform.inference_service
    if section is None:
        return {}
    defaults = section.resource
    wanted = (
        ("requests", "cpu", defaults.cpu_request),
        ("requests", "memory", defaults.memory_request),
        ("limits", "cpu", defaults.cpu_limit),
        ("limits", "memory", defaults.memory_limit),
    )
    missing: dict[str, dict[str, str]] = {}
    for field, name, quantity in wanted:
        if quantity and name not in (resources.get(field) or {}):
            missing.setdefault(field, {})[name] = quantity
    return missing


def _without_token(component: Json) -> Json:
    """A component whose pods get no API token unless the user decided about it."""
    if component is None or component.get(AUTOMOUNT) is not None:
        return component
    return {**component, AUTOMOUNT: False}
