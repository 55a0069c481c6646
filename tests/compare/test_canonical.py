"""The canonical pod template: what an API server takes for the same, and what it does not."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.compare.canonical import canonical_template


def pod(container: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    """A template with one container."""
    return {
        "metadata": {"labels": {"app": "a"}},
        "spec": {"containers": [{"name": "a", "image": "a:1", **(container or {})}], **spec},
    }


ALIKE: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    (
        "quantities",
        pod({"resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}}}),
        pod({"resources": {"limits": {"memory": "1Gi", "cpu": 1}}}),
    ),
    (
        "defaults of the pod",
        pod(),
        pod(
            restartPolicy="Always",
            dnsPolicy="ClusterFirst",
            securityContext={},
            schedulerName="default-scheduler",
            terminationGracePeriodSeconds=30,
            enableServiceLinks=True,
        ),
    ),
    (
        "defaults of a container",
        pod(),
        pod(
            {
                "imagePullPolicy": "IfNotPresent",
                "terminationMessagePath": "/dev/termination-log",
                "terminationMessagePolicy": "File",
                "resources": {},
            }
        ),
    ),
    ("the pull policy of latest", pod({"image": "a"}), pod({"image": "a", "imagePullPolicy": "Always"})),
    (
        "a port of a registry is no tag",
        pod({"image": "r:5000/a"}),
        pod({"image": "r:5000/a", "imagePullPolicy": "Always"}),
    ),
    (
        "defaults of probes",
        pod({"livenessProbe": {"httpGet": {"port": 1}}}),
        pod(
            {
                "livenessProbe": {
                    "httpGet": {"port": 1, "path": "/", "scheme": "HTTP"},
                    "periodSeconds": 10,
                    "timeoutSeconds": 1,
                    "successThreshold": 1,
                    "failureThreshold": 3,
                    "initialDelaySeconds": 0,
                }
            }
        ),
    ),
    (
        "the protocol of a port",
        pod({"ports": [{"containerPort": 1}]}),
        pod({"ports": [{"containerPort": 1, "protocol": "TCP"}]}),
    ),
    (
        "a field of the pod",
        pod({"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]}),
        pod({"env": [{"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "x"}}}]}),
    ),
    (
        "the mode of files",
        pod(volumes=[{"name": "v", "secret": {"secretName": "s"}}]),
        pod(volumes=[{"name": "v", "secret": {"secretName": "s", "defaultMode": 420}}]),
    ),
    (
        "nothing",
        pod(),
        pod({"env": [], "args": None, "stdin": False}, nodeSelector={}, hostNetwork=False, tolerations=[]),
    ),
    ("an empty value", pod({"env": [{"name": "A"}]}), pod({"env": [{"name": "A", "value": ""}]})),
    ("both names of the account", pod(serviceAccountName="a"), pod(serviceAccountName="a", serviceAccount="a")),
    (
        "a hook",
        pod({"lifecycle": {"preStop": {"httpGet": {"port": 1}}}}),
        pod({"lifecycle": {"preStop": {"httpGet": {"port": 1, "path": "/", "scheme": "HTTP"}}}}),
    ),
    (
        "the size of a volume",
        pod(volumes=[{"name": "v", "emptyDir": {"sizeLimit": "1024Mi"}}]),
        pod(volumes=[{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]),
    ),
)

OTHER: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("an image", pod(), pod({"image": "a:2"})),
    (
        "the order of variables",
        pod({"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}]}),
        pod({"env": [{"name": "B", "value": "1"}, {"name": "A", "value": "1"}]}),
    ),
    ("an empty security context", pod(), pod({"securityContext": {}})),
    ("a setting that is false", pod(), pod({"securityContext": {"runAsNonRoot": False}})),
    ("an annotation without text", pod(), {**pod(), "metadata": {"labels": {"app": "a"}, "annotations": {"x": ""}}}),
    (
        "a memory volume",
        pod(volumes=[{"name": "v", "emptyDir": {}}]),
        pod(volumes=[{"name": "v", "emptyDir": {"medium": "Memory"}}]),
    ),
    ("a token that is not mounted", pod(), pod(automountServiceAccountToken=False)),
    ("a grace period of nothing", pod(), pod(terminationGracePeriodSeconds=0)),
    (
        "another quantity",
        pod({"resources": {"limits": {"cpu": "1"}}}),
        pod({"resources": {"limits": {"cpu": "1001m"}}}),
    ),
    (
        "a label named like a field",
        {"metadata": {"labels": {"tty": "", "app": "a"}}, "spec": {}},
        {"metadata": {"labels": {"app": "a"}}, "spec": {}},
    ),
)


@pytest.mark.parametrize(("about", "left", "right"), ALIKE, ids=[case[0] for case in ALIKE])
def test_templates_that_are_the_same(about: str, left: dict[str, Any], right: dict[str, Any]) -> None:
    """No pod restarts for these."""
    del about
    assert canonical_template(left) == canonical_template(right)
    assert canonical_template(canonical_template(left)) == canonical_template(left)


@pytest.mark.parametrize(("about", "left", "right"), OTHER, ids=[case[0] for case in OTHER])
def test_templates_that_differ(about: str, left: dict[str, Any], right: dict[str, Any]) -> None:
    """Pods restart for these."""
    del about
    assert canonical_template(left) != canonical_template(right)
