"""The Knative service of a component: metadata, what stands in its revisions, and what is left out of them."""

from __future__ import annotations

import pytest

KPA = "kpa.autoscaling.knative.dev"
SWITCHES = {
    "serving.kserve.io/enable-metric-aggregation": "",
    "serving.kserve.io/enable-prometheus-scraping": "",
}


def test_a_whole_service(knative, predictor):
    """All that a predictor which says nothing becomes, defaults written out."""
    outcome = knative(predictor())
    labels = {"component": "predictor", "serving.kserve.io/inferenceservice": "churn"}
    annotations = {"autoscaling.knative.dev/class": KPA, "autoscaling.knative.dev/min-scale": "1", **SWITCHES}
    (server,) = outcome.template()["spec"]["containers"]
    assert outcome.service() == {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": "churn-predictor", "namespace": "ml", "labels": labels},
        "spec": {
            "template": {
                "metadata": {"labels": labels, "annotations": annotations},
                "spec": {
                    "containers": [server],
                    "containerConcurrency": 0,
                    "enableServiceLinks": False,
                    "timeoutSeconds": 300,
                },
            },
            "traffic": [{"latestRevision": True, "percent": 100}],
        },
    }
    assert outcome.slugs == []


def test_no_service_of_the_core_group_for_a_component(knative, predictor):
    """Knative makes the Services of a component; only the InferenceService's own name is one of ours."""
    assert sorted(knative(predictor()).objects) == [
        ("", "churn"),
        ("networking.istio.io", "churn"),
        ("serving.knative.dev", "churn-predictor"),
    ]


def test_every_component_has_a_service(knative, predictor):
    """A transformer and an explainer are Knative services of their own."""
    other = predictor()["predictor"]
    outcome = knative({**predictor(), "transformer": other, "explainer": other})
    names = sorted(name for group, name in outcome.objects if group == "serving.knative.dev")
    assert names == ["churn-explainer", "churn-predictor", "churn-transformer"]


def test_a_stopped_service_has_nothing(knative, predictor):
    """The annotation stop leaves no object."""
    outcome = knative(predictor(), metadata={"annotations": {"serving.kserve.io/stop": "true"}})
    assert (outcome.objects, outcome.compilation.ok) == ({}, True)


def test_annotations_of_the_service_itself(knative, predictor):
    """Two annotations count on the service and not on its revisions; all others are the revisions'."""
    moved = {"serving.knative.dev/rollout-duration": "90s", "serving.knative.openshift.io/enablePassthrough": "true"}
    outcome = knative(predictor(), metadata={"annotations": {**moved, "team": "risk"}})
    kept = outcome.template()["metadata"]["annotations"]
    assert outcome.service()["metadata"]["annotations"] == moved
    assert kept["team"] == "risk"
    assert not moved.keys() & kept.keys()


def test_labels_that_are_kept_from_revisions(knative, predictor):
    """The visibility label stands on the service and not on its revisions."""
    labels = {"networking.knative.dev/visibility": "cluster-local", "team": "risk"}
    outcome = knative(predictor(), metadata={"labels": labels})
    assert labels.items() <= outcome.service()["metadata"]["labels"].items()
    assert outcome.template()["metadata"]["labels"] == {
        "component": "predictor",
        "serving.kserve.io/inferenceservice": "churn",
        "team": "risk",
    }


def test_own_annotations_stay_inside(knative, predictor):
    """Annotations that speak to the compiler are on no object."""
    outcome = knative(predictor(), metadata={"annotations": {"kservec.dev/stable-revision": "churn-predictor-a"}})
    assert "kservec.dev" not in outcome.compilation.yaml


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"timeout": 60}, {"timeoutSeconds": 60, "responseStartTimeoutSeconds": 60}),
        ({"containerConcurrency": 7}, {"containerConcurrency": 7}),
    ],
)
def test_fields_of_the_revision(knative, predictor, fields, expected):
    """Timeout and concurrency of a component stand in its revisions."""
    spec = knative(predictor(**fields)).template()["spec"]
    assert expected.items() <= spec.items()


@pytest.mark.parametrize(
    ("fields", "field", "word"),
    [
        ({"terminationGracePeriodSeconds": 60}, "terminationGracePeriodSeconds", "timeout"),
        ({"nodeName": "n1"}, "nodeName", "nodeSelector"),
        ({"serviceAccount": "reader"}, "serviceAccount", "serviceAccountName"),
        ({"automountServiceAccountToken": True}, "automountServiceAccountToken", "ServiceAccount"),
        ({"hostname": "a"}, "hostname", "Standard mode"),
        ({"server": {"tty": True}}, "tty", "Standard mode"),
        ({"server": {"lifecycle": {"preStop": {"exec": {"command": ["true"]}}}}}, "lifecycle", "hook"),
    ],
)
def test_fields_that_knative_does_not_have(knative, predictor, fields, field, word):
    """A field that the schema of Knative services lacks is left out, and named at the place where it is written."""
    outcome = knative(predictor(**fields))
    found = outcome.find("knative/field-dropped")
    assert f"{field}: " not in outcome.compilation.yaml
    assert field in found.message
    assert word in found.help
    assert found.span.file == "churn.yaml"
    assert found.span.line > 1


def test_a_token_that_is_not_mounted(knative, predictor):
    """The value false is one that Knative takes."""
    outcome = knative(predictor(automountServiceAccountToken=False))
    assert outcome.template()["spec"]["automountServiceAccountToken"] is False
    assert outcome.slugs == []


def test_tags(knative, predictor):
    """With tag routing the latest revision has a host name of its own."""
    outcome = knative(predictor(), metadata={"annotations": {"serving.kserve.io/enable-tag-routing": "true"}})
    assert outcome.service()["spec"]["traffic"] == [{"latestRevision": True, "percent": 100, "tag": "latest"}]


def test_a_download_stands_in_the_revision(knative, predictor):
    """The storage initializer, which KServe adds to running pods, is part of the template."""
    server = {"env": [{"name": "STORAGE_URI", "value": "s3://models/churn"}]}
    spec = knative(predictor(server=server)).template()["spec"]
    assert [c["name"] for c in spec["initContainers"]] == ["storage-initializer"]
    assert spec["volumes"] == [{"name": "kserve-provision-location", "emptyDir": {}}]
