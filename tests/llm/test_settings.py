"""KServe's configuration, as LLMInferenceServices need it."""

from __future__ import annotations

from typing import Any

import pytest

from .services import built, ingress, llm, made, router, rules, slugs

WVA = "autoscaling-wva-controller-config"
HEADER = "X-Gateway-Model-Name"


def section(key: str, text: str) -> dict[str, Any]:
    """KServe's configuration with one section."""
    found = ingress()
    return {**found, "data": {**found["data"], key: text}}


@pytest.mark.parametrize("key", ["ingress", "storageInitializer", "credentials", "scheduler", WVA, "localModel"])
def test_a_section_that_is_no_json_is_told(key: str) -> None:
    """KServe reads all of them before it looks at a service, whether it needs them or not."""
    assert slugs(built(llm(), section(key, '{"a"'))) == ["platform/configuration"]


def test_local_models_are_asked_about_for_every_service() -> None:
    """KServe's webhook reads the section for an InferenceService, too, even where nothing is kept on nodes."""
    container = {"name": "kserve-container", "image": "registry.example.com/server:1"}
    service = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "iris", "namespace": "ml"},
        "spec": {"predictor": {"containers": [container]}},
    }
    assert slugs(built(service, section("localModel", "on"))) == ["platform/configuration"]


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("scheduler", '{"expirationAnnotations": "certs.example.com/expires"}'),
        (WVA, '{"prometheus": {"url": 9090}}'),
        ("localModel", '{"enabled": "true"}'),
    ],
)
def test_a_setting_of_another_type_is_told(key: str, text: str) -> None:
    """The same for a section that Go cannot read into its struct."""
    assert slugs(built(llm(), section(key, text))) == ["platform/configuration"]


@pytest.mark.parametrize(("written", "header"), [("", HEADER), ("X-Model", "X-Model")])
def test_the_header_that_names_the_model(written: str, header: str) -> None:
    """An empty name is none: the default counts."""
    objects = made(llm(router=router()), ingress(modelBasedRoutingHeaderName=written))
    assert rules(objects)["v1-model-routing"]["matches"][0]["headers"][0]["name"] == header
