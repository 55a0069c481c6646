"""Models that are mounted: claims, copies on the nodes, names of volumes, and paths that are taken."""

from __future__ import annotations

import pytest

from kservec.core.pods.mounts import common_parent, parent_directory, volume_name

READ_ONLY = "storage.kserve.io/readonly"


def entries(*pairs):
    """A predictor with storageUris: URI and path of each."""
    uris = [{"uri": uri, "mountPath": path} for uri, path in pairs]
    return {"model": {"modelFormat": {"name": "sklearn"}}, "storageUris": uris}


@pytest.mark.parametrize(
    ("uri", "claim", "sub_path"),
    [
        ("pvc://weights", "weights", None),
        ("pvc://weights/", "weights", None),
        ("pvc://weights/churn/v3", "weights", "churn/v3"),
        ("pvc://weights//churn", "weights", "churn"),
    ],
)
def test_a_claim_is_mounted(attach, uri, claim, sub_path):
    """A claim becomes a volume and one read-only mount, at the path inside it, and nothing is downloaded."""
    result = attach(uri)
    mount = {"name": "kserve-pvc-source", "mountPath": "/mnt/models", "readOnly": True}
    assert result.server["volumeMounts"] == [mount | ({"subPath": sub_path} if sub_path else {})]
    assert result.pod["volumes"] == [{"name": "kserve-pvc-source", "persistentVolumeClaim": {"claimName": claim}}]
    assert "initContainers" not in result.pod


def test_a_writable_claim(attach):
    """The annotation readonly: "false" makes the mount writable."""
    made = attach("pvc://weights", metadata={"annotations": {READ_ONLY: "false"}})
    assert made.server["volumeMounts"] == [{"name": "kserve-pvc-source", "mountPath": "/mnt/models"}]


@pytest.mark.parametrize(
    ("path", "warned"), [("iris/model.joblib", True), ("model.onnx/", True), ("v1.2", False), (".cache", False)]
)
def test_a_file_in_a_claim(attach, path, warned):
    """A path that ends like a file's name is mounted, with a warning."""
    assert attach(f"pvc://weights/{path}").slugs == (["storage/file-mounted"] if warned else [])


def test_a_transformer_beside_the_server_sees_the_model(attach):
    """The collocated transformer has the same mount, and other sidecars have none."""
    sidecars = [{"name": "transformer-container"}, {"name": "log"}]
    model = {"modelFormat": {"name": "sklearn"}, "storageUri": "pvc://weights"}
    result = attach({"model": model, "containers": sidecars})
    assert ["volumeMounts" in c for c in result.pod["containers"]] == [True, True, False]


def test_workers_see_the_model(attach):
    """The pods of workers get the model too, in the container of their own name."""
    result = attach("pvc://weights/m", worker=True)
    assert result.worker is not None
    (container,) = result.worker["containers"]
    assert container["volumeMounts"][0]["subPath"] == "m"
    assert result.worker["volumes"] == result.pod["volumes"]


def test_a_pod_without_a_server(attach):
    """A pod with no container of the expected name is refused, with the names it has."""
    (found,) = attach({"model": {"storageUri": "pvc://w"}}, server={"name": "other"}).diagnostics
    assert found.code.slug == "storage/no-reader"
    assert "other" in found.message


def test_a_path_that_is_taken(attach):
    """A volume of the user's at the model's path is an error that points at both; KServe makes an invalid pod."""
    server = {"volumeMounts": [{"name": "mine", "mountPath": "/mnt/models"}]}
    (found,) = attach("s3://b/m", server=server).diagnostics
    assert found.code.slug == "storage/path-taken"
    assert "mine" in found.message


def test_a_mount_of_the_same_volume_stays(attach):
    """A container that mounts the volume already, wherever, is left alone; so is a volume of that name."""
    server = {"volumeMounts": [{"name": "kserve-pvc-source", "mountPath": "/elsewhere"}]}
    result = attach("pvc://weights", server=server)
    assert result.server["volumeMounts"] == server["volumeMounts"]


def test_claims_of_a_list(attach):
    """Each claim of storageUris is mounted at its own path, at the path inside it, from a volume named after it."""
    result = attach(entries(("pvc://weights/churn", "/mnt/a/b"), ("pvc://more", "/mnt/c")))
    assert result.server["volumeMounts"] == [
        {"name": "mnt-a-b", "mountPath": "/mnt/a/b", "subPath": "churn", "readOnly": True},
        {"name": "mnt-c", "mountPath": "/mnt/c", "readOnly": True},
    ]
    assert [v["persistentVolumeClaim"]["claimName"] for v in result.pod["volumes"]] == ["weights", "more"]


@pytest.mark.parametrize(
    ("first", "second", "slug"),
    [
        ("pvc://a", "pvc://b", "storage/claims-share-path"),
        ("s3://a/m", "pvc://b", "storage/claims-share-path"),
        ("oci+native://a/m", "oci+native://b/m", "storage/images-share-path"),
        ("s3://a/m", "oci://b/m", "storage/images-share-path"),
    ],
)
def test_two_models_at_one_path(attach, first, second, slug):
    """A list that would hide one model behind another is refused."""
    assert attach(entries((first, "/mnt/p"), (second, "/mnt/p"))).slugs == [slug]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/mnt/models", "mnt-models"),
        ("/mnt/a/b/", "mnt-a-b"),
        ("/", "models"),
        ("/mnt/My_Models", "mnt-my-models-782ed8e6"),
        ("/mnt/my.models", "mnt-my-models-788527ff"),
        ("/" + "a" * 80, "a" * 54 + "-585db4ff"),
    ],
)
def test_names_of_volumes(path, name):
    """A volume is named after its path; paths that make no valid name get a digest, so that none share a name."""
    assert volume_name(path, "models") == name
    assert len(name) <= 63


@pytest.mark.parametrize(
    ("paths", "parent"),
    [
        (("/mnt/a",), "/mnt/a"),
        (("/mnt/a/",), "/mnt/a/"),
        (("/mnt/m/a", "/mnt/m/b/c"), "/mnt/m"),
        (("/mnt/a", "/mnt/a/b"), "/mnt/a"),
        (("/mnt/a", "/mnt/ab"), "/mnt"),
        (("/a", "/b"), "/"),
        (("/mnt/models", "/mnt/models"), "/mnt/models"),
    ],
)
def test_common_parents(paths, parent):
    """Paths are compared step by step; one path is its own parent."""
    assert common_parent(paths) == parent


@pytest.mark.parametrize(("path", "parent"), [("/mnt/models", "/mnt"), ("/m", "/"), ("/a//b/", "/a/b"), ("c.crt", ".")])
def test_parent_directories(path, parent):
    """The directory is what Go's filepath.Dir makes of the path."""
    assert parent_directory(path) == parent


CACHE = "internal.serving.kserve.io/localmodel"
KEY = "63b482a04b582949"


@pytest.mark.parametrize(
    ("uri", "source", "sub_path"),
    [
        ("s3://acme-models/churn/v3", "s3://acme-models/churn", f"models/{KEY}/v3"),
        ("s3://acme-models/churn", "s3://acme-models/churn", f"models/{KEY}/"),
        ("s3://acme-models/churn/", "s3://acme-models/churn", f"models/{KEY}/"),
        ("s3://acme-models/churn", "s3://acme-models/churn/", "models/b823ca9b0ad637e6/"),
    ],
)
def test_a_copy_on_the_nodes(attach, uri, source, sub_path):
    """A model that a cache holds is read from the cache's claim, wherever the slash stands."""
    annotations = {f"{CACHE}-sourceuri": source, f"{CACHE}-pvc-name": "cache-gpu"}
    result = attach(uri, metadata={"labels": {CACHE: "cache"}, "annotations": annotations})
    assert result.server["volumeMounts"][0]["subPath"] == sub_path
    assert result.pod["volumes"][0]["persistentVolumeClaim"] == {"claimName": "cache-gpu"}


def test_a_model_outside_the_cache(attach):
    """A model that the service's cache does not hold is downloaded; KServe makes a path of its whole URI."""
    annotations = {f"{CACHE}-sourceuri": "s3://other", f"{CACHE}-pvc-name": "cache-gpu"}
    result = attach("s3://acme/churn", metadata={"labels": {CACHE: "cache"}, "annotations": annotations})
    assert result.initializer["args"] == ["s3://acme/churn", "/mnt/models"]


def test_a_cache_named_by_hand(attach):
    """A label without the annotation that names the claim is refused, as in KServe."""
    assert attach("s3://acme/churn", metadata={"labels": {CACHE: "forged"}}).slugs == ["storage/cache-without-claim"]
