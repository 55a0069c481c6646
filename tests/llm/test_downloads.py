"""attach_artifacts: models and adapters in the pods, downloads and their credentials."""

from __future__ import annotations

import pytest
from tests.llm.workloads import MODEL, account, build, group, mounts, named, pod, secret, single

HUB = {"HF_HUB_ENABLE_HF_TRANSFER": "1", "HF_XET_HIGH_PERFORMANCE": "1", "HF_XET_NUM_CONCURRENT_RANGE_GETS": "8"}


def env_of(container) -> dict[str, str]:
    """The variables of a container: values, or the Secrets that they come from."""
    return {
        e["name"]: e["value"] if "value" in e else e["valueFrom"]["secretKeyRef"]["name"]
        for e in container.get("env") or ()
    }


def model(uri: str, **more) -> dict[str, object]:
    """A model at a URI."""
    return {"uri": uri, "name": "tiny", **more}


def test_a_model_from_the_hub_is_downloaded(bench) -> None:
    """The init container comes last, with the platform's image, and the server mounts what it brought read-only."""
    built = build(bench, single(template=pod(initContainers=[{"name": "first", "image": "x:1"}])))
    assert [c["name"] for c in built.pod["initContainers"]] == ["first", "storage-initializer"]
    assert built.initializer["args"] == [MODEL, "/mnt/models"]
    assert built.initializer["image"] == "registry.example.com/initializer:1"
    assert env_of(built.initializer) == HUB
    assert mounts(built.initializer) == mounts(built.server) == {"/mnt/models": "kserve-provision-location"}
    assert built.server["volumeMounts"][0]["readOnly"] is True


def test_wishes_about_the_download_container_are_kept(bench) -> None:
    """A user's container of that name is laid over it, and has no say in its arguments and its command."""
    own = {
        "name": "storage-initializer",
        "command": ["mine"],
        "args": ["mine"],
        "env": [{"name": "HF_XET_HIGH_PERFORMANCE", "value": "0"}],
        "resources": {"limits": {"memory": "8Gi"}},
    }
    built = build(bench, single(template=pod(initContainers=[own, {"name": "second", "image": "x:1"}])))
    assert [c["name"] for c in built.pod["initContainers"]] == ["second", "storage-initializer"]
    assert built.initializer["args"] == [MODEL, "/mnt/models"]
    assert "command" not in built.initializer
    assert env_of(built.initializer)["HF_XET_HIGH_PERFORMANCE"] == "0"
    assert built.initializer["resources"]["limits"] == {"cpu": "1", "memory": "8Gi"}


def test_a_secret_replaces_the_variable_that_the_user_set(bench) -> None:
    """KServe repeats the variable, of which the kubelet heeds the last; here it is there once."""
    own = {"name": "storage-initializer", "env": [{"name": "HF_TOKEN", "value": "mine"}]}
    accounts, secrets = (account("default", "hub"),), (secret("hub", "HF_TOKEN"),)
    built = build(bench, single(template=pod(initContainers=[own])), accounts=accounts, secrets=secrets)
    assert env_of(built.initializer) == {"HF_TOKEN": "hub", **HUB}


@pytest.mark.parametrize(
    ("spec", "reader"),
    [
        (single(), "default"),
        (single(template=pod(serviceAccountName="runner")), "runner"),
        (group(), "default"),
        ({**group(), "template": pod(serviceAccountName="runner")}, "runner"),
    ],
)
def test_credentials_are_those_of_the_account(bench, spec, reader) -> None:
    """A generated account has the Secrets of `default`, and so has a pod that names none."""
    accounts = (account("default", "default-hub"), account("runner", "runner-hub"))
    secrets = (secret("default-hub", "HF_TOKEN"), secret("runner-hub", "HF_TOKEN"))
    built = build(bench, spec, accounts=accounts, secrets=secrets)
    assert env_of(built.initializer)["HF_TOKEN"] == f"{reader}-hub"


def test_a_generated_account_has_no_role_in_the_cloud(bench) -> None:
    """Its annotations are not those of `default`; a pod of one node that runs as `default` has that role."""
    role = {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/reader", "serving.kserve.io/s3-region": "eu-north-1"}
    accounts = (account("default", annotations=role),)
    spec = {"model": model("s3://bucket/tiny")}
    assert "AWS_DEFAULT_REGION" in env_of(build(bench, {**single(), **spec}, accounts=accounts).initializer)
    assert "AWS_DEFAULT_REGION" not in env_of(build(bench, {**group(), **spec}, accounts=accounts).initializer)


def test_a_service_may_name_the_secret(bench) -> None:
    """The annotation that the platform agreed on counts, even where no account is declared."""
    named_secret = {"serving.kserve.io/storageSecretName": "hub"}
    built = build(bench, single(), annotations=named_secret, secrets=(secret("hub", "HF_TOKEN"),))
    assert env_of(built.initializer)["HF_TOKEN"] == "hub"  # noqa: S105 - the name of a Secret


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (single(), False),
        (single(model=model("s3://bucket/tiny")), True),
        (single(model=model(MODEL, lora={"adapters": [{"name": "a", "uri": "hf://acme/a"}]})), True),
    ],
)
def test_the_ca_bundle(bench, spec, expected) -> None:
    """Downloads get it, but for one of a model alone from the hub; the namespace gets a copy in any case."""
    settings = {"caBundleConfigMapName": "bundle"}
    maps = {("kserve", "bundle"): {"cabundle.crt": "certificates"}}
    built = build(bench, spec, storage=settings, config_maps=maps)
    assert ("CA_BUNDLE_CONFIGMAP_NAME" in env_of(built.initializer)) is expected
    assert (named_or_none(built.pod["volumes"], "cabundle-cert") is not None) is expected
    assert built.of("ConfigMap")["data"] == {"cabundle.crt": "certificates"}


def named_or_none(items, name):
    """The item of a name, or None."""
    return next((item for item in items if item["name"] == name), None)


def test_a_download_comes_from_the_uri(bench) -> None:
    """The origin of what downloads a model is its URI."""
    built = build(bench, single())
    at = ("spec", "template", "spec", "initContainers", "storage-initializer")
    assert built.written("Deployment", "chat-kserve", *at) == "spec.model.uri"


def test_a_confidential_model(bench) -> None:
    """The download container is told where the key is."""
    resource = "kbs:///models/key/1"
    built = build(bench, single(model=model(MODEL, confidential={"enabled": True, "resourceId": resource})))
    told = {"CONFIDENTIAL_ENABLED": "true", "CONFIDENTIAL_RESOURCE_ID": resource}
    assert env_of(built.initializer).items() >= told.items()


def test_a_claim_is_mounted(bench) -> None:
    """Nothing is downloaded, and wishes about a download are dropped."""
    template = pod(initContainers=[{"name": "storage-initializer"}])
    built = build(bench, single(model=model("pvc://models/tiny/1"), template=template))
    assert built.pod["initContainers"] == []
    claim = {"name": "kserve-pvc-source", "persistentVolumeClaim": {"claimName": "models"}}
    assert built.pod["volumes"] == [claim]
    mounted = {"name": "kserve-pvc-source", "mountPath": "/mnt/models", "subPath": "tiny/1", "readOnly": True}
    assert built.server["volumeMounts"] == [mounted]


@pytest.mark.parametrize("source", ["hf://acme", "hf://acme/"])
def test_a_copy_on_the_nodes_is_mounted(bench, source) -> None:
    """A service with a local model cache reads the copy, at the part of the URI that goes beyond the cached one."""
    internal = "internal.serving.kserve.io/localmodel"
    annotations = {f"{internal}-sourceuri": source, f"{internal}-pvc-name": "cache-gpu"}
    built = build(bench, single(), labels={internal: "cache"}, annotations=annotations)
    assert named(built.pod["volumes"], "kserve-pvc-source")["persistentVolumeClaim"] == {"claimName": "cache-gpu"}
    assert built.server["volumeMounts"][0]["subPath"].split("/")[2:] == ["tiny"]
    assert built.of("Deployment")["metadata"]["labels"][internal] == "cache"
    assert "annotations" not in built.of("Deployment")["metadata"]


def test_a_model_beside_the_cache_is_downloaded(bench) -> None:
    """A base config may name another model than the service whose URI lies in the cache."""
    internal = "internal.serving.kserve.io/localmodel"
    annotations = {f"{internal}-sourceuri": "hf://other", f"{internal}-pvc-name": "cache-gpu"}
    built = build(bench, single(), labels={internal: "cache"}, annotations=annotations)
    assert built.initializer["args"] == [MODEL, "/mnt/models"]


@pytest.mark.parametrize("mode", ["modelcar", "fetch"])
def test_an_image_comes_beside_the_server(bench, mode) -> None:
    """Also where the platform fetches images for InferenceServices, for KServe does not do that here."""
    built = build(bench, single(model=model("oci://registry.example.com/tiny:1")), storage={"ociModelMode": mode})
    assert [c["name"] for c in built.pod["containers"]] == ["main", "modelcar"]
    assert built.pod["shareProcessNamespace"] is True
    assert mounts(built.server) == {"/mnt": "kserve-provision-location"}


def test_a_container_of_that_name_is_left_alone(bench) -> None:
    """A user's own modelcar stays the only one; the server is prepared for it all the same."""
    own = [{"name": "main", "image": "x:1"}, {"name": "modelcar", "image": "mine:1"}]
    built = build(bench, single(model=model("oci://registry.example.com/tiny:1"), template={"containers": own}))
    assert [(c["name"], c["image"]) for c in built.pod["containers"]] == [("main", "x:1"), ("modelcar", "mine:1")]
    assert "initContainers" not in built.pod
    assert built.server["securityContext"] == {"runAsUser": 1010}


@pytest.mark.parametrize(("uri", "mode"), [("oci+native://r.example.com/t:1", "modelcar"), ("oci://r/t:1", "native")])
def test_an_image_is_mounted(bench, uri, mode) -> None:
    """By its URI, or by the platform's choice."""
    built = build(bench, single(model=model(uri)), storage={"ociModelMode": mode})
    assert named(built.pod["volumes"], "mnt-models")["image"]["reference"] == uri.partition("://")[2]


def test_nothing_is_brought_in_where_that_is_switched_off(bench) -> None:
    """The pod stays as it is, with space for the cache if that is wanted."""
    tiers = {"cpu": "1Gi", "secondary": [{"fileSystem": {"emptyDir": {"size": "5Gi"}}}]}
    spec = single(storageInitializer={"enabled": False}, kvCacheOffloading=tiers)
    built = build(bench, spec)
    assert "initContainers" not in built.pod
    assert mounts(built.server) == {"/mnt/kv-cache-0": "kv-cache-secondary-0"}


@pytest.mark.parametrize(
    ("spec", "slug"),
    [
        (single(model=model("gs://bucket/tiny")), "llm/model-uri"),
        (single(model=model("oci+modelcar://r.example.com/t:1")), "llm/model-uri"),
        (single(model=model("models/tiny")), "llm/model-uri"),
        (single(model=model("models/tiny"), storageInitializer={"enabled": False}), "llm/model-uri"),
        (single(model=model("oci://r.example.com/t:1"), template={"containers": [{"name": "x"}]}), "llm/no-server"),
        (
            single(
                model=model("oci+native://r.example.com/t:1"),
                template={
                    "containers": [{"name": "main", "volumeMounts": [{"name": "x", "mountPath": "/mnt/models"}]}]
                },
            ),
            "storage/path-taken",
        ),
    ],
)
def test_models_that_cannot_be_had(bench, spec, slug) -> None:
    """The finding is at the value that asks for it."""
    built = build(bench, spec)
    assert built.slugs == [slug]
    assert built.diagnostics[0].span is not None


def test_images_need_a_platform_that_brings_them_in(bench) -> None:
    """Without a mode there is no way."""
    built = build(bench, single(model=model("oci://r.example.com/t:1")), storage={"enableModelcar": False})
    assert built.slugs == ["llm/no-image-mode"]


def test_a_download_needs_no_server(bench) -> None:
    """Where no container is named main, KServe downloads and mounts nothing anywhere."""
    built = build(bench, single(template={"containers": [{"name": "other", "image": "x:1"}]}))
    assert built.slugs == []
    assert "volumeMounts" not in built.pod["containers"][0]


def test_adapters_beside_an_image_are_seen_by_the_server(bench) -> None:
    """The download container mounts the volume where the server has it; KServe mounts it further down."""
    adapters = [{"name": "a", "uri": "hf://acme/a"}]
    uri = "oci://registry.example.com/tiny:1"
    built = build(bench, single(model=model(uri, lora={"adapters": adapters})))
    assert built.initializer["args"] == ["hf://acme/a", "/mnt/lora/a"]
    assert mounts(built.initializer) == mounts(built.server) == {"/mnt": "kserve-provision-location"}
