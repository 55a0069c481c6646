"""Local models: what caches and node groups become, and which copy a service reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests import libyaml

from kservec.api import Compilation, Target, compile_text
from kservec.core.models.node_placement import may_meet
from kservec.io.reading import File

POOL = "pool.example.com/name"
ENABLED = {"localModel": {"enabled": True}}
V1ALPHA1 = "serving.kserve.io/v1alpha1"


def group(
    name: str, *, pool: str = "", volume: Mapping[str, Any] | None = None, claim: Any = None, limit: str = "100Gi"
) -> dict[str, Any]:
    """A node group with volumes on the nodes of a pool of its own name."""
    wanted = {"matchExpressions": [{"key": POOL, "operator": "In", "values": [pool or name]}]}
    volume_spec: dict[str, Any] = {
        "accessModes": ["ReadWriteOnce"],
        "capacity": {"storage": "100Gi"},
        "hostPath": {"path": "/models"},
        "storageClassName": "local",
        "nodeAffinity": {"required": {"nodeSelectorTerms": [wanted]}},
        **(volume or {}),
    }
    claim_spec = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "100Gi"}},
        "storageClassName": "local",
        **(claim or {}),
    }
    volume_spec = {field: value for field, value in volume_spec.items() if value is not None}
    spec = {"storageLimit": limit, "persistentVolumeSpec": volume_spec, "persistentVolumeClaimSpec": claim_spec}
    return {"apiVersion": V1ALPHA1, "kind": "LocalModelNodeGroup", "metadata": {"name": name}, "spec": spec}


def cache(name: str = "fraud", namespace: str = "", **spec: Any) -> dict[str, Any]:
    """A cache of s3://models/fraud on the nodes of the groups small and large."""
    kind = "LocalModelNamespaceCache" if namespace else "LocalModelCache"
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    held = {"sourceModelUri": "s3://models/fraud", "modelSize": "2Gi", "nodeGroups": ["small", "large"], **spec}
    return {"apiVersion": V1ALPHA1, "kind": kind, "metadata": metadata, "spec": held}


def service(uri: str = "s3://models/fraud/v3", namespace: str = "ml", **predictor: Any) -> dict[str, Any]:
    """A service in Standard mode; annotations are taken out of the predictor's fields."""
    annotations = {"serving.kserve.io/deploymentMode": "Standard", **predictor.pop("annotations", {})}
    metadata = {"name": "fraud", "namespace": namespace, "annotations": annotations}
    model = {"modelFormat": {"name": "sklearn"}, "storageUri": uri}
    head = {"apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "metadata": metadata}
    return {**head, "spec": {"predictor": {"model": model, **predictor}}}


def cluster(**sections: Any) -> dict[str, Any]:
    """Fields laid over KServe's configuration."""
    return {"apiVersion": "kservec.dev/v1alpha1", "kind": "Cluster", "inferenceServiceConfig": sections}


GROUPS = (group("small"), group("large"))


def compiled(*documents: Any, platform: tuple[Any, ...] = (*GROUPS, cluster(**ENABLED))) -> Compilation:
    """What documents lead to."""
    text = libyaml.dump_all(platform).encode()
    return compile_text(libyaml.dump_all(documents), target=Target(platform=(File("platform.yaml", text),)))


def objects(compilation: Compilation, kind: str) -> dict[str, Any]:
    """The objects of a kind, by namespace and name."""
    assert compilation.ok, compilation.diagnostics
    found = (o for o in compilation.objects if o.ref.kind == kind)
    return {"/".join(filter(None, o.ref[2:])): libyaml.load(o.text) for o in found}


def slugs(compilation: Compilation) -> list[str]:
    """The codes of all findings but notes about context, in the order of the input."""
    return [d.code.slug for d in compilation.diagnostics if d.code.slug != "input/context"]


def pod(compilation: Compilation) -> Any:
    """The pod of the service's predictor."""
    return objects(compilation, "Deployment")["ml/fraud-predictor"]["spec"]["template"]["spec"]


def claims(compilation: Compilation) -> list[str]:
    """The claims that the predictor's pods mount."""
    volumes = pod(compilation).get("volumes", ())
    return [v["persistentVolumeClaim"]["claimName"] for v in volumes if "persistentVolumeClaim" in v]


def test_a_cache_of_the_cluster() -> None:
    """Each node group gets a volume, a claim in the namespace of downloads that names it, and a DaemonSet."""
    made = compiled(cache())
    assert sorted(objects(made, "PersistentVolume")) == ["fraud-large-download", "fraud-small-download"]
    held = objects(made, "PersistentVolumeClaim")
    assert held["kserve-localmodel-jobs/fraud-small"]["spec"]["volumeName"] == "fraud-small-download"
    assert sorted(objects(made, "DaemonSet")) == [f"kserve-localmodel-jobs/fraud-{g}" for g in ("large", "small")]


def test_a_cache_of_a_namespace() -> None:
    """Everything for downloads carries the cache's namespace in its name, for claims of many namespaces meet there."""
    made = compiled(cache(namespace="ml", nodeGroups=["small"]))
    assert list(objects(made, "PersistentVolume")) == ["fraud-small-ml-download"]
    assert list(objects(made, "PersistentVolumeClaim")) == ["kserve-localmodel-jobs/fraud-small-ml-download"]
    (found,) = objects(made, "DaemonSet").values()
    assert found["spec"]["selector"]["matchLabels"] == {
        "kind": "LocalModelNamespaceCache",
        "model": "fraud",
        "modelNamespace": "ml",
        "nodeGroup": "small",
    }


def test_the_downloader() -> None:
    """The pods of a DaemonSet go where the volume is, whatever taints are there, download once, and idle."""
    (found,) = objects(compiled(cache(nodeGroups=["small"])), "DaemonSet").values()
    made = found["spec"]["template"]["spec"]
    terms = GROUPS[0]["spec"]["persistentVolumeSpec"]["nodeAffinity"]["required"]
    assert made["affinity"]["nodeAffinity"] == {"requiredDuringSchedulingIgnoredDuringExecution": terms}
    assert made["tolerations"] == [{"operator": "Exists"}]
    assert made["securityContext"]["fsGroup"] == 1000
    assert "serviceAccountName" not in made
    (download,), (idle,) = made["initContainers"], made["containers"]
    assert download["args"] == ["s3://models/fraud", "/mnt/models"]
    (mount,) = download["volumeMounts"]
    assert mount == {"mountPath": "/mnt/models", "name": "kserve-pvc-source", "subPath": "models/a26e561459929284"}
    assert "volumeMounts" not in idle
    assert all(c["securityContext"]["runAsNonRoot"] for c in (download, idle))


def test_downloads_take_a_container_that_is_made_for_them() -> None:
    """Of the ClusterStorageContainers only those for such jobs count; what they say of security wins."""
    container = {"name": "c", "image": "fetch:1", "securityContext": {"runAsUser": 0, "runAsNonRoot": False}}
    made_for = {"workloadType": "localModelDownloadJob", "supportedUriFormats": [{"prefix": "s3://"}]}
    kind = {"apiVersion": V1ALPHA1, "kind": "ClusterStorageContainer"}
    job = {**kind, "metadata": {"name": "job"}, "spec": {"container": container, **made_for}}
    made = compiled(cache(nodeGroups=["small"]), platform=(*GROUPS, cluster(**ENABLED), job))
    (found,) = objects(made, "DaemonSet").values()
    (download,) = found["spec"]["template"]["spec"]["initContainers"]
    assert download["image"] == "fetch:1"
    assert download["securityContext"]["runAsUser"] == 0
    assert "allowPrivilegeEscalation" not in download["securityContext"]


ACCOUNT = {
    "apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader", "namespace": "kserve-localmodel-jobs"},
    "secrets": [{"name": "hf"}],
}  # fmt: skip
TOKEN = {
    "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "hf", "namespace": "kserve-localmodel-jobs"},
    "stringData": {"HF_TOKEN": ""},
}  # fmt: skip
STORE = {
    "apiVersion": "v1", "kind": "Secret",
    "metadata": {"name": "storage-config", "namespace": "kserve-localmodel-jobs"},
    "stringData": {"warehouse": '{"type": "s3", "bucket": "models"}'},
}  # fmt: skip


def variables(compilation: Compilation) -> dict[str, Any]:
    """The environment of the download container."""
    found = next(iter(objects(compilation, "DaemonSet").values()))
    (download,) = found["spec"]["template"]["spec"]["initContainers"]
    return {entry["name"]: entry.get("valueFrom") or entry["value"] for entry in download["env"]}


def test_credentials_come_from_the_namespace_of_downloads() -> None:
    """A ServiceAccount that the cache names gives its Secrets, as for services; without a name none are taken."""
    platform = (*GROUPS, cluster(**ENABLED), ACCOUNT, TOKEN)
    made = compiled(cache(serviceAccountName="reader"), platform=platform)
    assert variables(made)["HF_TOKEN"] == {"secretKeyRef": {"key": "HF_TOKEN", "name": "hf"}}
    default = {**ACCOUNT, "metadata": {**ACCOUNT["metadata"], "name": "default"}}
    assert "HF_TOKEN" not in variables(compiled(cache(), platform=(*GROUPS, cluster(**ENABLED), default, TOKEN)))


@pytest.mark.parametrize(("declared", "found"), [((STORE,), []), ((), ["localmodel/secret-assumed"] * 2)])
def test_a_key_of_the_storage_secret(declared: tuple[Any, ...], found: list[str]) -> None:
    """The download gets the entry by reference, with a warning where nothing declares the Secret."""
    wanted = {"key": "warehouse", "parameters": {"region": "eu-1"}}
    made = compiled(cache(storage=wanted), platform=(*GROUPS, cluster(**ENABLED), *declared))
    assert variables(made)["STORAGE_CONFIG"] == {"secretKeyRef": {"key": "warehouse", "name": "storage-config"}}
    assert variables(made)["STORAGE_OVERRIDE_CONFIG"] == '{"region":"eu-1"}'
    assert slugs(made) == found[:1]


def test_parameters_without_a_key_have_no_effect() -> None:
    """KServe reads parameters only beside a key."""
    assert slugs(compiled(cache(storage={"parameters": {"region": "eu-1"}}))) == ["spec/without-effect"]


@pytest.mark.parametrize(
    ("given", "platform", "slug"),
    [
        (cache(nodeGroups=["smal"]), GROUPS, "localmodel/no-such-group"),
        (cache(namespace="ml", nodeGroups=["x"]), GROUPS, "localmodel/no-such-group"),
        (cache(sourceModelUri="pvc://a/b"), GROUPS, "localmodel/not-downloadable"),
        (cache(sourceModelUri="/a/b"), GROUPS, "localmodel/not-downloadable"),
        (cache(sourceModelUri="warehouse://a/b"), GROUPS, "localmodel/not-downloadable"),
        (cache(modelSize="101Gi", nodeGroups=["small"]), GROUPS, "localmodel/too-large"),
        (cache(modelSize="10m"), GROUPS, "output/quantity-odd"),
        (cache(nodeGroups=["s"], modelSize="0"), (group("s", limit="500m"),), "output/quantity-odd"),
        (cache(nodeGroups=["s"]), (group("s", claim={"storageClassName": "x"}),), "localmodel/cannot-bind"),
        (cache(nodeGroups=["s"]), (group("s", claim={"volumeMode": "Block"}),), "localmodel/cannot-bind"),
        (cache(nodeGroups=["s"]), (group("s", claim={"accessModes": ["ReadOnlyMany"]}),), "localmodel/cannot-bind"),
        (cache(nodeGroups=["s"]), (group("s", volume={"capacity": {"storage": "99Gi"}}),), "localmodel/cannot-bind"),
        (cache(nodeGroups=["s"]), (group("s", volume={"nodeAffinity": None}),), "localmodel/every-node"),
        (cache(nodeGroups=["s"]), (group("s", volume={"accessModes": []}),), "volume/incomplete"),
        (cache(nodeGroups=["s"]), (group("s", volume={"hostPath": {"path": "/a/../b"}}),), "volume/incomplete"),
        (cache(nodeGroups=["s"]), (group("s", volume={"local": {"path": "/a"}}),), "volume/incomplete"),
    ],
)  # fmt: skip
def test_what_is_said_of_a_cache(given: Any, platform: tuple[Any, ...], slug: str) -> None:
    """What can never work is refused, what fails at run time is warned of."""
    assert slug in slugs(compiled(given, platform=(*platform, cluster(**ENABLED))))


def test_two_caches_of_one_uri() -> None:
    """Caches of the cluster share no URI; a namespace may have its own."""
    assert slugs(compiled(cache("a"), cache("b"))) == ["localmodel/same-uri"] * 2
    assert compiled(cache("a"), cache("b", "ml")).ok


def test_the_room_of_a_node_group() -> None:
    """Sizes add up by name; a URI that two caches share takes its room once."""
    big = {"modelSize": "60Gi", "nodeGroups": ["small"]}
    assert slugs(compiled(cache("a", **big), cache("b", "ml", **big))) == []
    found = compiled(cache("a", **big), cache("b", sourceModelUri="s3://models/other", **big))
    assert slugs(found) == ["localmodel/too-large"]
    assert [d.subject.name for d in found.diagnostics if d.subject] == ["b"]


def test_the_namespace_of_downloads_is_the_platforms() -> None:
    """The platform says where downloads run, and which group their files belong to."""
    section = {"enabled": True, "jobNamespace": "downloads", "fsGroup": 2000}
    made = compiled(cache(nodeGroups=["small"]), platform=(*GROUPS, cluster(localModel=section)))
    found = objects(made, "DaemonSet")["downloads/fraud-small"]
    assert found["spec"]["template"]["spec"]["securityContext"]["fsGroup"] == 2000
    assert "downloads/fraud-small" in objects(made, "PersistentVolumeClaim")


def test_a_service_reads_the_copy_on_its_node() -> None:
    """Its claim leads to the cached folder; volume and claim are made for the namespace and shared by its services."""
    made = compiled(service(), cache())
    assert claims(made) == ["fraud-small"]
    (mount,) = [m for c in pod(made)["containers"] for m in c["volumeMounts"]]
    assert (mount["subPath"], mount["readOnly"]) == ("models/a26e561459929284/v3", True)
    assert "initContainers" not in pod(made)
    assert objects(made, "PersistentVolumeClaim")["ml/fraud-small"]["spec"]["volumeName"] == "fraud-small-ml"
    assert {o.path for o in made.objects if o.shared} == {
        "_cluster/persistentvolume-fraud-small-ml.yaml", "ml/_shared/persistentvolumeclaim-fraud-small.yaml"
    }  # fmt: skip


def test_the_cache_may_belong_to_the_platform() -> None:
    """A service uses a cache that another build compiles: it gets its own volumes, and no downloads."""
    made = compiled(service(), platform=(*GROUPS, cluster(**ENABLED), cache()))
    assert claims(made) == ["fraud-small"]
    assert list(objects(made, "PersistentVolume")) == ["fraud-small-ml"]
    assert objects(made, "DaemonSet") == {}


@pytest.mark.parametrize(
    ("predictor", "claim", "found"),
    [
        ({}, "fraud-small", []),
        ({"nodeSelector": {POOL: "large"}}, "fraud-large", []),
        ({"nodeSelector": {"disk": "ssd"}}, "fraud-small", []),
        ({"annotations": {"serving.kserve.io/nodegroup": "large"}}, "fraud-large", []),
        ({"nodeSelector": {POOL: "cpu"}}, "", ["localmodel/out-of-reach"]),
        (
            {"nodeSelector": {POOL: "small"}, "annotations": {"serving.kserve.io/nodegroup": "large"}},
            "fraud-large",
            ["localmodel/out-of-reach"],
        ),
    ],
    ids=["first", "by selector", "another label", "asked for", "none fits", "asked for, elsewhere"],
)
def test_the_copy_is_where_the_pods_may_run(predictor: Any, claim: str, found: list[str]) -> None:
    """Unless the service names a node group, it reads from the first that its pods are not kept away from."""
    made = compiled(service(**predictor), cache())
    assert claims(made) == ([claim] if claim else [])
    own = [k for k in objects(made, "PersistentVolumeClaim") if k.startswith("ml/")]
    assert own == ([f"ml/{claim}"] if claim else [])
    assert ("initContainers" in pod(made)) is not bool(claim)
    assert slugs(made) == found


def test_a_cache_without_a_declared_node_group() -> None:
    """Volumes cannot be made from a node group that nothing declares."""
    assert slugs(compiled(service(), platform=(cluster(**ENABLED), cache()))) == ["localmodel/group-not-declared"]


@pytest.mark.parametrize(
    ("section", "claim", "volumes"),
    [
        ({}, "", 2),
        ({"enabled": True, "disableVolumeManagement": True}, "fraud-small", 2),
        ({"enabled": True}, "fraud-small", 3),
    ],
    ids=["not enabled", "volumes made by others", "enabled"],
)
def test_the_platform_decides_about_caches(section: Any, claim: str, volumes: int) -> None:
    """Without `enabled` services read no copies; with `disableVolumeManagement` others make their volumes."""
    made = compiled(service(), cache(), platform=(*GROUPS, cluster(localModel=section)))
    assert claims(made) == ([claim] if claim else [])
    assert len(objects(made, "PersistentVolume")) == volumes
    assert ("localmodel/not-enabled" in slugs(made)) is not bool(section)


@pytest.mark.parametrize(
    ("wanted", "operator", "values", "meets"),
    [
        ({POOL: "a"}, "In", ["a", "b"], True),
        ({POOL: "c"}, "In", ["a", "b"], False),
        ({POOL: "a"}, "NotIn", ["a"], False),
        ({POOL: "b"}, "NotIn", ["a"], True),
        ({POOL: "a"}, "Exists", [], True),
        ({POOL: "a"}, "DoesNotExist", [], False),
        ({}, "DoesNotExist", [], True),
        ({POOL: "8"}, "Gt", ["4"], True),
        ({POOL: "8"}, "Lt", ["4"], False),
        ({POOL: "x"}, "Gt", ["4"], False),
    ],
)
def test_labels_that_speak_against_a_node(wanted: Any, operator: str, values: list[str], meets: bool) -> None:
    """A volume's expression is held against what a pod selects; what the pod does not say may be anything."""
    terms = [{"matchExpressions": [{"key": POOL, "operator": operator, "values": values}]}]
    volume = {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}
    assert may_meet({"nodeSelector": wanted}, volume) is meets


def test_affinity_counts_as_a_selector_does() -> None:
    """One of the pod's terms has to go with one of the volume's; a term narrows what the selector leaves."""
    terms = [{"matchExpressions": [{"key": POOL, "operator": "In", "values": v}]} for v in (["a", "b"], ["c"])]
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
    volume = group("x", pool="c")["spec"]["persistentVolumeSpec"]
    assert may_meet({"affinity": affinity}, volume)
    assert not may_meet({"affinity": affinity, "nodeSelector": {POOL: "a"}}, volume)
    assert may_meet({"nodeSelector": {POOL: "a"}}, {"hostPath": {"path": "/models"}})
