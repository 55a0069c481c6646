"""What an API server refuses in code: each check finds its fault, at its place, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.diagnostics import Severity
from kservec.core.pods.image_names import is_reference
from kservec.core.validity.image_validity import image_faults, may_be_image
from kservec.core.validity.object_validity import object_faults, template_faults
from kservec.core.validity.pod_validity import pod_faults
from kservec.core.validity.reference_names import reference_faults

SOUND: dict[str, Any] = {
    "containers": [
        {
            "name": "kserve-container",
            "image": "registry.example.com/model:1",
            "env": [
                {"name": "A", "value": "1"},
                {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            ],
            "ports": [
                {"containerPort": 8080, "name": "http1"},
                {"containerPort": 8080, "name": "udp1", "protocol": "UDP"},
            ],
            "readinessProbe": {"tcpSocket": {"port": 8080}},
            "livenessProbe": {"exec": {"command": ["true"]}},
            "resources": {
                "requests": {"cpu": "500m", "memory": "1Gi", "nvidia.com/gpu": "1"},
                "limits": {"cpu": "1", "memory": "1024Mi", "nvidia.com/gpu": 1},
            },
            "volumeMounts": [{"name": "models", "mountPath": "/mnt/models"}],
        }
    ],
    "initContainers": [{"name": "storage-initializer", "image": "registry.example.com/init:1"}],
    "volumes": [{"name": "models", "emptyDir": {}}],
}
SERVING = ("containers", "kserve-container")


def with_container(**fields: Any) -> dict[str, Any]:
    """The sound pod with fields of its serving container replaced."""
    return {**SOUND, "containers": [{**SOUND["containers"][0], **fields}]}


FAULTY: dict[str, tuple[dict[str, Any], str]] = {
    "no container": ({**SOUND, "containers": []}, "pod/missing-value"),
    "two containers of one name": (
        {**SOUND, "containers": [*SOUND["containers"], *SOUND["containers"]]},
        "pod/repeated",
    ),
    "an init container of a container's name": (
        {**SOUND, "initContainers": [{"name": "kserve-container", "image": "i"}]},
        "pod/repeated",
    ),
    "two volumes of one name": (
        {**SOUND, "volumes": [{"name": "models", "emptyDir": {}}, {"name": "models", "emptyDir": {}}]},
        "pod/repeated",
    ),
    "a volume with two sources": (
        {**SOUND, "volumes": [{"name": "models", "emptyDir": {}, "configMap": {"name": "c"}}]},
        "pod/not-exactly-one",
    ),
    "a mount of no volume": ({**SOUND, "volumes": []}, "pod/no-volume"),
    "two mounts at one path": (
        with_container(volumeMounts=[{"name": "models", "mountPath": "/m"}, {"name": "models", "mountPath": "/m"}]),
        "pod/repeated",
    ),
    "a variable with value and source": (
        with_container(env=[{"name": "A", "value": "1", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]),
        "pod/not-exactly-one",
    ),
    "a variable twice": (
        with_container(env=[{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]),
        "pod/repeated",
    ),
    "a port twice": (
        with_container(ports=[{"containerPort": 8080}, {"containerPort": 8080, "protocol": "TCP"}]),
        "pod/repeated",
    ),
    "a port name in capitals": (with_container(ports=[{"containerPort": 9000, "name": "GRPC"}]), "pod/invalid-name"),
    "a request over its limit": (
        with_container(resources={"requests": {"cpu": "1"}, "limits": {"cpu": "900m"}}),
        "pod/request-over-limit",
    ),
    "a GPU requested without a limit": (
        with_container(resources={"requests": {"nvidia.com/gpu": "1"}}),
        "pod/request-over-limit",
    ),
    "a probe with two handlers": (
        with_container(readinessProbe={"tcpSocket": {"port": 80}, "httpGet": {"port": 80}}),
        "pod/not-exactly-one",
    ),
    "a probe without a handler": (with_container(livenessProbe={"periodSeconds": 5}), "pod/not-exactly-one"),
    "a container name with a space": (with_container(name="kserve-container "), "pod/invalid-name"),
    "another restart policy": ({**SOUND, "restartPolicy": "OnFailure"}, "pod/not-for-deployments"),
    "a deadline": ({**SOUND, "activeDeadlineSeconds": 60}, "pod/not-for-deployments"),
}


def test_a_sound_pod_has_no_fault() -> None:
    """A pod that uses everything the checks look at, correctly, passes."""
    assert list(pod_faults(SOUND)) == []


@pytest.mark.parametrize(("fields", "slugs"), [({}, []), ({"name": "A"}, ["pod/invalid-name"])])
def test_a_port_without_a_number_is_left_to_the_schema(fields: dict[str, Any], slugs: list[str]) -> None:
    """The structure of an object is looked at after its rules, which have to get by without it."""
    pod = with_container(ports=[{"name": "http"}, {"name": "grpc"}], **fields)
    assert [fault.code.slug for fault in pod_faults(pod)] == slugs


@pytest.mark.parametrize("title", FAULTY)
def test_a_fault_is_found(title: str) -> None:
    """Each fault is found, under its code, and no other code."""
    pod, slug = FAULTY[title]
    assert {f.code.slug for f in pod_faults(pod)} == {slug}


@pytest.mark.parametrize(
    ("image", "fine"),
    [
        ("i", True),
        ("i:1", True),
        ("kserve/sklearnserver:v0.21.0", True),
        ("localhost/a__b/c--d.e", True),
        ("Registry.Example.com:5000/a/b:T_1.x@sha256:" + "0" * 64, True),
        ("[2001:db8::1]:5000/a", True),
        ("a@sha512:" + "0" * 128, True),
        ("registry/x y", False),
        ("<registry>/server:1", False),
        ("repo/Server:1", False),
        ("a:", False),
        ("a:" + "t" * 129, False),
        ("a@sha256:0", False),
        ("a//b", False),
        ("a/b/", False),
        ("a-/b", False),
        ("a:$(TAG)", False),
        ("https://registry/a", False),
        ("a\n", False),
        ("ä", False),
        ("0" * 64, False),
        ("a" * 801, False),
        ("-" * 100_000, False),
    ],
)
def test_names_of_images(image: str, fine: bool) -> None:
    """What a node can pull by: names as Docker reads them."""
    assert is_reference(image) is fine


@pytest.mark.parametrize(
    ("pod", "path"),
    [
        ({"containers": [{"name": "a", "image": "A:1"}]}, ("containers", "a", "image")),
        ({"initContainers": [{"name": "a", "image": "A:1"}]}, ("initContainers", "a", "image")),
        ({"volumes": [{"name": "m", "image": {"reference": "A:1"}}]}, ("volumes", "m", "image", "reference")),
    ],
)
def test_images_that_no_node_can_pull(pod: dict[str, Any], path: tuple[str, ...]) -> None:
    """They are found wherever a pod has images, in whatever holds the pod, as warnings; a missing one is not."""
    (fault,) = image_faults(pod)
    assert (fault.code.slug, fault.code.severity, fault.path) == ("pod/image", Severity.WARNING, path)
    assert "'A:1'" in fault.message
    assert not list(image_faults({"containers": [{"name": "a"}], "volumes": [{"name": "m", "emptyDir": {}}]}))
    below = [f.path for f in template_faults({"spec": {"containers": [], **pod}}) if f.code is fault.code]
    assert below == [("spec", "template", "spec", *path)]


@pytest.mark.parametrize(
    ("image", "fine"),
    [
        ("a/${region}/b:${tag}", True),
        ("${registry}/b", True),
        ("a/${b c}", False),
        ("A/B:${tag}", False),
        ("$a", False),
    ],
)
def test_variables_in_names_of_images(image: str, fine: bool) -> None:
    """What is filled in when a tree is applied is nothing that nobody filled in."""
    assert may_be_image(image) is fine


def deployment(**fields: Any) -> dict[str, Any]:
    """A Deployment around the sound pod."""
    template = {"metadata": {"labels": {"app": "isvc.iris-predictor"}}, "spec": SOUND}
    return {"metadata": {"name": "iris-predictor"}, "spec": {"template": template, **fields}}


@pytest.mark.parametrize(
    ("rolling", "slugs"),
    [
        ({"maxSurge": "25%", "maxUnavailable": 0}, []),
        ({"maxSurge": 1, "maxUnavailable": "0%"}, []),
        ({"maxSurge": "1", "maxUnavailable": "25%"}, ["output/rollout-number"]),
        ({"maxSurge": 0, "maxUnavailable": "0%"}, ["output/rollout-number"]),
    ],
)
def test_rollout_numbers(rolling: dict[str, Any], slugs: list[str]) -> None:
    """Digits as text, and two zeros, are found."""
    body = deployment(strategy={"type": "RollingUpdate", "rollingUpdate": rolling})
    assert [f.code.slug for f in object_faults("apps/v1", "Deployment", body)] == slugs


def test_a_long_label_is_found() -> None:
    """The label `app` is derived from the name and may be too long where the name is not."""
    body = deployment()
    body["spec"]["template"]["metadata"] = {"labels": {"app": "isvc." + "x" * 59}}
    assert [f.code.slug for f in object_faults("apps/v1", "Deployment", body)] == ["output/long-label"]


def test_a_service_name_is_a_dns_label() -> None:
    """63 characters are the most a Service's name may have."""
    for length, slugs in ((63, []), (64, ["output/long-name"])):
        body = {"metadata": {"name": "x" * length}, "spec": {"ports": [{"port": 80}]}}
        assert [f.code.slug for f in object_faults("v1", "Service", body)] == slugs


def test_other_kinds_have_no_checks_here() -> None:
    """A kind without code of its own is left to its schema."""
    assert list(object_faults("v1", "ConfigMap", {"metadata": {"name": "x"}})) == []


def test_pods_of_groups_are_looked_at() -> None:
    """A LeaderWorkerSet is a custom resource, so nobody but its controller would notice; a leader may be missing."""
    broken = {"metadata": {"labels": {}}, "spec": {**SOUND, "volumes": []}}
    sound = {"metadata": {"labels": {}}, "spec": SOUND}
    group = {"spec": {"leaderWorkerTemplate": {"leaderTemplate": sound, "workerTemplate": broken}}}
    faults = list(object_faults("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", group))
    assert faults
    assert all(f.path[:4] == ("spec", "leaderWorkerTemplate", "workerTemplate", "spec") for f in faults)
    alone = {"spec": {"leaderWorkerTemplate": {"workerTemplate": sound}}}
    assert list(object_faults("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", alone)) == []


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ({"persistentVolumeClaim": {"claimName": "My_Claim"}}, ("persistentVolumeClaim", "claimName")),
        ({"persistentVolumeClaim": {"claimName": "<name-of-pvc>"}}, ("persistentVolumeClaim", "claimName")),
        ({"persistentVolumeClaim": {"claimName": "a" * 254}}, ("persistentVolumeClaim", "claimName")),
        ({"secret": {"secretName": "a_b"}}, ("secret", "secretName")),
        ({"configMap": {"name": "A"}}, ("configMap", "name")),
        ({"csi": {"driver": "d", "nodePublishSecretRef": {"name": "A"}}}, ("csi", "nodePublishSecretRef", "name")),
        ({"projected": {"sources": [{"secret": {"name": "A"}}]}}, ("projected", "sources", 0, "secret", "name")),
        ({"projected": {"sources": [{"configMap": {"name": "A"}}]}}, ("projected", "sources", 0, "configMap", "name")),
    ],
)
def test_a_volume_of_an_object_that_cannot_exist(source: dict[str, Any], place: tuple[str | int, ...]) -> None:
    """It is found where it is named, in pods of all kinds; the API server takes the pod, which then never starts."""
    volume = {"name": "models", **source}
    faults = list(reference_faults({**SOUND, "volumes": [volume]}))
    assert [(fault.code.slug, fault.path) for fault in faults] == [
        ("pod/impossible-name", ("volumes", "models", *place))
    ]
    assert not list(pod_faults({**SOUND, "volumes": [volume]}))


@pytest.mark.parametrize(
    "source",
    [
        {"persistentVolumeClaim": {"claimName": "my.claim-1"}},
        {"persistentVolumeClaim": {"claimName": "${CLAIM}"}},
        {"persistentVolumeClaim": {}},
        {"secret": {"secretName": "A", "optional": True}},
        {"projected": {"sources": [{"configMap": {"name": "A", "optional": True}}, {"serviceAccountToken": {}}]}},
        {"csi": {"driver": "A"}},
        {"emptyDir": {}},
    ],
)
def test_a_volume_that_may_come_to_be(source: dict[str, Any]) -> None:
    """Names that are well formed, that Flux fills in, or that the pod can do without are no fault."""
    assert not list(reference_faults({**SOUND, "volumes": [{"name": "models", **source}]}))


TEMPLATE = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "8Ei"}}}}


@pytest.mark.parametrize(
    ("pod", "place"),
    [
        (with_container(resources={"limits": {"memory": "9223372036854775807"}}), "limits.memory"),
        (with_container(resources={"requests": {"cpu": "8Ei"}}), "requests.cpu"),
        ({**SOUND, "overhead": {"memory": "99999999999999999999Gi"}}, "overhead.memory"),
        ({**SOUND, "volumes": [{"name": "models", "emptyDir": {"sizeLimit": "8Ei"}}]}, "emptyDir.sizeLimit"),
        ({**SOUND, "volumes": [{"name": "models", "ephemeral": {"volumeClaimTemplate": TEMPLATE}}]}, "storage"),
    ],
)
def test_amounts_in_pods_that_are_cut(pod: dict[str, Any], place: str) -> None:
    """They are warned of, wherever a pod has one; the API server takes them."""
    (fault,) = pod_faults(pod)
    assert (fault.code.slug, fault.code.severity) == ("output/quantity-cut", Severity.WARNING)
    assert f"{place} is 9223372036854775807, the most that a quantity can hold" in fault.message


@pytest.mark.parametrize("amount", ["1", "100m", "1.5Gi", "8191Pi", "999999Ti", "7Ei", "1e18", 4, 2**53])
def test_amounts_that_are_not_cut(amount: str | int) -> None:
    """What Kubernetes can hold is fine, be it more than any node has."""
    assert not list(pod_faults({**SOUND, "overhead": {"memory": amount}}))


@pytest.mark.parametrize(
    ("ref", "spec", "path"),
    [
        (
            ("v1", "PersistentVolumeClaim"),
            {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "8Ei"}}},
            ("resources", "requests", "storage"),
        ),
        (
            ("v1", "PersistentVolume"),
            {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "8Ei"}, "hostPath": {"path": "/a"}},
            ("capacity", "storage"),
        ),
        (
            ("autoscaling/v2", "HorizontalPodAutoscaler"),
            {"metrics": [{"type": "Resource", "resource": {"name": "memory", "target": {"averageValue": "8Ei"}}}]},
            ("metrics", 0, "resource", "target", "averageValue"),
        ),
    ],
)
def test_amounts_of_other_objects_that_are_cut(
    ref: tuple[str, str], spec: dict[str, Any], path: tuple[str | int, ...]
) -> None:
    """Claims, volumes and autoscalers have amounts, too."""
    (fault,) = object_faults(*ref, {"metadata": {"name": "a"}, "spec": spec})
    assert (fault.code.slug, fault.path) == ("output/quantity-cut", ("spec", *path))


@pytest.mark.parametrize(
    ("resource", "amount", "problem", "meant"),
    [
        ("memory", "512m", "is 512m, which is less than a byte", "512Mi"),
        ("memory", "500", "is 500 bytes", "500Mi"),
        ("memory", 4, "is 4 bytes", "4Gi"),
        ("memory", "512k", "is 512k, which is 512000 bytes", "512Mi"),
        ("memory", "64Ki", "is 64Ki, which is 65536 bytes", "64Mi"),
        ("memory", "1n", "is 1n, which is less than a byte", ""),
        ("memory", "0.5", "is 0.5, which is less than a byte", "0.5Gi"),
        ("memory", "0.25Mi", "is 0.25Mi, which is 262144 bytes", ""),
        ("memory", "64Ti", "is 64Ti, which is more than any machine has", ""),
        ("ephemeral-storage", "10m", "is 10m, which is less than a byte", "10Mi"),
        ("cpu", "4Gi", "is 4Gi, which is more CPUs than any machine has", "4"),
        ("cpu", "500M", "is 500M, which is more CPUs than any machine has", "500m"),
        ("cpu", "1500", "is 1500, which is more CPUs than any machine has", "1500m"),
        ("cpu", "1e6", "is 1e6, which is more CPUs than any machine has", ""),
        ("nvidia.com/gpu", "1Gi", "is 1Gi, which is more GPUs than any machine has", ""),
    ],
)
def test_amounts_that_are_hardly_meant(resource: str, amount: str | int, problem: str, meant: str) -> None:
    """They are warned of in all containers; the API server takes them, and the pod is of no use."""
    for field, kind in ((field, kind) for field in ("containers", "initContainers") for kind in ("limits", "requests")):
        other = {"limits": {resource: amount}} if "/" in resource else {}
        odd = {"name": "odd", "image": "a:1", "resources": {**other, kind: {resource: amount}}}
        fault = list(pod_faults({**SOUND, "containers": SOUND["containers"], field: [odd]}))[-1]
        assert (fault.code.slug, fault.code.severity) == ("output/quantity-odd", Severity.WARNING)
        assert fault.message.endswith(f" {problem}")
        assert fault.path == (field, "odd", "resources", kind, resource)
        assert fault.help == f"did you mean {meant}?" if meant else "did you mean" not in fault.help


@pytest.mark.parametrize(
    ("resource", "amount"),
    [
        ("memory", "0"),
        ("memory", 0),
        ("memory", "1M"),
        ("memory", "128974848"),
        ("memory", "1073741824000m"),
        ("memory", "1000Ki"),
        ("memory", "24Ti"),
        ("cpu", "0"),
        ("cpu", "100u"),
        ("cpu", 999),
        ("cpu", "999999m"),
        ("nvidia.com/gpu", "999"),
        ("nvidia.com/gpumem", "30000"),
        ("hugepages-2Mi", "0"),
        ("hugepages-2Mi", "4Mi"),
        ("hugepages-1Gi", "2048Mi"),
        ("hugepages-64k", 128000),
        ("rdma/hca", "1k"),
    ],
)
def test_amounts_that_may_be_meant(resource: str, amount: str | int) -> None:
    """What is little or much, but no slip, is told of in no pod; nor are amounts of resources that nobody knows."""
    limits = {resource: amount, **({"cpu": 1} if resource.startswith("hugepages") else {})}
    assert not list(pod_faults(with_container(resources={"limits": limits})))


@pytest.mark.parametrize(
    ("amount", "is_odd"), [("10m", True), ("64", True), ("64Ki", False), ("0", False), ("1Gi", False), ("100Ti", False)]
)
def test_odd_sizes_of_scratch_volumes(amount: str, is_odd: bool) -> None:
    """A few kilobytes are a lot for a folder of sockets, and no folder has less than one."""
    pod = {**SOUND, "volumes": [{"name": "models", "emptyDir": {"sizeLimit": amount}}]}
    assert [fault.code.slug for fault in pod_faults(pod)] == (["output/quantity-odd"] if is_odd else [])


@pytest.mark.parametrize(
    ("ref", "spec"),
    [
        (
            ("v1", "PersistentVolumeClaim"),
            {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10m"}}},
        ),
        (
            ("v1", "PersistentVolume"),
            {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": 100}, "hostPath": {"path": "/a"}},
        ),
        (
            ("autoscaling/v2", "HorizontalPodAutoscaler"),
            {"metrics": [{"type": "Resource", "resource": {"name": "memory", "target": {"averageValue": "800m"}}}]},
        ),
        (
            ("apps/v1", "Deployment"),
            {
                "template": {
                    "spec": {
                        **SOUND,
                        "volumes": [
                            {
                                "name": "models",
                                "ephemeral": {
                                    "volumeClaimTemplate": {
                                        "spec": {**TEMPLATE["spec"], "resources": {"requests": {"storage": "10m"}}}
                                    }
                                },
                            }
                        ],
                    }
                }
            },
        ),
    ],
)
def test_odd_amounts_of_other_objects(ref: tuple[str, str], spec: dict[str, Any]) -> None:
    """Claims, volumes and autoscalers have amounts, too."""
    (fault,) = object_faults(*ref, {"metadata": {"name": "a"}, "spec": spec})
    assert (fault.code.slug, fault.code.severity) == ("output/quantity-odd", Severity.WARNING)


@pytest.mark.parametrize(
    ("name", "amount", "remedy"),
    [
        ("hugepages-2Mi", 3, "did you mean 6Mi?"),
        ("hugepages-2Mi", "3", "did you mean 6Mi?"),
        ("hugepages-2Mi", "5Mi", "did you mean 6Mi?"),
        ("hugepages-1Gi", "2", "did you mean 2Gi?"),
        ("hugepages-1Gi", "1500Mi", "did you mean 2Gi?"),
        ("hugepages-0.5Gi", "5Mi", "use a multiple of 0.5Gi"),
        ("hugepages-big", "5Mi", "call it hugepages-2Mi"),
        ("hugepages-0", "5Mi", "call it hugepages-2Mi"),
    ],
)
@pytest.mark.parametrize("whole_pod", [False, True])
def test_huge_pages_come_whole(name: str, amount: str | int, remedy: str, whole_pod: bool) -> None:
    """An API server refuses bytes that are no multiple of the size of a page, of containers and of whole pods."""
    resources = {"limits": {"memory": "1Gi", name: amount}}
    pod = {**SOUND, "resources": resources} if whole_pod else with_container(resources=resources)
    (fault,) = pod_faults(pod)
    assert (fault.code.slug, fault.path[-2:], fault.help) == ("pod/invalid-value", ("limits", name), remedy)


@pytest.mark.parametrize("kind", ["limits", "requests"])
def test_odd_amounts_of_a_whole_pod(kind: str) -> None:
    """Amounts of a pod are judged like those of its containers."""
    (fault,) = pod_faults({"containers": [{"name": "a", "image": "a:1"}], "resources": {kind: {"memory": "512m"}}})
    assert (fault.code.slug, fault.path) == ("output/quantity-odd", ("resources", kind, "memory"))
