"""Smoke tests: a Job for each service that asks it inside the cluster whether it is ready."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.core.paths import Json
    from kservec.explain.addresses import Address

IMAGE = "docker.io/curlimages/curl:8.17.0"
USER = 100
ATTEMPTS, DELAY_SECONDS, LONGEST_SECONDS = 30, 10, 60
LONGEST_NAME = 50
LABEL = "kservec.dev/smoke-test"


def smoke_tests(addresses: Iterable[Address], image: str = IMAGE) -> Iterator[Json]:
    """A Job for each service that can be asked whether it is ready. It fails where one does not answer in time.

    `image` is one that has curl.
    """
    for address in addresses:
        asked = next((question for question in address.questions if question.ready), None)
        if asked is not None and address.internal:
            yield job(address, f"{address.internal}{asked.ready}", image)


def job(address: Address, url: str, image: str) -> Json:
    """The Job that asks one service. Certificates of servers inside the cluster are their own, and not checked."""
    patience = ["--retry", str(ATTEMPTS), "--retry-delay", str(DELAY_SECONDS), "--retry-all-errors"]
    bounds = ["--max-time", str(LONGEST_SECONDS)]
    command = ["curl", "--fail", "--silent", "--show-error", "--insecure", *patience, *bounds, url]
    container = {
        "name": "curl",
        "image": image,
        "command": command,
        "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"memory": "64Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }
    pod = {
        "automountServiceAccountToken": False,
        "containers": [container],
        "restartPolicy": "Never",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    labels = {LABEL: "true"}
    metadata = {"name": f"{address.ref.name[:LONGEST_NAME]}-smoke-test", "namespace": address.ref.namespace}
    template = {"metadata": {"labels": {**labels, "sidecar.istio.io/inject": "false"}}, "spec": pod}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**metadata, "labels": labels},
        "spec": {"backoffLimit": 0, "ttlSecondsAfterFinished": 3600, "template": template},
    }


def curl(url: str, path: str, body: str) -> str:
    """A command that asks a service for an answer, as a shell reads it."""
    words = ["curl", "-H", "content-type: application/json", "-d", body, f"{url}{path}"]
    return shlex.join(words)
