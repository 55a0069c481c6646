"""What KServe's mutating webhook writes into a service."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.admission.llm.defaulting import default_llminferenceservice
from kservec.core.models.local_models import LocalCache
from kservec.core.text.document import Document
from kservec.spec.localmodel import LocalModelCacheSpec

from .judging import SERVICE, platform_of

ENABLED = {"localModel": {"enabled": True}}
LABEL = "internal.serving.kserve.io/localmodel"
NAMESPACE = f"{LABEL}-namespace"
SOURCE, CLAIM = f"{LABEL}-sourceuri", f"{LABEL}-pvc-name"


def cache(name: str, uri: str, *groups: str, namespace: str = "") -> LocalCache:
    """A cache of a model."""
    spec = LocalModelCacheSpec.read({"sourceModelUri": uri, "modelSize": "1Gi", "nodeGroups": list(groups)})
    return LocalCache(name=name, namespace=namespace, spec=spec, document=Document("cache.yaml", {}))


CACHES = (cache("all", "hf://acme/chat", "small", "large"), cache("own", "hf://acme/chat", "large", namespace="ml"))


def defaulted(spec: Any, caches: Any = (), sections: Any = None, **metadata: Any) -> Any:
    """A service after defaulting."""
    value = {
        "apiVersion": "serving.kserve.io/v1alpha2",
        "kind": SERVICE,
        "metadata": {"name": "chat", "namespace": "ml", **metadata},
        "spec": spec,
    }
    return default_llminferenceservice(value, platform_of(**(sections or {})), caches)


@pytest.mark.parametrize(
    ("model", "name"), [({"uri": "hf://a/b"}, "chat"), ({"name": ""}, "chat"), ({"name": "own"}, "own"), (None, "chat")]
)
def test_a_model_has_a_name(model: Any, name: str) -> None:
    """It is that of the service, unless it has its own."""
    spec = {} if model is None else {"model": model}
    assert defaulted(spec)["spec"]["model"]["name"] == name


def test_pods_have_containers() -> None:
    """All but the tokenizer's."""
    spec = {
        "template": {},
        "worker": {"containers": None},
        "prefill": {"template": {"containers": [{"name": "main"}]}, "worker": {}},
        "router": {"scheduler": {"template": {}, "tokenizer": {"template": {}}}},
    }
    found = defaulted(spec)["spec"]
    assert found["template"] == {"containers": []}
    assert found["worker"] == {"containers": []}
    assert found["prefill"] == {"template": {"containers": [{"name": "main"}]}, "worker": {"containers": []}}
    assert found["router"] == {"scheduler": {"template": {"containers": []}, "tokenizer": {"template": {}}}}
    assert spec["template"] == {}


@pytest.mark.parametrize(
    ("spec", "labels", "expected"),
    [
        ({"router": {"route": {"group": "blue"}}}, None, {"serving.kserve.io/routing-group": "blue"}),
        ({}, {"serving.kserve.io/routing-group": "blue", "team": "ml"}, {"team": "ml"}),
        ({"router": {"route": {"group": "a"}}}, {"serving.kserve.io/routing-group": "b"},
         {"serving.kserve.io/routing-group": "a"}),
    ],
)  # fmt: skip
def test_the_label_of_a_group(spec: Any, labels: Any, expected: Any) -> None:
    """It says of which group the service is, whatever the user wrote."""
    metadata = {} if labels is None else {"labels": labels}
    assert defaulted(spec, **metadata)["metadata"]["labels"] == expected


def test_metadata_without_a_group_stays() -> None:
    """Nothing is written where there is nothing to say."""
    assert defaulted({"model": {"uri": "hf://a/b"}})["metadata"] == {"name": "chat", "namespace": "ml"}


@pytest.mark.parametrize(
    ("uri", "group", "name", "claim"),
    [
        ("hf://acme/chat", None, "own", "own-large"),
        ("hf://acme/chat/sub", "large", "own", "own-large"),
        ("hf://acme/chat", "small", "all", "all-small"),
    ],
)
def test_a_cached_model(uri: str, group: str | None, name: str, claim: str) -> None:
    """The namespace's cache comes first, unless its nodes are not those that the service asks for."""
    annotations = {} if group is None else {"annotations": {"serving.kserve.io/nodegroup": group}}
    metadata = defaulted({"model": {"uri": uri}}, CACHES, ENABLED, **annotations)["metadata"]
    assert metadata["labels"][LABEL] == name
    assert metadata["labels"].get(NAMESPACE) == ("ml" if name == "own" else None)
    assert metadata["annotations"][SOURCE] == "hf://acme/chat"
    assert metadata["annotations"][CLAIM] == claim


@pytest.mark.parametrize(
    ("uri", "sections", "annotations"),
    [
        ("hf://acme/chatty", ENABLED, {}),
        ("hf://acme/chat", {}, {}),
        ("hf://acme/chat", ENABLED, {"serving.kserve.io/disable-localmodel": "false"}),
        ("hf://acme/chat", ENABLED, {"serving.kserve.io/nodegroup": "other"}),
    ],
)
def test_a_model_that_is_not_cached(uri: str, sections: Any, annotations: Any) -> None:
    """What was written by hand is removed."""
    labels = {LABEL: "all", "team": "ml"}
    found = defaulted({"model": {"uri": uri}}, CACHES, sections, labels=labels, annotations=annotations)["metadata"]
    assert found["labels"] == {"team": "ml"}
    assert found["annotations"] == annotations


def test_a_model_of_a_base_config() -> None:
    """Its URI is not known yet, so that nothing is touched."""
    labels = {LABEL: "all"}
    assert defaulted({"model": {"name": "x"}}, CACHES, ENABLED, labels=labels)["metadata"]["labels"] == labels
