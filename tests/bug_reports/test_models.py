"""Models: claims, downloads, images and copies on nodes, and the credentials for them."""

from __future__ import annotations

from typing import Any

import pytest

from .making import CONTAINER, GROUP, POD, SERVER, built, deployment, dig, found, made, model, service


def several(*uris: tuple[str, str]) -> dict[str, Any]:
    """A predictor with several models at paths."""
    return model(uri=None, storageUris=[{"uri": uri, "mountPath": path} for uri, path in uris])


def test_models_of_several_kinds() -> None:
    """A claim with its path, a download and an image come together, and every mount has its volume."""
    uris = (("pvc://store/nlp/base", "/mnt/models/base"), ("s3://models/adapter", "/mnt/models/adapter"))
    result = built(service(several(*uris, ("oci://registry.example.com/vocab:1.1", "/opt/vocab"))))
    pod = deployment(result, *POD)
    mounts = {m["mountPath"]: m for m in dig(pod, ("containers", SERVER, "volumeMounts"))}
    assert mounts["/mnt/models/base"]["subPath"] == "nlp/base"
    assert mounts["/mnt/models/base"]["readOnly"] is True
    assert dig(pod, ("initContainers", "storage-initializer", "args")) == ["s3://models/adapter", "/mnt/models/adapter"]
    assert dig(pod, ("initContainers", "storage-initializer", "volumeMounts", "/mnt/models/adapter"))
    assert dig(pod, ("containers", "modelcar", "image")) == "registry.example.com/vocab:1.1"
    assert pod["shareProcessNamespace"] is True
    assert {"name": "MODEL_INIT_MODE", "value": "async"} in dig(pod, ("containers", SERVER, "env"))
    named = {m["name"] for c in (*pod["containers"], *pod["initContainers"]) for m in c.get("volumeMounts", ())}
    assert named == {v["name"] for v in pod["volumes"]}


@pytest.mark.parametrize(
    ("uris", "slug"),
    [
        ((("s3://a/a", "/mnt/a"), ("s3://a/b", "/opt/b")), "storage/no-common-parent"),
        ((("oci://r/a:1", "/mnt/a"), ("s3://a/a", "/mnt/a")), "storage/images-share-path"),
        ((("oci+native://r/a:1", "/mnt/a"), ("oci+native://r/b:1", "/mnt/a")), "storage/images-share-path"),
        ((("oci://r/a:1", "/mnt/a"), ("oci://r/b:1", "/mnt/b")), "storage/path-taken"),
        (tuple((f"oci://r/a:{i}", f"/m{i}/a") for i in range(11)), "storage/too-many-images"),
    ],
)
def test_models_that_cannot_be_had_together(uris: tuple[tuple[str, str], ...], slug: str) -> None:
    """Models that would hide each other, or that share no folder where they must, are refused."""
    assert found(built(service(several(*uris)))) == [slug]


@pytest.mark.parametrize(
    ("uri", "annotations", "mount"),
    [
        ("pvc://store", {}, {"readOnly": True}),
        ("pvc://store/", {}, {"readOnly": True}),
        ("pvc://store/iris", {}, {"readOnly": True, "subPath": "iris"}),
        ("pvc://store/iris", {"storage.kserve.io/readonly": "false"}, {"subPath": "iris"}),
    ],
)
def test_models_on_claims(uri: str, annotations: dict[str, str], mount: dict[str, Any]) -> None:
    """A claim is mounted whole or in part, read-only unless an annotation says otherwise."""
    result = built(service(model(uri=uri), annotations=annotations))
    (found_mount,) = deployment(result, *CONTAINER, "volumeMounts")
    assert found_mount == {"name": "kserve-pvc-source", "mountPath": "/mnt/models", **mount}
    assert found(result) == []


def test_a_file_in_place_of_a_folder_is_reported() -> None:
    """A path that looks like a file would be mounted over the folder that servers look into."""
    assert found(built(service(model(uri="pvc://store/iris/model.joblib")))) == ["storage/file-mounted"]


S3 = {"endpoint": "minio.storage:9000", "usehttps": "0", "region": "eu-central-1", "verifyssl": "0"}
SET = {
    "S3_ENDPOINT": "minio.storage:9000",
    "AWS_ENDPOINT_URL": "http://minio.storage:9000",
    "S3_USE_HTTPS": "0",
    "AWS_DEFAULT_REGION": "eu-central-1",
    "S3_VERIFY_SSL": "0",
}
PAIR = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
METADATA = {"name": "minio", "namespace": "ml"}
ANNOTATED = {**METADATA, "annotations": {f"{GROUP}/s3-{key}": text for key, text in S3.items()}}
ACCOUNT = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": METADATA, "secrets": [{"name": "minio"}]}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": ANNOTATED, "stringData": dict.fromkeys(PAIR, "hidden")}
SEALED = {
    "apiVersion": "bitnami.com/v1alpha1",
    "kind": "SealedSecret",
    "metadata": METADATA,
    "spec": {"encryptedData": dict.fromkeys(PAIR, "sealed"), "template": {"metadata": ANNOTATED}},
}


@pytest.mark.parametrize(
    ("secret", "slugs"),
    [
        (SECRET, []),
        (SEALED, []),
        ({k: v for k, v in SECRET.items() if k != "stringData"}, ["secret/keys-assumed"]),
    ],
)
def test_settings_of_a_secret_reach_the_download(secret: dict[str, Any], slugs: list[str]) -> None:
    """Keys come by reference and settings in plain text, from a Secret, a sealed one or one declared without keys."""
    result = built(service(model(serviceAccountName="minio")), ACCOUNT, secret)
    env = {e["name"]: e for e in deployment(result, *POD, "initContainers", "storage-initializer", "env")}
    for key in PAIR:
        assert env[key]["valueFrom"]["secretKeyRef"] == {"name": "minio", "key": key}
    assert {name: env[name]["value"] for name in SET} == SET
    assert "hidden" not in result.yaml
    assert found(result) == slugs


def container_for(prefix: str, name: str = "mlflow") -> dict[str, Any]:
    """A ClusterStorageContainer for URIs with a prefix."""
    container = {"name": "storage-initializer", "image": f"{name}:1", "env": [{"name": "SERVER", "value": "http://m"}]}
    spec = {"container": container, "supportedUriFormats": [{"prefix": prefix}]}
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "ClusterStorageContainer",
        "metadata": {"name": name},
        "spec": spec,
    }


def test_a_storage_container_of_ones_own() -> None:
    """There is one download container, with the image, variables and arguments that are due."""
    result = built(service(model(uri="mlflow://churn/7")), container_for("mlflow://"))
    (initializer,) = deployment(result, *POD, "initContainers")
    assert initializer["image"] == "mlflow:1"
    assert initializer["args"] == ["mlflow://churn/7", "/mnt/models"]
    assert {"name": "SERVER", "value": "http://m"} in initializer["env"]
    assert found(result) == []


def test_storage_containers_that_compete_or_are_missing() -> None:
    """Two containers for one URI are named in a warning; a URI without any is an error that lists those that work."""
    rivals = (container_for("mlflow://"), container_for("mlflow://", "other"))
    (warning,) = built(service(model(uri="mlflow://churn/7")), *rivals).diagnostics
    assert "mlflow, other" in warning.message
    (error,) = built(service(model(uri="mlflow://churn/7"))).diagnostics
    assert error.code.slug == "storage/unknown-scheme"
    assert "s3://" in error.help


def test_models_in_images() -> None:
    """A modelcar runs as the user that its platform sets, and says whom it overrules; a volume needs no container."""
    user = {"securityContext": {"runAsUser": 2001}}
    car = built(service(model(uri="oci://registry.example.com/churn:2", model=user)))
    assert deployment(car, *POD, "containers", "modelcar", "image") == "registry.example.com/churn:2"
    assert deployment(car, *POD, "initContainers", "modelcar-init", "image") == "registry.example.com/churn:2"
    assert deployment(car, *POD, "shareProcessNamespace") is True
    assert found(car) == ["storage/user-replaced"]
    native = service(model(uri="oci+native://registry.example.com/churn:2"))
    pod = deployment(built(native), *POD)
    assert [v["image"]["reference"] for v in pod["volumes"]] == ["registry.example.com/churn:2"]
    assert dig(pod, ("containers", SERVER, "volumeMounts", 0, "subPath")) == "models"
    assert len(pod["containers"]) == 1
    assert found(built(native, kubernetesVersion="1.32")) == ["storage/no-image-volumes"]


def group(name: str, gpu: str) -> dict[str, Any]:
    """A LocalModelNodeGroup of the nodes with a GPU."""
    terms = [{"matchExpressions": [{"key": "gpu", "operator": "In", "values": [gpu]}]}]
    volume = {
        "storageClassName": name,
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "200Gi"},
        "local": {"path": "/models"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
    }
    claim = {
        "storageClassName": name,
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "200Gi"}},
    }
    spec = {"storageLimit": "200Gi", "persistentVolumeSpec": volume, "persistentVolumeClaimSpec": claim}
    return {"apiVersion": f"{GROUP}/v1alpha1", "kind": "LocalModelNodeGroup", "metadata": {"name": name}, "spec": spec}


CACHE = {
    "apiVersion": f"{GROUP}/v1alpha1",
    "kind": "LocalModelCache",
    "metadata": {"name": "chat"},
    "spec": {"sourceModelUri": "hf://acme/chat", "modelSize": "18Gi", "nodeGroups": ["small", "large"]},
}


@pytest.mark.parametrize(
    ("selector", "annotations", "claim"),
    [
        ({"gpu": "h100"}, {}, "chat-large"),
        ({}, {}, "chat-small"),
        ({}, {f"{GROUP}/nodegroup": "large"}, "chat-large"),
        ({"gpu": "l4"}, {}, None),
    ],
)
def test_models_are_read_from_nodes_that_pods_reach(
    selector: dict[str, str], annotations: dict[str, str], claim: str | None
) -> None:
    """A pod reads the copy of a node group that it may run in, or of the one that is named; else it downloads."""
    facts = {"inferenceServiceConfig": {"localModel": {"enabled": True}, "ingress": {"disableIngressCreation": True}}}
    predictor = model(uri="hf://acme/chat", nodeSelector=selector)
    documents = (CACHE, group("small", "t4"), group("large", "h100"))
    result = built(service(predictor, annotations=annotations), *documents, **facts)
    pod = deployment(result, *POD)
    if claim is None:
        assert dig(pod, ("initContainers", "storage-initializer"))
        assert found(result) == ["localmodel/out-of-reach"]
        return
    (mount,) = dig(pod, ("containers", SERVER, "volumeMounts"))
    assert dig(pod, ("volumes", mount["name"], "persistentVolumeClaim", "claimName")) == claim
    assert mount["readOnly"] is True
    assert "initContainers" not in pod
    volume = next(o for name, o in made(result).items() if name.startswith("PersistentVolume/") and claim in name)
    bound = made(result)[f"PersistentVolumeClaim/{claim}"]
    assert volume["spec"]["storageClassName"] == bound["spec"]["storageClassName"]
