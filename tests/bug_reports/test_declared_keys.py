"""References to keys of Secrets and ConfigMaps, held against what is declared."""

from __future__ import annotations

from typing import Any

import pytest
from tests import libyaml

from .making import SERVER, built, model, runtime, service

SLUG = "pod/key-missing"
DECLARED: dict[str, Any] = {
    "secrets": [
        {"namespace": "ml", "name": "db", "keys": ["user", "password"]},
        {"namespace": "ml", "name": "empty"},
        {"namespace": "ml", "name": "pull", "keys": [".dockerconfigjson"]},
        {"namespace": "ml", "name": "old-pull", "keys": [".dockercfg"]},
        {"namespace": "other", "name": "elsewhere", "keys": ["a"]},
    ],
    "configMaps": [{"namespace": "ml", "name": "rules", "data": {"mode": "fast"}}],
}


def variable(field: str, name: str, key: str, **more: Any) -> dict[str, Any]:
    """A variable that a key gives its value."""
    return {"name": "A", "valueFrom": {field: {"name": name, "key": key, **more}}}


def volume(**source: Any) -> dict[str, Any]:
    """A predictor with a volume of one source, which its server mounts."""
    mounts = [{"name": "v", "mountPath": "/v", "readOnly": True}]
    return model(model={"volumeMounts": mounts}, volumes=[{"name": "v", **source}])


def messages(*documents: dict[str, Any], **declared: Any) -> list[str]:
    """What is said of missing keys."""
    result = built(*documents, **(declared or DECLARED))
    assert result.ok, [d.message for d in result.diagnostics]
    return [d.message for d in result.diagnostics if d.code.slug == SLUG]


@pytest.mark.parametrize(
    ("predictor", "said"),
    [
        (
            model(model={"env": [variable("secretKeyRef", "db", "token")]}),
            f"Secret ml/db has no key token, which A of container {SERVER} refers to",
        ),
        (
            model(model={"env": [variable("configMapKeyRef", "rules", "token")]}),
            f"ConfigMap ml/rules has no key token, which A of container {SERVER} refers to",
        ),
        (
            model(
                initContainers=[
                    {"name": "warm", "image": "example.com/a:1", "env": [variable("secretKeyRef", "db", "a")]}
                ]
            ),
            "Secret ml/db has no key a, which A of container warm refers to",
        ),
        (
            volume(secret={"secretName": "db", "items": [{"key": "user", "path": "a"}, {"key": "b", "path": "b"}]}),
            "Secret ml/db has no key b, which volume v refers to",
        ),
        (
            volume(configMap={"name": "rules", "items": [{"key": "b", "path": "b"}]}),
            "ConfigMap ml/rules has no key b, which volume v refers to",
        ),
        (
            volume(projected={"sources": [{"secret": {"name": "db", "items": [{"key": "b", "path": "b"}]}}]}),
            "Secret ml/db has no key b, which volume v refers to",
        ),
        (
            model(imagePullSecrets=[{"name": "db"}]),
            "Secret ml/db has no key .dockerconfigjson or .dockercfg, which the pull of images refers to",
        ),
    ],
)
@pytest.mark.parametrize("mode", ["Standard", "Knative"])
def test_a_key_that_is_not_there(predictor: dict[str, Any], said: str, mode: str) -> None:
    """It is found wherever a pod refers to it, in Deployments and in services of Knative."""
    assert messages(service(predictor, mode=mode)) == [said]


@pytest.mark.parametrize(
    "predictor",
    [
        model(
            model={"env": [variable("secretKeyRef", "db", "user"), {"name": "B", "value": "b"}]},
            imagePullSecrets=[{"name": "pull"}, {"name": "old-pull"}, {"name": "unknown"}],
        ),
        model(model={"env": [variable("secretKeyRef", "db", "token", optional=True)]}),
        model(model={"env": [variable("secretKeyRef", "empty", "token")]}),
        model(model={"env": [variable("secretKeyRef", "elsewhere", "token")]}),
        model(model={"env": [variable("configMapKeyRef", "rules", "mode")]}),
        model(model={"envFrom": [{"secretRef": {"name": "db"}}]}),
        volume(secret={"secretName": "db"}),
        volume(secret={"secretName": "db", "optional": True, "items": [{"key": "b", "path": "b"}]}),
        volume(csi={"driver": "d", "nodePublishSecretRef": {"name": "db"}}),
    ],
)
def test_what_nothing_is_said_of(predictor: dict[str, Any]) -> None:
    """Keys that are there, or may be absent; objects that are not declared with their keys; references to no key."""
    assert messages(service(predictor)) == []


def test_a_runtime_is_answered_in_its_own_file() -> None:
    """What a runtime refers to is shown there, once for all that is made of it."""
    server = runtime(env=[variable("secretKeyRef", "db", "pasword")])
    canary = {"trafficPercent": 10, "predictor": {"name": "v2", "model": {"name": SERVER, **model()["model"]}}}
    result = built(server, service(model(), canary=[canary]), **DECLARED)
    (said,) = [d for d in result.diagnostics if d.code.slug == SLUG]
    assert said.help == "did you mean password?"
    assert said.span is not None
    assert said.span.line <= len(libyaml.dump(server).splitlines())


def test_credentials_are_judged_once() -> None:
    """A Secret for downloads that lacks a key has a finding of its own."""
    azure = {"namespace": "ml", "name": "azure", "keys": ["AZURE_CLIENT_ID"]}
    account = {"namespace": "ml", "name": "reader", "secrets": ["azure"]}
    predictor = model(uri="https://acme.blob.core.windows.net/c/m", serviceAccountName="reader")
    result = built(service(predictor), secrets=[azure], serviceAccounts=[account])
    assert [d.code.slug for d in result.diagnostics] == ["secret/key-missing"]
