"""The annotations and labels of KServe and Knative: which have an effect, and where.

Knows three classes of keys under these projects' prefixes: those with an effect here, those that KServe or Knative
knows or once knew but that do nothing here, and all others, which are misspelt or made up. Keys under other prefixes
are the user's own. Says nothing about values: what reads a key checks its value.

KServe: pkg/constants/constants.go; pkg/credentials/s3/s3_secret.go
Knative: serving/pkg/apis/autoscaling/register.go, serving/pkg/apis/serving/register.go
"""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Severity
from kservec.core.names import DEPLOYMENT_MODE
from kservec.core.policy import MODEL_FACTS, RULES_OF_OBJECTS, WAIVER
from kservec.core.spelling import closest
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

UNKNOWN_KEY = Code(
    "metadata/unknown-key",
    Severity.WARNING,
    "an annotation or label that nobody reads",
    "The key stands under a prefix of KServe or Knative, but neither knows it, so it has no effect. Correct its "
    "spelling or remove it.",
)
KEY_WITHOUT_EFFECT = Code(
    "metadata/key-without-effect",
    Severity.WARNING,
    "an annotation or label that does nothing here",
    "KServe or Knative knows the key, or did once, but it has no effect on this kind of object, in this deployment "
    "mode, or at all. The help text names what has.",
)


class Place(StrEnum):
    """Where a key may stand. The value is how messages call the place."""

    SERVICE = "an InferenceService"
    COMPONENT = "a component"
    RUNTIME = "a serving runtime"
    RUNTIME_POD = "the spec of a serving runtime"
    SECRET = "a Secret"  # noqa: S105 - the name of a kind
    SERVICE_ACCOUNT = "a ServiceAccount"
    GRAPH = "an InferenceGraph"
    LLM = "an LLMInferenceService"
    LLM_POD = "the spec of an LLMInferenceService"


class Kind(StrEnum):
    """Which of the two maps of `metadata` a key stands in."""

    ANNOTATION = "annotation"
    LABEL = "label"


class Effect(NamedTuple):
    """Where a key has an effect, and in which modes."""

    places: frozenset[Place]
    modes: frozenset[Mode] = frozenset(Mode)


class Oddity(NamedTuple):
    """A key that does nothing: what to say about it, and what to do."""

    key: str
    code: Code
    message: str
    help: str


_SERVICE = frozenset({Place.SERVICE})
_POD = frozenset({Place.SERVICE, Place.COMPONENT, Place.RUNTIME_POD})
_WORKLOAD = frozenset({Place.SERVICE, Place.COMPONENT, Place.RUNTIME_POD, Place.GRAPH})
_ANY = frozenset({Place.SERVICE, Place.GRAPH, Place.LLM})
_CREDENTIALS = frozenset({Place.SECRET, Place.SERVICE_ACCOUNT})
_LLM = frozenset({Place.LLM})
_STANDARD = frozenset({Mode.STANDARD})
_KNATIVE = frozenset({Mode.KNATIVE})

STORAGE_SECRET_NAME = "serving.kserve.io/storageSecretName"  # noqa: S105 - the name of an annotation
"""What KServe's shipped configuration calls the annotation that names a storage Secret."""

PREFIXES = frozenset({
    "autoscaling.knative.dev", "internal.serving.kserve.io", "kservec.dev", "networking.kserve.io",
    "prometheus.kserve.io", "serving.knative.dev", "serving.knative.openshift.io", "serving.kserve.io",
    "serving.kubeflow.org", "storage.kserve.io",
})  # fmt: skip
"""Prefixes whose keys are all known here. `networking.knative.dev` is not among them: Knative's own tools add to it."""


def _under(prefix: str, effect: Effect, names: str) -> dict[str, Effect]:
    return {f"{prefix}/{name}": effect for name in names.split()}


_KSERVE = "serving.kserve.io"
_SCALING = "autoscaling.knative.dev"
_REVISION = Effect(_WORKLOAD, _KNATIVE)

ANNOTATIONS: Mapping[str, Effect] = {
    **_under(_KSERVE, Effect(frozenset({Place.SERVICE, Place.COMPONENT, Place.GRAPH, Place.LLM})), "deploymentMode"),
    **_under(_KSERVE, Effect(_WORKLOAD | _LLM), "stop"),
    **_under(_KSERVE, Effect(_WORKLOAD, _STANDARD), "autoscalerClass"),
    **_under(_KSERVE, Effect(_POD, _KNATIVE), "enable-tag-routing"),
    **_under(_KSERVE, Effect(_SERVICE | _LLM), "disable-localmodel nodegroup"),
    **_under(_KSERVE, Effect(_POD), "gke-accelerator storage-initializer-uid gpu-resource-types"),
    **_under(_KSERVE, Effect(_POD), "enable-metric-aggregation enable-prometheus-scraping"),
    **_under(_KSERVE, Effect(frozenset({Place.RUNTIME})), "server-type"),
    **_under(_KSERVE, Effect(frozenset({Place.LLM_POD})), "model-based-routing-enabled"),
    **_under(_KSERVE, Effect(_LLM), "exp-dra-device-class exp-dra-cel-selector exp-dra-device-count"),
    **_under(_KSERVE, Effect(_LLM), "exp-dra-container-name"),
    **_under(_KSERVE, Effect(_CREDENTIALS), "s3-endpoint s3-region s3-verifyssl s3-usehttps s3-usevirtualbucket"),
    **_under(_KSERVE, Effect(_CREDENTIALS), "s3-useaccelerate s3-useanoncredential s3-cabundle s3-cabundle-configmap"),
    **_under("storage.kserve.io", Effect(_POD), "readonly"),
    **_under("prometheus.kserve.io", Effect(_POD), "port path"),
    **_under("internal.serving.kserve.io", Effect(_POD), "storage-initializer-sourceuri agent"),
    **_under("internal.serving.kserve.io", Effect(_POD), "logger logger-sink-url logger-mode"),
    **_under("internal.serving.kserve.io", Effect(_POD), "logger-metadata-headers logger-metadata-annotations"),
    **_under("internal.serving.kserve.io", Effect(_POD), "batcher batcher-max-batchsize batcher-max-latency"),
    **_under(_SCALING, _REVISION, "class metric target window initial-scale activation-scale scale-down-delay"),
    **_under(_SCALING, _REVISION, "metric-aggregation-algorithm scale-to-zero-pod-retention-period"),
    **_under(_SCALING, _REVISION, "target-utilization-percentage target-burst-capacity"),
    **_under(_SCALING, _REVISION, "panic-window-percentage panic-threshold-percentage"),
    **_under(_SCALING, _REVISION, "initialScale maxScale scaleDownDelay metricAggregationAlgorithm"),
    **_under(_SCALING, _REVISION, "scaleToZeroPodRetentionPeriod targetUtilizationPercentage targetBurstCapacity"),
    **_under(_SCALING, _REVISION, "panicWindowPercentage panicThresholdPercentage"),
    **_under("serving.knative.dev", _REVISION, "rollout-duration rolloutDuration progress-deadline"),
    **_under("serving.knative.openshift.io", _REVISION, "enablePassthrough"),
    **_under("kservec.dev", Effect(_SERVICE, _KNATIVE), "stable-revision before-canary"),
    MODEL_FACTS: Effect(_SERVICE | _LLM),
    **{f"{WAIVER}{rule}": Effect(_ANY) for rule in RULES_OF_OBJECTS},
}

LABELS: Mapping[str, Effect] = {
    "networking.kserve.io/visibility": Effect(frozenset({Place.SERVICE, Place.GRAPH}), _STANDARD),
    "networking.knative.dev/visibility": Effect(frozenset({Place.SERVICE, Place.COMPONENT, Place.GRAPH}), _KNATIVE),
}

_BATCHER = "set spec.predictor.batcher instead"
_LOGGER = "set the logger's storage in the spec instead"
_METRIC = "set spec.predictor.scaleMetric instead"
_TARGET = "set spec.predictor.scaleTarget instead"
_MIN = "set minReplicas of the component instead"
_MAX = "set maxReplicas of the component instead"
_SECRET = f"list the Secret under `secrets` of the ServiceAccount, or name it in the annotation {STORAGE_SECRET_NAME}"
_CONTROLLER = "KServe's controller keeps its own state there; remove it"
_NEVER_STALE = "runtimes are merged when the tree is built, so nothing changes unseen; remove it"
_VISIBILITY = "write it as a label"
_SET_BY_KSERVE = "every object gets it from the InferenceService's name; remove it"

USELESS_ANNOTATIONS: Mapping[str, str] = {
    "serving.kserve.io/metrics": _METRIC,
    "serving.kserve.io/metric": _METRIC,
    "serving.kserve.io/targetUtilizationPercentage": _TARGET,
    "serving.kserve.io/minReplicas": _MIN,
    "serving.kserve.io/maxReplicas": _MAX,
    "serving.kserve.io/enable-scale-to-zero": "set minReplicas: 0 of the component instead (Knative or KEDA)",
    "serving.kserve.io/propagateHeaders": "list the headers under `headers` of the router's configuration instead",
    "serving.kserve.io/secretKey": "set storage.key of the model instead",
    "serving.kserve.io/schemaPath": "set storage.schemaPath of the model instead",
    "serving.kserve.io/s3-secret-name": _SECRET,
    "serving.kserve.io/s3-secret": _SECRET,
    "serving.kserve.io/enable-batch": _BATCHER,
    "serving.kserve.io/batch-size": _BATCHER,
    "serving.kserve.io/batch-timeout": _BATCHER,
    "serving.kserve.io/logger-secret-name": _LOGGER,
    "serving.kserve.io/logger-secret-path": _LOGGER,
    "serving.kserve.io/logger-secret-file": _LOGGER,
    "serving.kserve.io/disable-auto-update": _NEVER_STALE,
    "serving.kserve.io/enable-served-by-header": "KServe declares it and reads it nowhere; remove it",
    "serving.kserve.io/inferencepool-migrated": _CONTROLLER,
    "networking.kserve.io/visibility": _VISIBILITY,
    "networking.knative.dev/visibility": _VISIBILITY,
    "networking.kserve.io/ingress-class": "set ingressClassName in the `ingress` section of KServe's configuration",
    "networking.kserve.io/gateway-api": "set enableGatewayApi in the `ingress` section of KServe's configuration",
    "autoscaling.knative.dev/min-scale": _MIN,
    "autoscaling.knative.dev/minScale": _MIN,
    "autoscaling.knative.dev/max-scale": _MAX,
    "autoscaling.knative.dev/stable-window": "Knative calls it autoscaling.knative.dev/window",
    "serving.knative.dev/timeout-seconds": "set timeout of the component instead",
    "serving.knative.dev/enablePassthrough": "it is called serving.knative.openshift.io/enablePassthrough",
    "serving.knative.dev/creator": "Knative sets it itself; remove it",
    "serving.knative.dev/lastModifier": "Knative sets it itself; remove it",
}
"""Keys that do nothing anywhere, and what to do instead."""

USELESS_LABELS: Mapping[str, str] = {
    "serving.kserve.io/inferenceservice": _SET_BY_KSERVE,
    "serving.kserve.io/inferencegraph": "every object gets it from the InferenceGraph's name; remove it",
    "serving.kserve.io/kind": "KServe sets it on graphs; remove it",
    "serving.kserve.io/routing-group": "it follows from spec.router.route.group; remove it",
    "internal.serving.kserve.io/localmodel": "it is derived from the LocalModelCache that holds the model; remove it",
    "internal.serving.kserve.io/localmodel-namespace": "it is derived from the LocalModelNamespaceCache; remove it",
}

_TABLES = {Kind.ANNOTATION: (ANNOTATIONS, USELESS_ANNOTATIONS), Kind.LABEL: (LABELS, USELESS_LABELS)}


def odd_keys(
    keys: Iterable[str], kind: Kind, place: Place, mode: Mode | None, also: Iterable[str] = ()
) -> tuple[Oddity, ...]:
    """The keys that do nothing where they stand.

    Args:
        keys: the keys of one map of annotations or labels.
        kind: which map it is.
        place: what it belongs to.
        mode: the deployment mode, where there is one.
        also: keys that have an effect because the platform's configuration says so.
    """
    return _odd_keys(tuple(keys), kind, place, mode, tuple(also))


# Most objects of a fleet have the same keys: those are judged once.
@lru_cache(maxsize=256)
def _odd_keys(
    keys: tuple[str, ...], kind: Kind, place: Place, mode: Mode | None, also: tuple[str, ...]
) -> tuple[Oddity, ...]:
    return tuple([odd for key in keys if (odd := _odd_key(key, kind, place, mode, also)) is not None])


def _odd_key(key: str, kind: Kind, place: Place, mode: Mode | None, also: tuple[str, ...]) -> Oddity | None:
    effects, useless = _TABLES[kind]
    if key in useless:
        return Oddity(key, KEY_WITHOUT_EFFECT, f"{kind} {key} has no effect", useless[key])
    if (effect := effects.get(key)) is not None:
        return _misplaced(key, kind, effect, place, mode)
    return _unknown(key, kind, also) if key.partition("/")[0] in PREFIXES and key not in also else None


def _misplaced(key: str, kind: Kind, effect: Effect, place: Place, mode: Mode | None) -> Oddity | None:
    if place not in effect.places:
        where = " or ".join(sorted(effect.places))
        return Oddity(key, KEY_WITHOUT_EFFECT, f"{kind} {key} has no effect on {place}", f"it belongs on {where}")
    if mode is not None and mode not in effect.modes:
        modes = " and ".join(sorted(effect.modes))
        help_text = f"it counts in {modes} mode only; remove it, or change the annotation {DEPLOYMENT_MODE}"
        return Oddity(key, KEY_WITHOUT_EFFECT, f"{kind} {key} has no effect in {mode} mode", help_text)
    return None


def _unknown(key: str, kind: Kind, also: Iterable[str]) -> Oddity:
    message = f"nobody reads the {kind} {key}"
    if key.startswith("serving.kubeflow.org/"):
        renamed = "serving.kserve.io/" + key.partition("/")[2]
        return Oddity(key, UNKNOWN_KEY, message, f"KFServing's prefix is gone: the key may now be {renamed}")
    effects, useless = _TABLES[kind]
    meant = closest(key, [*effects, *useless, *also])
    return Oddity(key, UNKNOWN_KEY, message, f"did you mean {meant}?" if meant else "remove it")
