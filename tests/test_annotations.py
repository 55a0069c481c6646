"""The table of annotations and labels: which keys do nothing, and what is said about them."""

from __future__ import annotations

import pytest

from kservec.core.serving.annotation_values import odd_values
from kservec.core.serving.annotations import (
    ANNOTATIONS,
    KEY_WITHOUT_EFFECT,
    LABELS,
    PREFIXES,
    UNKNOWN_KEY,
    USELESS_ANNOTATIONS,
    USELESS_LABELS,
    Kind,
    Place,
    odd_keys,
)
from kservec.core.unit import Mode

STANDARD, KNATIVE = Mode.STANDARD, Mode.KNATIVE
SERVICE, COMPONENT, SECRET = Place.SERVICE, Place.COMPONENT, Place.SECRET


@pytest.mark.parametrize(
    ("key", "place", "mode"),
    [
        ("serving.kserve.io/deploymentMode", SERVICE, STANDARD),
        ("serving.kserve.io/autoscalerClass", COMPONENT, STANDARD),
        ("serving.kserve.io/enable-tag-routing", SERVICE, KNATIVE),
        ("serving.kserve.io/s3-endpoint", SECRET, None),
        ("autoscaling.knative.dev/target", COMPONENT, KNATIVE),
        ("serving.knative.dev/rollout-duration", SERVICE, KNATIVE),
        ("prometheus.kserve.io/port", SERVICE, STANDARD),
        ("internal.serving.kserve.io/batcher", SERVICE, STANDARD),
        ("example.com/owner", SERVICE, STANDARD),
        ("modelFormat", SERVICE, STANDARD),
        ("sidecar.istio.io/inject", COMPONENT, KNATIVE),
    ],
)
def test_nothing_is_said_about_annotations_with_an_effect(key: str, place: Place, mode: Mode | None) -> None:
    """A key in its place and mode, and every key of other projects, passes without a word."""
    assert not list(odd_keys([key], Kind.ANNOTATION, place, mode))


@pytest.mark.parametrize(
    ("key", "place", "mode", "message", "hint"),
    [
        ("serving.kserve.io/minReplicas", SERVICE, STANDARD, "has no effect", "minReplicas of the component"),
        ("serving.kserve.io/metric", SERVICE, STANDARD, "has no effect", "scaleMetric"),
        ("serving.kserve.io/targetUtilizationPercentage", SERVICE, STANDARD, "has no effect", "scaleTarget"),
        ("serving.kserve.io/enable-scale-to-zero", SERVICE, KNATIVE, "has no effect", "minReplicas: 0"),
        ("autoscaling.knative.dev/min-scale", SERVICE, KNATIVE, "has no effect", "minReplicas of the component"),
        ("autoscaling.knative.dev/target", SERVICE, STANDARD, "no effect in Standard mode", "Knative mode only"),
        ("serving.kserve.io/autoscalerClass", SERVICE, KNATIVE, "no effect in Knative mode", "Standard mode only"),
        ("serving.kserve.io/s3-endpoint", SERVICE, STANDARD, "on an InferenceService", "a Secret or a ServiceAccount"),
        ("serving.kserve.io/stop", Place.SECRET, None, "on a Secret", "an InferenceService"),
        ("networking.kserve.io/visibility", SERVICE, STANDARD, "has no effect", "as a label"),
    ],
)
def test_annotations_without_effect_say_what_to_use_instead(
    key: str, place: Place, mode: Mode, message: str, hint: str
) -> None:
    """A key that KServe or Knative knows but that does nothing here names what does."""
    (odd,) = odd_keys([key], Kind.ANNOTATION, place, mode)
    assert (odd.key, odd.code) == (key, KEY_WITHOUT_EFFECT)
    assert message in odd.message
    assert hint in odd.help


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("serving.kserve.io/autoscalerclass", "did you mean serving.kserve.io/autoscalerClass?"),
        ("serving.kserve.io/deployment-mode", "did you mean serving.kserve.io/deploymentMode?"),
        ("autoscaling.knative.dev/minscale", "did you mean autoscaling.knative.dev/minScale?"),
        ("serving.kubeflow.org/gke-accelerator", "serving.kserve.io/gke-accelerator"),
        ("serving.kserve.io/rollout-flavour-of-the-month", "remove it"),
    ],
)
def test_unknown_annotations_are_guessed(key: str, hint: str) -> None:
    """A key that nobody reads is compared with those that somebody does."""
    (odd,) = odd_keys([key], Kind.ANNOTATION, SERVICE, STANDARD)
    assert odd.code == UNKNOWN_KEY
    assert hint in odd.help


@pytest.mark.parametrize(
    ("key", "mode", "code"),
    [
        ("networking.kserve.io/visibility", STANDARD, None),
        ("networking.kserve.io/visibility", KNATIVE, KEY_WITHOUT_EFFECT),
        ("networking.knative.dev/visibility", KNATIVE, None),
        ("networking.knative.dev/visibility", STANDARD, KEY_WITHOUT_EFFECT),
        ("serving.kserve.io/inferenceservice", STANDARD, KEY_WITHOUT_EFFECT),
        ("networking.kserve.io/visiblity", STANDARD, UNKNOWN_KEY),
        ("team", STANDARD, None),
    ],
)
def test_labels_have_a_table_of_their_own(key: str, mode: Mode, code: object) -> None:
    """The two labels that set a service's visibility count in one mode each; others of the prefixes do nothing."""
    assert [odd.code for odd in odd_keys([key], Kind.LABEL, SERVICE, mode)] == ([code] if code else [])


def test_the_platform_may_name_further_keys() -> None:
    """The annotation that names a storage Secret is called as the platform's configuration calls it."""
    key = "serving.kserve.io/storageSecretName"
    assert not list(odd_keys([key], Kind.ANNOTATION, SERVICE, STANDARD, [key]))
    (odd,) = odd_keys(["serving.kserve.io/storageSecretname"], Kind.ANNOTATION, SERVICE, STANDARD, [key])
    assert odd.help == f"did you mean {key}?"


def test_the_classes_do_not_overlap() -> None:
    """No key both has an effect and has none, and every key stands under a prefix that is looked at."""
    assert not ANNOTATIONS.keys() & USELESS_ANNOTATIONS.keys()
    assert not LABELS.keys() & USELESS_LABELS.keys()
    looked_at = PREFIXES | {"networking.knative.dev"}
    for table in (ANNOTATIONS, USELESS_ANNOTATIONS, LABELS, USELESS_LABELS):
        assert {key.partition("/")[0] for key in table} <= looked_at


@pytest.mark.parametrize(
    ("key", "good", "bad"),
    [
        ("serving.kserve.io/stop", ("true", "TRUE", "false", ""), ("yes", "1")),
        ("serving.kserve.io/enable-tag-routing", ("true", "false"), ("True", "on")),
        ("storage.kserve.io/readonly", ("false", "true"), ("False", "0")),
        ("serving.kserve.io/disable-localmodel", ("true", "True"), ("false", "")),
        ("example.com/stop", ("yes",), ()),
    ],
)
def test_switches(key, good, bad):
    """A switch is on for the text that KServe compares it with; any other value is reported, and other keys are not."""
    assert not [v for v in good if list(odd_values({key: v}))]
    assert all(list(odd_values({key: v})) for v in bad)


def test_values_that_are_no_text():
    """What the schema refuses anyway is left to it."""
    assert not list(odd_values({"serving.kserve.io/stop": True}))
