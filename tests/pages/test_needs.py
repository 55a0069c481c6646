"""What pods need from elsewhere."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.diagnostics import ObjectRef
from kservec.site.needs import Wanted, images_of, uris_in, wanted_by

REF = ObjectRef("apps/v1", "Deployment", "ml", "a")


def deployment(**spec: Any) -> list[tuple[ObjectRef, Any]]:
    """A Deployment whose pods have a spec."""
    return [(REF, {"spec": {"template": {"spec": {"containers": [], **spec}}}})]


def container(**fields: Any) -> dict[str, Any]:
    """The only container of a pod."""
    return {"containers": [{"name": "main", **fields}]}


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"serviceAccountName": "reader"}, ("ServiceAccount", "reader", False)),
        ({"imagePullSecrets": [{"name": "pull"}]}, ("Secret", "pull", False)),
        ({"volumes": [{"name": "v", "secret": {"secretName": "tls", "optional": True}}]}, ("Secret", "tls", True)),
        ({"volumes": [{"name": "v", "configMap": {"name": "conf"}}]}, ("ConfigMap", "conf", False)),
        (
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "models"}}]},
            ("PersistentVolumeClaim", "models", False),
        ),
        (
            {"volumes": [{"name": "v", "projected": {"sources": [{"secret": {"name": "p"}}]}}]},
            ("Secret", "p", False),
        ),
        ({"volumes": [{"name": "v", "csi": {"nodePublishSecretRef": {"name": "n"}}}]}, ("Secret", "n", False)),
        (container(envFrom=[{"configMapRef": {"name": "all", "optional": True}}]), ("ConfigMap", "all", True)),
        (
            container(env=[{"name": "T", "valueFrom": {"secretKeyRef": {"name": "hub", "key": "t"}}}]),
            ("Secret", "hub", False),
        ),
    ],
)
def test_what_a_pod_names_is_found(spec: dict[str, Any], wanted: tuple[str, str, bool]) -> None:
    """Every place in which a pod can name a Secret, an account, a ConfigMap or a claim."""
    kind, name, optional = wanted
    assert wanted_by(deployment(**spec)) == (Wanted(kind, "ml", name, optional),)


def test_needed_once_is_needed() -> None:
    """A Secret that one container can do without and another cannot is not optional."""
    key = {"name": "hub", "key": "t"}
    env = [
        {"name": "A", "valueFrom": {"secretKeyRef": {**key, "optional": True}}},
        {"name": "B", "valueFrom": {"secretKeyRef": key}},
    ]
    assert wanted_by(deployment(**container(env=env))) == (Wanted("Secret", "ml", "hub"),)


def test_the_account_that_each_namespace_has_is_not_told() -> None:
    """The default ServiceAccount is always there."""
    assert wanted_by(deployment(serviceAccountName="default")) == ()


def test_images_are_those_of_all_containers_and_volumes() -> None:
    """Init containers and volumes that are images count, each image once."""
    spec = {
        "containers": [{"name": "a", "image": "one:1"}, {"name": "b", "image": "one:1"}],
        "initContainers": [{"name": "c", "image": "two:2"}],
        "volumes": [{"name": "v", "image": {"reference": "three:3"}}],
    }
    assert images_of(deployment(**spec)) == ("one:1", "three:3", "two:2")


@pytest.mark.parametrize(
    ("spec", "uris"),
    [
        ({"predictor": {"model": {"storageUri": "s3://a"}}}, ["s3://a"]),
        ({"predictor": {"model": {"storageUris": [{"uri": "s3://a"}, {"uri": "s3://b"}]}}}, ["s3://a", "s3://b"]),
        ({"predictor": {"model": {"storage": {"key": "k", "path": "p"}}}}, ["k:p"]),
        ({"model": {"uri": "hf://a/b", "lora": {"adapters": [{"uri": "s3://c"}]}}}, ["s3://c", "hf://a/b"]),
        ({"sourceModelUri": "s3://a"}, ["s3://a"]),
        ({"predictor": {"logger": {"url": "http://a", "uri": "no"}}}, []),
        (None, []),
    ],
)
def test_models_are_found_by_their_uris(spec: Any, uris: list[str]) -> None:
    """Every field by which a spec names a model, and no other."""
    assert list(uris_in(spec)) == uris
