"""Downloads: the storage initializer, what is laid over it, and where its credentials and certificates come from."""

from __future__ import annotations

import pytest

from kservec.core.records import evolve

from .conftest import account, secret, storage_container

BUNDLE = {("kserve", "acme-ca"): {"cabundle.crt": "PEM"}}
KEY_PAIR = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
TUNING = ["HF_HUB_ENABLE_HF_TRANSFER", "HF_XET_HIGH_PERFORMANCE", "HF_XET_NUM_CONCURRENT_RANGE_GETS"]


def model(**fields):
    """A predictor with a model."""
    return {"model": {"modelFormat": {"name": "sklearn"}, **fields}}


def several(*pairs, **fields):
    """A predictor with storageUris: URI and path of each."""
    return {**model(**fields), "storageUris": [{"uri": uri, "mountPath": path} for uri, path in pairs]}


def test_the_whole_container(attach):
    """A download adds an init container, an emptyDir, and a read-only mount in the model server."""
    result = attach("s3://acme/churn")
    assert result.pod["initContainers"] == [
        {
            "name": "storage-initializer",
            "image": "registry.example.com/initializer:1",
            "args": ["s3://acme/churn", "/mnt/models"],
            "resources": {
                "limits": {"cpu": "1", "memory": "1Gi"},
                "requests": {"cpu": "100m", "memory": "100Mi"},
            },
            "terminationMessagePolicy": "FallbackToLogsOnError",
            "volumeMounts": [{"name": "kserve-provision-location", "mountPath": "/mnt/models"}],
            "env": [{"name": n, "value": v} for n, v in zip(TUNING, ("1", "1", "8"), strict=True)],
        }
    ]
    assert result.pod["volumes"] == [{"name": "kserve-provision-location", "emptyDir": {}}]
    mount = {"name": "kserve-provision-location", "mountPath": "/mnt/models", "readOnly": True}
    assert result.server["volumeMounts"] == [mount]


def test_the_container_says_where_it_comes_from(attach):
    """Its image comes from the storage container, its memory from the platform, its arguments from the URI."""
    container = storage_container("mine", {"prefix": "s3://"}, image="mine:1")
    pod = attach("s3://acme/churn", containers=(container,)).unit.components[0].pod
    at = ("initContainers", "storage-initializer")
    spans = [pod.span((*at, *rest)) for rest in (("image",), ("resources", "limits", "memory"), ("args", 0))]
    assert [s.file for s in spans] == ["containers.yaml", "platform.yaml", "isvc.yaml"]
    assert pod.span(("volumes", "kserve-provision-location")).file == "isvc.yaml"


def test_it_comes_after_the_users_own(attach):
    """The user's init containers stay before the storage initializer."""
    result = attach({**model(storageUri="gs://acme/churn"), "initContainers": [{"name": "warm"}]})
    assert [c["name"] for c in result.pod["initContainers"]] == ["warm", "storage-initializer"]


def test_a_pod_with_its_own_initializer(attach):
    """A container of that name in the spec takes over everything, and a note says so."""
    own = {"name": "storage-initializer", "image": "mine:1"}
    result = attach({**model(storageUri="s3://acme/churn"), "initContainers": [own]})
    assert result.pod["initContainers"] == [own]
    assert "volumes" not in result.pod
    assert result.slugs == ["storage/own-initializer"]


def test_a_custom_container_finds_the_path_in_its_variable(attach):
    """STORAGE_URI of a custom predictor says where the model is, once it is downloaded."""
    container = {"name": "kserve-container", "env": [{"name": "STORAGE_URI", "value": "s3://acme/churn"}]}
    result = attach({"containers": [container]})
    assert result.server["env"] == [{"name": "STORAGE_URI", "value": "/mnt/models"}]
    assert result.initializer["args"] == ["s3://acme/churn", "/mnt/models"]


def test_a_multi_model_server_downloads_nothing(attach):
    """What an agent pulls at run time is not downloaded before, and a warning says so."""
    env = [{"name": "MULTI_MODEL_SERVER", "value": "true"}, {"name": "STORAGE_URI", "value": "s3://acme/churn"}]
    result = attach({"containers": [{"name": "kserve-container", "env": env}]})
    assert "initContainers" not in result.pod
    assert result.slugs == ["storage/not-downloaded"]


def test_a_storage_container_is_laid_over(attach):
    """A ClusterStorageContainer wins over the platform's settings and over credentials of the same name."""
    rich = storage_container(
        "rich",
        {"prefix": "dvc://"},
        image="fetcher:2",
        args=["--fetch"],
        env=[{"name": n, "value": v} for n, v in (("MODE", "fast"), ("HF_TOKEN", "none"), (TUNING[0], "0"))],
        resources={"limits": {"memory": "9Gi"}},
    )
    result = attach(
        {**model(storageUri="dvc://acme/churn"), "serviceAccountName": "scorer"},
        containers=(rich,),
        secrets=(secret("hf", "HF_TOKEN"),),
        accounts=(account("scorer", "hf"),),
    )
    made = result.initializer
    assert (made["image"], made["args"]) == ("fetcher:2", ["--fetch"])
    assert made["resources"]["limits"] == {"cpu": "1", "memory": "9Gi"}
    names = ["MODE", "HF_TOKEN", TUNING[0], *TUNING[1:]]
    assert [e["name"] for e in made["env"]] == names
    assert result.env == {"MODE": "fast", "HF_TOKEN": "none"}


@pytest.mark.parametrize(
    ("fields", "slugs"),
    [
        ({"name": "absent"}, ["storage/container-unfit"]),
        ({"name": "gcs"}, ["storage/container-unfit"]),
        ({"name": "off"}, ["storage/container-unfit"]),
        ({"name": "job"}, ["storage/container-unfit"]),
        ({"name": "mine"}, []),
    ],
)
def test_a_named_storage_container(attach, fields, slugs):
    """The named container must exist, be enabled, run as an init container and take the URI."""
    mine = storage_container("mine", {"prefix": "s3://"}, image="mine:1")
    job = evolve(mine, name="job", spec=mine.spec.changed(workload_type="localModelDownloadJob"))
    others = (storage_container("gcs", {"prefix": "gs://"}), evolve(mine, name="off", disabled=True), job, mine)
    predictor = {**model(storageUri="s3://acme/churn"), "storageContainerName": fields["name"]}
    result = attach(predictor, containers=others)
    assert result.slugs == slugs
    assert bool(result.pod) is not bool(slugs)


def test_competing_storage_containers(attach):
    """Of several containers that take a URI the first by name is used, with a warning; KServe takes any."""
    second = storage_container("b", {"prefix": "s3://"}, image="b:1")
    first = storage_container("a", {"regex": "s3"}, image="a:1")
    result = attach("s3://acme/churn", containers=(second, first))
    assert result.initializer["image"] == "a:1"
    assert result.slugs == ["storage/containers-compete"]


def test_a_mount_without_a_volume(attach):
    """A storage container that mounts what the pod does not have is refused; the user's volumes count."""
    scratch = storage_container("s", {"prefix": "s3://"}, volumeMounts=[{"name": "scratch", "mountPath": "/s"}])
    assert attach("s3://acme/churn", containers=(scratch,)).slugs == ["storage/mount-of-no-volume"]
    volumes = [{"name": "scratch", "emptyDir": {}}]
    result = attach({**model(storageUri="s3://acme/churn"), "volumes": volumes}, containers=(scratch,))
    assert [m["name"] for m in result.initializer["volumeMounts"]] == ["scratch", "kserve-provision-location"]


@pytest.mark.parametrize(
    ("confidential", "env"),
    [
        ({"enabled": True, "resourceId": "kbs:///a/b/c"},
         {"CONFIDENTIAL_ENABLED": "true", "CONFIDENTIAL_RESOURCE_ID": "kbs:///a/b/c"}),
        ({"enabled": True}, {"CONFIDENTIAL_ENABLED": "true"}),
        ({"enabled": False, "resourceId": "kbs:///a/b/c"}, {}),
    ],
)  # fmt: skip
def test_confidential_models(attach, confidential, env):
    """An encrypted model tells the download container so, and which key it needs."""
    assert attach(model(storageUri="s3://acme/churn", confidential=confidential)).env == env


def test_several_downloads_share_a_container(attach):
    """All downloads of a list go through one container into the directory that holds their paths."""
    result = attach(several(("s3://a/m", "/mnt/m/a"), ("gs://b/m", "/mnt/m/b")))
    assert result.initializer["args"] == ["s3://a/m", "/mnt/m/a", "gs://b/m", "/mnt/m/b"]
    assert result.initializer["volumeMounts"] == [{"name": "mnt-m", "mountPath": "/mnt/m"}]
    assert result.server["volumeMounts"] == [{"name": "mnt-m", "mountPath": "/mnt/m", "readOnly": True}]


def test_several_downloads_need_a_container_that_can(attach):
    """A storage container that downloads one model is refused for a list, even for one entry."""
    one = storage_container("one", {"prefix": "dvc://"})
    one = evolve(one, spec=one.spec.changed(supports_multi_model_download=False))
    assert attach(several(("dvc://a/m", "/mnt/m")), containers=(one,)).slugs == ["storage/one-at-a-time"]


@pytest.mark.parametrize(
    ("settings", "env", "volume", "path"),
    [
        ({}, {}, None, None),
        (
            {"caBundleConfigMapName": "acme-ca"},
            {"CA_BUNDLE_CONFIGMAP_NAME": "global-ca-bundle", "CA_BUNDLE_VOLUME_MOUNT_POINT": "/etc/ssl/custom-certs"},
            "global-ca-bundle",
            "/etc/ssl/custom-certs",
        ),
        (
            {"caBundleConfigMapName": "acme-ca", "caBundleVolumeMountPath": "/certs"},
            {"CA_BUNDLE_CONFIGMAP_NAME": "global-ca-bundle", "CA_BUNDLE_VOLUME_MOUNT_POINT": "/certs"},
            "global-ca-bundle",
            "/certs",
        ),
    ],
)
def test_the_platforms_ca_bundle(attach, settings, env, volume, path):
    """The platform's certificates are copied into the namespace and mounted into every download container."""
    result = attach("s3://acme/churn", config_maps=BUNDLE, **settings)
    assert result.env == env
    mounts = {m["name"]: m for m in result.initializer["volumeMounts"]}
    volumes = {v["name"]: v for v in result.pod["volumes"]}
    if volume is None:
        assert "cabundle-cert" not in mounts
        assert "cabundle-cert" not in volumes
    else:
        assert mounts["cabundle-cert"] == {"name": "cabundle-cert", "mountPath": path, "readOnly": True}
        assert volumes["cabundle-cert"] == {"name": "cabundle-cert", "configMap": {"name": volume}}


def test_the_copy_of_the_ca_bundle(attach):
    """The namespace gets the bundle as a shared object, even where no model is downloaded."""
    result = attach("pvc://weights", config_maps=BUNDLE, caBundleConfigMapName="acme-ca")
    (copy,) = result.unit.bundle.manifests
    assert copy.shared
    assert (copy.ref.kind, copy.ref.namespace, copy.ref.name) == ("ConfigMap", "ml", "global-ca-bundle")
    assert copy.body.value["data"] == {"cabundle.crt": "PEM"}
    assert "initContainers" not in result.pod


@pytest.mark.parametrize(
    "declared", [{}, {("kserve", "acme-ca"): {"cabundle.crt": ""}}, {("ml", "acme-ca"): {"cabundle.crt": "PEM"}}]
)
def test_a_missing_ca_bundle(attach, declared):
    """A bundle that the platform names and nothing declares is refused at the platform's setting."""
    (found,) = attach("s3://acme/churn", config_maps=declared, caBundleConfigMapName="acme-ca").diagnostics
    assert found.code.slug == "platform/ca-bundle"
    assert found.span is not None
    assert found.span.file == "platform.yaml"


@pytest.mark.parametrize(
    ("annotations", "env"),
    [
        (
            {"s3-cabundle": "/x/own/ca.crt", "s3-cabundle-configmap": "own-ca"},
            {"CA_BUNDLE_CONFIGMAP_NAME": "own-ca", "CA_BUNDLE_VOLUME_MOUNT_POINT": "/x/own"},
        ),
        (
            {"s3-cabundle-configmap": "own-ca"},
            {"CA_BUNDLE_CONFIGMAP_NAME": "own-ca", "CA_BUNDLE_VOLUME_MOUNT_POINT": "/etc/ssl/custom-certs"},
        ),
        ({"s3-cabundle": "/x/own/ca.crt"}, {}),
    ],
)
def test_a_secret_with_its_own_ca_bundle(attach, annotations, env):
    """A ConfigMap that a Secret names comes before the platform's; a file alone names no ConfigMap."""
    keyed = {f"serving.kserve.io/{k}": v for k, v in annotations.items()}
    creds = secret("creds", *KEY_PAIR, annotations=keyed)
    result = attach("s3://acme/churn", secrets=(creds,), accounts=(account("default", "creds"),))
    assert {k: v for k, v in result.env.items() if k.startswith("CA_BUNDLE")} == env


@pytest.mark.parametrize("quantity", ["", "lots", "1 Gi"])
def test_a_platform_with_a_broken_quantity(attach, quantity):
    """The platform's quantities are checked for every service, as in KServe, and blamed where they stand."""
    (found,) = attach("pvc://weights", memoryLimit=quantity).diagnostics
    assert found.code.slug == "platform/configuration"
    assert "memoryLimit" in found.message


WAREHOUSE = secret("storage-config", entries={"warehouse": {"type": "s3", "bucket": "acme"}, "dfs": {"type": "hdfs"}})


@pytest.mark.parametrize(
    ("storage", "argument", "env"),
    [
        ({"key": "warehouse", "path": "churn"}, "s3://acme/churn", {"STORAGE_CONFIG": "storage-config/warehouse"}),
        ({"key": "warehouse", "path": "/churn"}, "s3://acme/churn", {"STORAGE_CONFIG": "storage-config/warehouse"}),
        ({"key": "dfs", "path": "churn"}, "hdfs://churn", {"STORAGE_CONFIG": "storage-config/dfs"}),
        (
            {"key": "warehouse", "path": "m", "parameters": {"type": "s3", "bucket": "b<&>"}},
            "s3://b<&>/m",
            {
                "STORAGE_CONFIG": "storage-config/warehouse",
                "STORAGE_OVERRIDE_CONFIG": r'{"bucket":"b\u003c\u0026\u003e","type":"s3"}',
            },
        ),
        (
            {"path": "m", "parameters": {"type": "webhdfs"}},
            "webhdfs://m",
            {"STORAGE_OVERRIDE_CONFIG": '{"type":"webhdfs"}'},
        ),
    ],
)
def test_a_storage_spec(attach, storage, argument, env):
    """The entry gives type and bucket, which make a URI of the path; the container gets the entry by reference."""
    result = attach(model(storage=storage), secrets=(WAREHOUSE,))
    assert result.initializer["args"] == [argument, "/mnt/models"]
    assert result.env == env


def test_the_default_entry_of_a_type(attach):
    """Without a key the entry `default_TYPE`, or `default`, is used if it is there."""
    entries = {"default": {"type": "s3", "bucket": "d"}, "default_hdfs": {"type": "hdfs"}}
    declared = secret("storage-config", entries=entries)
    assert attach(model(storage={"path": "m"}), secrets=(declared,)).env == {"STORAGE_CONFIG": "storage-config/default"}
    typed = {"path": "m", "parameters": {"type": "hdfs"}}
    assert attach(model(storage=typed), secrets=(declared,)).env["STORAGE_CONFIG"] == "storage-config/default_hdfs"


def test_a_ca_bundle_of_an_entry(attach):
    """An entry may name the ConfigMap with the certificates of its storage."""
    declared = secret("storage-config", entries={"k": {"type": "s3", "bucket": "b", "cabundle_configmap": "own"}})
    env = attach(model(storage={"key": "k", "path": "m"}), secrets=(declared,)).env
    assert (env["AWS_CA_BUNDLE_CONFIGMAP"], env["CA_BUNDLE_CONFIGMAP_NAME"]) == ("own", "own")


@pytest.mark.parametrize(
    ("storage", "entries", "slug"),
    [
        ({"key": "absent", "path": "m"}, {"k": {"type": "s3"}}, "storage/entry-missing"),
        ({"key": "k", "path": "m"}, None, "secret/not-declared"),
        ({"key": "k", "path": "m"}, {"k": {"type": "s3"}}, "storage/bucket-missing"),
        ({"key": "k", "path": "m"}, {"k": {"type": "azure"}}, "storage/type-unknown"),
        ({"key": "k", "path": "m"}, {"k": {}}, "storage/type-unknown"),
        ({"key": "k", "path": "m"}, {"k": None}, "storage/type-unknown"),
        ({"path": "m"}, None, "storage/type-unknown"),
    ],
)
def test_a_storage_spec_that_cannot_be_met(attach, storage, entries, slug):
    """What is missing is said at the storage spec, by name."""
    secrets = () if entries is None else (secret("storage-config", entries=entries),)
    (found,) = attach(model(storage=storage), secrets=secrets).diagnostics
    assert found.code.slug == slug
    assert found.span is not None
    assert found.span.file == "isvc.yaml"


@pytest.mark.parametrize(("key", "help_text"), [("acme", "did you mean acme-s3?"), ("b", "the Secret has acme-s3")])
def test_the_entry_that_was_meant(attach, key, help_text):
    """A key that has the parts of another is answered by it, else by those that there are."""
    declared = secret("storage-config", entries={"acme-s3": {"type": "s3"}})
    (found,) = attach(model(storage={"key": key, "path": "m"}), secrets=(declared,)).diagnostics
    assert found.help == help_text


def test_a_storage_spec_beside_a_uri(attach):
    """Key and parameters give the credentials of a model at a URI, which stays as it is."""
    storage = {"key": "warehouse", "parameters": {"region": "eu-1"}}
    result = attach(model(storageUri="s3://other/m", storage=storage), secrets=(WAREHOUSE,))
    assert result.initializer["args"][0] == "s3://other/m"
    assert result.env["STORAGE_CONFIG"] == "storage-config/warehouse"


@pytest.mark.parametrize(("parameters", "by_key"), [({"type": "s3"}, True), (None, False)])
def test_credentials_of_a_list(attach, parameters, by_key):
    """For storageUris a storage spec counts only with key and parameters; else the ServiceAccount does."""
    storage = {"key": "warehouse", **({"parameters": parameters} if parameters else {})}
    result = attach(
        several(("s3://a/m", "/mnt/m"), storage=storage),
        secrets=(WAREHOUSE, secret("creds", *KEY_PAIR)),
        accounts=(account("default", "creds"),),
    )
    assert ("STORAGE_CONFIG" in result.env) is by_key
    assert ("AWS_ACCESS_KEY_ID" in result.env) is not by_key


UID = "serving.kserve.io/storage-initializer-uid"
MESH = {"sidecar.istio.io/interceptionMode": "REDIRECT", "sidecar.istio.io/status": '{"containers": ["istio-proxy"]}'}


@pytest.mark.parametrize(
    ("annotations", "proxy", "user"),
    [
        ({UID: "2000"}, {}, 2000),
        ({UID: "2000", **MESH}, {}, 2000),
        ({UID: str(2**63 - 1)}, {}, 2**63 - 1),
        ({UID: str(2**63), **MESH}, {}, None),
        ({UID: "9" * 4400, **MESH}, {}, None),
        (MESH, {}, 1337),
        (MESH, {"securityContext": {"runAsUser": 7}}, 7),
        (MESH, None, None),
        ({**MESH, "sidecar.istio.io/interceptionMode": "TPROXY"}, {}, None),
        ({**MESH, "sidecar.istio.io/status": "no JSON"}, {}, None),
        ({}, {}, None),
    ],
)
def test_the_user_that_passes_a_service_mesh(attach, annotations, proxy, user):
    """The download container runs as the annotation says, else as Istio's sidecar where that catches its traffic."""
    sidecars = [{"name": "istio-proxy", **proxy}] if proxy is not None else []
    predictor = {**model(storageUri="s3://acme/churn"), "containers": sidecars}
    result = attach(predictor, metadata={"annotations": annotations})
    assert (result.initializer.get("securityContext") or {}).get("runAsUser") == user


def test_an_init_container_of_istio_keeps_the_user(attach):
    """Where istio-init is in the pod, no CNI plugin redirects, and the user stays."""
    predictor = {**model(storageUri="s3://acme/churn"), "containers": [{"name": "istio-proxy"}]}
    result = attach({**predictor, "initContainers": [{"name": "istio-init"}]}, metadata={"annotations": MESH})
    assert "securityContext" not in result.initializer


def test_a_user_that_is_no_number(attach):
    """A user id that is no number does nothing, and a warning says so."""
    result = attach("s3://acme/churn", metadata={"annotations": {UID: "root", **MESH}})
    assert "securityContext" not in result.initializer
    assert result.slugs == ["annotation/not-a-user-id"]
