"""Names of the objects of an LLMInferenceService, its presets, labels and annotations.

KServe: pkg/controller/v1alpha2/llmisvc, pkg/constants/constants.go
"""

from __future__ import annotations

import hashlib
import re

from kservec.core.names import GROUP, INTERNAL

LONGEST_NAME = 63
MD5_LENGTH = 32

MAIN = "main"
SIDECAR = "llm-d-routing-sidecar"
MODEL_PORT = 8000

NAME_LABEL = "app.kubernetes.io/name"
COMPONENT_LABEL = "app.kubernetes.io/component"
PART_OF_LABEL = "app.kubernetes.io/part-of"
VERSION_ANNOTATION = "app.kubernetes.io/version"
PART_OF = "llminferenceservice"
KSERVE_COMPONENT_LABEL = "kserve.io/component"
WORKLOAD = "workload"
ROLE_LABEL = "llm-d.ai/role"

ROUTING_GROUP_LABEL = f"{GROUP}/routing-group"
MODEL_ROUTING = f"{GROUP}/model-based-routing-enabled"
POOL_MIGRATED = f"{GROUP}/inference-pool-migrated"
LOCAL_MODEL_LABEL = f"{INTERNAL}localmodel"
LOCAL_MODEL_NAMESPACE_LABEL = f"{INTERNAL}localmodel-namespace"
LOCAL_MODEL_SOURCE = f"{INTERNAL}localmodel-sourceuri"
LOCAL_MODEL_CLAIM = f"{INTERNAL}localmodel-pvc-name"

DEPLOYMENT = "-kserve"
PREFILL_DEPLOYMENT = "-kserve-prefill"
LEADER_WORKERS = "-kserve-mn"
PREFILL_LEADER_WORKERS = "-kserve-mn-prefill"
WORKLOAD_SERVICE = "-kserve-workload-svc"
CERTIFICATES = "-kserve-self-signed-certs"
SCHEDULER = "-kserve-router-scheduler"
SCHEDULER_ACCOUNT = "-epp-sa"
SCHEDULER_BINDING = "-epp-auth-rb"
"""The binding in all of the cluster has the namespace in front of the service, too."""
SCHEDULER_SERVICE = "-epp-service"
POOL = "-inference-pool"
ROUTE = "-kserve-route"
TOKENIZER = "-tokenizer"
DEVICE_CLAIM = "-managed-dra"

_ends_badly = re.compile(r"[^0-9A-Za-z]+\Z")


def child_name(parent: str, suffix: str) -> str:
    """The name of an object that belongs to another: parent and suffix, shortened by a hash where that is too long.

    knative.dev/pkg/kmeta, ChildName; lengths are those of the text in UTF-8
    """
    whole = parent + suffix
    if len(whole.encode()) <= LONGEST_NAME:
        return whole
    kept = LONGEST_NAME - MD5_LENGTH
    if len(suffix.encode()) < kept:
        return f"{parent[: kept - len(suffix)]}{md5(parent)}{suffix}"
    shortened = parent[:kept] + md5(whole)
    return _ends_badly.sub("", shortened + suffix[: LONGEST_NAME - len(shortened)])


def md5(text: str) -> str:
    """The hash that shortened names have in them; nothing secret depends on it."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def model_resource_name(namespace: str, model: str) -> str:
    """The name of a model that no other namespace uses. KServe: fullyQualifiedModelName."""
    return f"publishers/{namespace}/models/{model}"
