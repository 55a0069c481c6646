"""What KServe's mutating webhook writes into an InferenceService."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.models.local_models import LocalCache
from kservec.core.records import evolve
from kservec.core.text.document import Document
from kservec.core.text.source import parse
from kservec.core.unit import Source
from kservec.spec.localmodel import LocalModelCacheSpec

TABLE = "defaulting.yaml"
HELD = LocalModelCacheSpec(source_model_uri="s3://models/churn/", model_size="1Gi", node_groups=["a10", "h100"])
CACHE = LocalCache(name="big", namespace="", spec=HELD, document=Document("caches.yaml", {}))
OWN_CACHE = evolve(CACHE, name="own", namespace="ml")
ENABLED = {"platform": {"localModel": {"enabled": True}}}
PREFIX = "internal.serving.kserve.io/localmodel"


def test_defaulted_value(row, admit) -> None:
    """Each document of the table comes out with the annotations and the spec that stand beside it."""
    value = admit(row.given, row.settings).admitted.value
    assert value["metadata"].get("annotations", {}) == row.expected["annotations"]
    assert value["spec"] == row.expected["spec"]


def test_defaulting_changes_no_argument(row, admit) -> None:
    """The user's document is the same after admission as it was written."""
    result = admit(row.given, row.settings)
    (again,), _ = parse(result.text.encode(), "isvc.yaml")
    assert result.document.value == again.value


def test_a_converted_framework_still_points_at_the_users_text(admit) -> None:
    """Findings about `predictor.model` lead to the framework that the user wrote."""
    result = admit("spec:\n  predictor:\n    sklearn:\n      storageUri: s3://a\n")
    moved = result.admitted.source.moved
    assert moved == {("spec", "predictor", "model"): ("spec", "predictor", "sklearn")}
    source = Source(document=result.document, moved=moved)
    path = ("spec", "predictor", "model", "storageUri")
    assert source.written(path) == ("spec", "predictor", "sklearn", "storageUri")


@pytest.mark.parametrize(
    ("uri", "caches", "annotations", "name", "claim"),
    [
        ("s3://models/churn", (CACHE,), "", "big", "big-a10"),
        ("s3://models/churn/v3", (CACHE,), "", "big", "big-a10"),
        ("s3://models/churn", (CACHE, OWN_CACHE), "", "own", "own-a10"),
        ("s3://models/churn", (CACHE,), "serving.kserve.io/nodegroup: h100", "big", "big-h100"),
    ],
    ids=["equal but for a slash", "below the cached folder", "the namespace's own first", "the node group asked for"],
)
def test_a_cached_model_is_labelled(  # noqa: PLR0913, PLR0917 - a row of the table
    admit, uri: str, caches: tuple[Any, ...], annotations: str, name: str, claim: str
) -> None:
    """A service whose model a local cache holds gets the cache's labels and annotations."""
    given = f"metadata: {{name: churn, namespace: ml, annotations: {{{annotations}}}}}\n"
    given += f"spec: {{predictor: {{sklearn: {{storageUri: '{uri}'}}}}}}\n"
    metadata = admit(given, ENABLED, caches).admitted.value["metadata"]
    assert metadata["labels"][PREFIX] == name
    assert metadata["annotations"][f"{PREFIX}-pvc-name"] == claim
    assert metadata["annotations"][f"{PREFIX}-sourceuri"] == "s3://models/churn/"
    assert (f"{PREFIX}-namespace" in metadata["labels"]) is (name == "own")


@pytest.mark.parametrize(
    ("uri", "annotations", "settings"),
    [
        ("s3://models/churn2", "", ENABLED),
        ("s3://models/churn", "serving.kserve.io/disable-localmodel: 'false'", ENABLED),
        ("s3://models/churn", "serving.kserve.io/nodegroup: l4", ENABLED),
        ("s3://models/churn", "", {}),
    ],
    ids=["another model", "disabled for the service", "not on that node group", "disabled for the platform"],
)
def test_a_model_in_no_cache_loses_hand_written_keys(admit, uri: str, annotations: str, settings: Any) -> None:
    """Without a cache that holds the model, labels of local models go away, and no others."""
    labels = f"{{{PREFIX}: x, team: a}}"
    given = f"metadata: {{name: churn, namespace: ml, labels: {labels}, annotations: {{{annotations}}}}}\n"
    given += f"spec: {{predictor: {{sklearn: {{storageUri: '{uri}'}}}}}}\n"
    assert admit(given, settings, (CACHE,)).admitted.value["metadata"]["labels"] == {"team": "a"}


def test_without_a_storage_uri_local_model_keys_stay(admit) -> None:
    """KServe looks at caches only where the model has a storageUri."""
    given = f"metadata: {{name: churn, labels: {{{PREFIX}: x}}}}\nspec: {{predictor: {{sklearn: {{}}}}}}\n"
    assert admit(given, ENABLED, (CACHE,)).admitted.value["metadata"]["labels"] == {PREFIX: "x"}
