"""What Knative refuses in a service, said beforehand and at the place where it is written."""

from __future__ import annotations

import pytest

from kservec.core.knative.validity import is_image

RELAY = {"name": "relay", "image": "registry.example.com/relay:1"}
SCRATCH = {"name": "scratch", "emptyDir": {}}
CLAIM = {"name": "claim", "persistentVolumeClaim": {"claimName": "c", "readOnly": True}}
INIT = {"name": "warm", "image": "registry.example.com/warm:1"}


def ports(*numbers, **more):
    """Ports of a container."""
    return {"ports": [{"containerPort": n, **more} for n in numbers]}


def server(**fields):
    """Fields of the predictor's container."""
    return {"server": fields}


CASES = {
    "two ports": (
        server(**ports(8080, 9000)),
        "knative/several-ports",
        "8080 (kserve-container), 9000 (kserve-container)",
    ),
    "two containers with ports": (
        {"further": [{**RELAY, **ports(9000)}], **server(**ports(8080))},
        "knative/several-ports",
        "8080 (kserve-container), 9000 (relay)",
    ),
    "a port with another name": (server(**ports(9000, name="grpc")), "knative/port", "named grpc"),
    "a port for UDP": (server(**ports(9000, protocol="UDP")), "knative/port", "UDP"),
    "a port of the queue proxy": (server(**ports(8012)), "knative/port", "8012"),
    "a probe for another port": (
        server(**ports(9000, name="h2c"), livenessProbe={"httpGet": {"path": "/", "port": "rest"}}),
        "knative/probe",
        "rest",
    ),
    "timeouts without a period": (
        server(readinessProbe={"tcpSocket": {"port": 8080}, "timeoutSeconds": 3}),
        "knative/probe",
        "timeoutSeconds without periodSeconds",
    ),
    "a volume that nothing mounts": ({"volumes": [SCRATCH]}, "knative/volume", "scratch"),
    "a mount over /dev": (
        {"volumes": [SCRATCH], **server(volumeMounts=[{"name": "scratch", "mountPath": "/dev/"}])},
        "knative/volume",
        "/dev/",
    ),
    "a writable mount of a volume that is not": (
        {"volumes": [CLAIM], **server(volumeMounts=[{"name": "claim", "mountPath": "/data"}])},
        "knative/volume",
        "/data",
    ),
    "a mount that is shared both ways": (
        {
            "volumes": [SCRATCH],
            **server(volumeMounts=[{"name": "scratch", "mountPath": "/data", "mountPropagation": "Bidirectional"}]),
        },
        "knative/volume",
        "Bidirectional",
    ),
    "a volume of huge pages": (
        {
            "volumes": [{"name": "scratch", "emptyDir": {"medium": "HugePages"}}],
            **server(volumeMounts=[{"name": "scratch", "mountPath": "/data"}]),
        },
        "knative/volume",
        "HugePages",
    ),
    "a volume without a source": (
        {"volumes": [{"name": "scratch"}], **server(volumeMounts=[{"name": "scratch", "mountPath": "/data"}])},
        "knative/volume",
        "scratch has no source",
    ),
    "a mount of settings in an init container": (
        {
            "volumes": [{"name": "settings", "configMap": {"name": "settings"}}],
            "initContainers": [{**INIT, "volumeMounts": [{"name": "settings", "mountPath": "/etc/settings"}]}],
        },
        "knative/volume",
        "/etc/settings",
    ),
    "an image in capital letters": (
        server(image="registry.example.com/Server:1"),
        "knative/image",
        "'registry.example.com/Server:1'",
    ),
    "a variable of Knative": (
        server(env=[{"name": "K_SERVICE", "value": "a"}]),
        "knative/reserved-name",
        "K_SERVICE",
    ),
    "the port as a variable": (server(env=[{"name": "PORT", "value": "1"}]), "knative/reserved-name", "PORT"),
    "the name of the queue proxy": (
        {"further": [{**RELAY, "name": "queue-proxy"}]},
        "knative/reserved-name",
        "queue-proxy",
    ),
    "a privileged container": (
        server(securityContext={"privileged": True}),
        "knative/forbidden-field",
        "privileged",
    ),
    "a security setting of the pod": (
        {"securityContext": {"fsGroupChangePolicy": "Always"}},
        "knative/forbidden-field",
        "fsGroupChangePolicy",
    ),
    "an init container that stays": (
        {"initContainers": [{**INIT, "restartPolicy": "Always"}]},
        "knative/forbidden-field",
        "restartPolicy",
    ),
    "a security setting of an init container": (
        {"initContainers": [{**INIT, "securityContext": {"procMount": "Default"}}]},
        "knative/forbidden-field",
        "procMount",
    ),
    "an init container with a probe": (
        {"initContainers": [{**INIT, "readinessProbe": {"tcpSocket": {"port": 1}}}]},
        "knative/probe",
        "init container warm",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_refusals(knative, predictor, case):
    """Each is an error that names what is wrong, at its place, and nothing is written."""
    fields, slug, word = CASES[case]
    outcome = knative(predictor(*fields.get("further", ()), **{k: v for k, v in fields.items() if k != "further"}))
    found = next(d for d in outcome.compilation.diagnostics if d.code.slug == slug)
    assert word in found.message
    assert found.help
    assert found.span.line > 1
    assert outcome.objects == {}


ACCEPTED = {
    "a probe by the name of the port": server(
        **ports(9000, name="h2c"), livenessProbe={"httpGet": {"path": "/", "port": "h2c"}}
    ),
    "a probe by the name of a port without one": server(livenessProbe={"httpGet": {"path": "/", "port": "http"}}),
    "the port as a variable of a sidecar": {
        "further": [{**RELAY, "env": [{"name": "PORT", "value": "1"}]}],
        **server(**ports(8080)),
    },
    "a mount below /dev": {
        "volumes": [SCRATCH],
        **server(volumeMounts=[{"name": "scratch", "mountPath": "/dev/scratch"}]),
    },
    "a volume that an init container mounts": {
        "volumes": [SCRATCH],
        "initContainers": [{**INIT, "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]}],
    },
    "a user of the pod": {"securityContext": {"runAsUser": 1000}},
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_no_refusal(knative, predictor, case):
    """What looks alike and is taken by Knative passes without a finding."""
    fields = ACCEPTED[case]
    outcome = knative(predictor(*fields.get("further", ()), **{k: v for k, v in fields.items() if k != "further"}))
    assert outcome.slugs == []
    assert outcome.compilation.ok


def test_an_agent_may_stand_before_several_ports(knative, predictor):
    """With a logger requests come to the agent, and the other containers list no ports."""
    logger = {"mode": "all", "url": "http://sink.example.com"}
    outcome = knative(predictor(server=ports(8080, 9000), logger=logger))
    listed = {c["name"]: "ports" in c for c in outcome.template()["spec"]["containers"]}
    assert listed == {"kserve-container": False, "agent": True}


@pytest.mark.parametrize(
    ("image", "is_taken"),
    [
        ("server", True),
        ("localhost/server:V1", True),
        ("registry.example.com:5000/ml/server:1.0_rc@sha256:" + "0a" * 32, True),
        ("REGISTRY.example.com/server", True),
        ("server:", True),
        ("a", False),
        ("<registry>/server:1", False),
        ("example.com/Server:1", False),
        ("example.com/server:a b", False),
        ("example.com/server@sha256:12", False),
    ],
)
def test_names_of_images(image, is_taken):
    """Knative reads these names of images, and refuses those."""
    assert bool(is_image(image)) is is_taken
