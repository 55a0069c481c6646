"""Models that come as images: modelcars, image volumes, and downloads from a registry."""

from __future__ import annotations

import pytest

from kservec.storage.oci_modelcar import link_command, quoted
from kservec.storage.oci_native import minor_version

from .conftest import account

IMAGE = "registry.example.com/models/churn:3"
CAR = f"oci://{IMAGE}"
FETCH, NATIVE = f"oci+fetch://{IMAGE}", f"oci+native://{IMAGE}"
AT_AUTH = "/mnt/oci-fetch-auth"


def several(*pairs):
    """A predictor with storageUris: URI and path of each."""
    uris = [{"uri": uri, "mountPath": path} for uri, path in pairs]
    return {"model": {"modelFormat": {"name": "sklearn"}}, "storageUris": uris}


def containers(result, field="containers"):
    """The containers of a pod by name."""
    return {c["name"]: c for c in result.pod.get(field, [])}


def test_a_modelcar(attach):
    """The image runs beside the server under one user, and an init container checks it first."""
    result = attach(CAR)
    car = containers(result)["modelcar"]
    shared = [{"name": "kserve-provision-location", "mountPath": "/mnt"}]
    assert car["image"] == IMAGE
    assert car["args"] == ["sh", "-c", "ln -sf /proc/$$$$/root/models /mnt/models && sleep infinity"]
    assert car["resources"] == {key: {"cpu": "10m", "memory": "15Mi"} for key in ("limits", "requests")}
    assert car["securityContext"] == result.server["securityContext"] == {"runAsUser": 1010}
    assert car["volumeMounts"] == result.server["volumeMounts"] == shared
    assert result.server["env"] == [{"name": "MODEL_INIT_MODE", "value": "async"}]
    assert result.pod["shareProcessNamespace"] is True
    init = containers(result, "initContainers")["modelcar-init"]
    assert init["image"] == IMAGE
    assert "[ -d /models ]" in init["args"][2]
    assert "volumeMounts" not in init


def test_a_modelcar_on_a_platform_without_a_user(attach):
    """Without uidModelcar no container changes its user."""
    result = attach(CAR, uidModelcar=None)
    assert "securityContext" not in result.server
    assert "securityContext" not in containers(result)["modelcar"]


def test_a_user_that_gives_way(attach):
    """The user of the model server is replaced, as in KServe, with a warning."""
    result = attach(CAR, server={"securityContext": {"runAsUser": 5, "readOnlyRootFilesystem": True}})
    assert result.server["securityContext"] == {"runAsUser": 1010, "readOnlyRootFilesystem": True}
    assert result.slugs == ["storage/user-replaced"]


def test_a_variable_that_is_there(attach):
    """MODEL_INIT_MODE is overwritten, whatever the user said."""
    result = attach(CAR, server={"env": [{"name": "MODEL_INIT_MODE", "valueFrom": {}}, {"name": "B", "value": "1"}]})
    assert result.server["env"] == [{"name": "MODEL_INIT_MODE", "value": "async"}, {"name": "B", "value": "1"}]


def test_a_transformer_beside_the_server_reads_the_modelcar(attach):
    """The collocated transformer gets the same directory, user and variable."""
    model = {"modelFormat": {"name": "sklearn"}, "storageUri": CAR}
    result = attach({"model": model, "containers": [{"name": "transformer-container"}]})
    transformer = containers(result)["transformer-container"]
    assert {k: transformer[k] for k in ("env", "volumeMounts", "securityContext")} == {
        k: result.server[k] for k in ("env", "volumeMounts", "securityContext")
    }


@pytest.mark.parametrize(
    ("path", "command"),
    [
        ("/mnt/models", "ln -sf /proc/$$$$/root/models /mnt/models && sleep infinity"),
        ("/mnt/a/b", "mkdir -p /mnt/a && ln -sf /proc/$$$$/root/models /mnt/a/b && sleep infinity"),
        ("/mnt/a b/c", "mkdir -p '/mnt/a b' && ln -sf /proc/$$$$/root/models '/mnt/a b/c' && sleep infinity"),
    ],
)
def test_the_link_of_a_modelcar(path, command):
    """Other paths than the usual one have their directory made first, and odd paths are quoted."""
    assert link_command(path) == command


@pytest.mark.parametrize(
    ("path", "text"), [("/a-B_1.x", "/a-B_1.x"), ("/a'b", "'/a'\\''b'"), ("/$(x)", "'/$(x)'"), ("", "''")]
)
def test_quoting(path, text):
    """Only what the shell could misread is quoted."""
    assert quoted(path) == text


def test_several_modelcars(attach):
    """Later modelcars have numbered names and volumes; the pull policy is the workload's default."""
    result = attach(several((CAR, "/mnt/a/base"), (f"{CAR}-b", "/mnt/b/lora")))
    assert list(containers(result)) == ["kserve-container", "modelcar", "modelcar-1"]
    assert list(containers(result, "initContainers")) == ["modelcar-init", "modelcar-init-1"]
    assert [v["name"] for v in result.pod["volumes"]] == ["kserve-provision-location", "kserve-provision-location-1"]
    assert containers(result)["modelcar"]["imagePullPolicy"] == "IfNotPresent"


def test_modelcars_under_one_directory(attach):
    """Two modelcars whose paths share a directory would hide each other and are refused, as in KServe."""
    assert attach(several((CAR, "/mnt/m/a"), (CAR, "/mnt/m/b"))).slugs == ["storage/path-taken"]


def test_an_image_volume(attach):
    """The directory models of the image is mounted read-only, and nothing runs beside the server."""
    result = attach(NATIVE)
    image = {"pullPolicy": "IfNotPresent", "reference": IMAGE}
    assert result.pod["volumes"] == [{"name": "mnt-models", "image": image}]
    mount = {"name": "mnt-models", "mountPath": "/mnt/models", "subPath": "models", "readOnly": True}
    assert result.server["volumeMounts"] == [mount]
    assert len(result.pod["containers"]) == 1


def test_an_explicit_mode_needs_no_platform(attach):
    """A mode in the URI counts where the platform has no mode; KServe then brings in no model at all."""
    result = attach(NATIVE, enableModelcar=False)
    assert result.pod["volumes"][0]["image"]["reference"] == IMAGE


def test_image_volumes_side_by_side(attach):
    """Image volumes may share a directory."""
    result = attach(several((NATIVE, "/mnt/a"), (NATIVE, "/mnt/b")))
    assert [m["mountPath"] for m in result.server["volumeMounts"]] == ["/mnt/a", "/mnt/b"]


def test_a_path_that_an_image_cannot_have(attach):
    """A volume of the user's at the path is an error, as in KServe."""
    server = {"volumeMounts": [{"name": "mine", "mountPath": "/mnt/models"}]}
    assert attach(NATIVE, server=server).slugs == ["storage/path-taken"]


@pytest.mark.parametrize(
    ("version", "slugs"),
    [
        ("1.35", []),
        ("1.40.1", []),
        ("1.34", ["storage/image-volumes-gated"]),
        ("1.33+", ["storage/image-volumes-gated"]),
        ("1.32", ["storage/no-image-volumes"]),
        ("1.27", ["storage/no-image-volumes"]),
    ],
)
def test_image_volumes_by_version(attach, version, slugs):
    """Clusters that cannot mount images are told so; a gate that must be on is a warning."""
    assert attach(NATIVE, platform={"kubernetes_version": version}).slugs == slugs


@pytest.mark.parametrize(
    ("version", "minor"), [("1.35", 35), ("v1.33.4", 33), ("1.31+", 31), ("1", None), ("1.x", None)]
)
def test_minor_versions(version, minor):
    """The second number of a version counts; what is none says nothing."""
    assert minor_version(version) == minor


def test_a_fetched_image(attach):
    """The storage initializer gets the plain image URI, and shares a writable directory with the server."""
    result = attach(FETCH)
    assert result.initializer["args"] == [CAR, "/mnt/models"]
    assert "env" not in result.initializer
    shared = [{"name": "mnt-models", "mountPath": "/mnt/models"}]
    assert result.initializer["volumeMounts"] == result.server["volumeMounts"] == shared
    assert result.pod["volumes"] == [{"name": "mnt-models", "emptyDir": {}}]


@pytest.mark.parametrize(
    ("pod", "accounts", "used", "slugs"),
    [
        ({}, (), None, []),
        ({"imagePullSecrets": [{"name": "own"}]}, (account("default", image_pull_secrets=("theirs",)),), "own", []),
        ({"imagePullSecrets": [{"name": "a"}, {"name": "b"}]}, (), "a", ["storage/one-pull-secret"]),
        ({}, (account("default", image_pull_secrets=("theirs",)),), "theirs", []),
        ({"serviceAccountName": "s"}, (account("s", image_pull_secrets=("x",)),), "x", []),
        ({"serviceAccountName": "s"}, (account("default", image_pull_secrets=("y",)),), None, []),
        ({"imagePullSecrets": [{}]}, (), None, []),
    ],
)
def test_the_pull_secret_of_a_fetch(attach, pod, accounts, used, slugs):
    """The first pull secret of the pod, or of its account, is mounted for the registry client."""
    predictor = {"model": {"modelFormat": {"name": "sklearn"}, "storageUri": FETCH}, **pod}
    result = attach(predictor, accounts=accounts)
    secrets = [v["secret"] for v in result.pod["volumes"] if "secret" in v]
    assert [s["secretName"] for s in secrets] == ([used] if used else [])
    assert [m["mountPath"] for m in result.initializer["volumeMounts"][:-1]] == ([AT_AUTH] if used else [])
    assert result.slugs == slugs


def test_certificates_and_insecure_registries_of_a_fetch(attach):
    """The platform's bundle and its leave for insecure registries reach the container."""
    result = attach(
        FETCH,
        config_maps={("kserve", "acme-ca"): {"cabundle.crt": "PEM"}},
        caBundleConfigMapName="acme-ca",
        ociInsecureRegistry=True,
    )
    assert result.env == {
        "CA_BUNDLE_CONFIGMAP_NAME": "global-ca-bundle",
        "CA_BUNDLE_VOLUME_MOUNT_POINT": "/etc/ssl/custom-certs",
        "KSERVE_OCI_INSECURE_REGISTRY": "true",
    }
    assert [v["name"] for v in result.pod["volumes"]] == ["cabundle-cert", "mnt-models"]


def test_several_fetched_images(attach):
    """All images of a list are fetched by one container."""
    result = attach(several((FETCH, "/mnt/a"), (f"{FETCH}-b", "/mnt/b")))
    assert len(result.pod["initContainers"]) == 1
    assert result.initializer["args"] == [CAR, "/mnt/a", f"{CAR}-b", "/mnt/b"]
    assert [m["mountPath"] for m in result.initializer["volumeMounts"]] == ["/mnt/a", "/mnt/b"]


def test_fetches_beside_downloads(attach):
    """A list with both is refused: KServe forgets the downloads."""
    assert attach(several((FETCH, "/mnt/m/a"), ("s3://b/m", "/mnt/m/b"))).slugs == ["storage/two-initializers"]


def test_too_many_images(attach):
    """Eleven images are one too many."""
    result = attach(several(*((NATIVE, f"/mnt/m/{i}") for i in range(11))))
    assert result.slugs == ["storage/too-many-images"]


def test_images_come_before_claims_and_downloads(attach):
    """A mixed list is attached in KServe's order: images, claims, downloads."""
    result = attach(several(("s3://b/m", "/mnt/m/b"), ("pvc://c", "/mnt/c"), (CAR, "/opt/vocab")))
    names = ["kserve-provision-location", "mnt-c", "mnt-m-b"]
    assert [v["name"] for v in result.pod["volumes"]] == names
    assert [c["name"] for c in result.pod["initContainers"]] == ["modelcar-init", "storage-initializer"]


def test_workers_get_the_image(attach):
    """The pods of workers read the model from the image too."""
    result = attach(NATIVE, worker=True)
    assert result.worker is not None
    assert result.worker["containers"][0]["volumeMounts"][0]["name"] == "mnt-models"


def test_a_copy_on_the_nodes_beside_an_image(attach):
    """An image whose model has a copy on the nodes comes both ways, as in KServe."""
    cache = "internal.serving.kserve.io/localmodel"
    annotations = {f"{cache}-sourceuri": CAR, f"{cache}-pvc-name": "cache"}
    result = attach(CAR, metadata={"labels": {cache: "c"}, "annotations": annotations})
    assert [v["name"] for v in result.pod["volumes"]] == ["kserve-pvc-source", "kserve-provision-location"]
