"""The Go types of pods, as far as templates of LLMInferenceServices are likely to ask for what they have.

Decides what Go calls a field and what it is where nothing is written. Must not know what fields mean.
Kubernetes: k8s.io/api/core/v1/types.go
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kservec.core.llm.go_types import POD, type_of

if TYPE_CHECKING:
    from kservec.core.llm.go_types import Type

_TYPES: Final = {
    POD: {
        "activeDeadlineSeconds": "*int64", "affinity": "*Affinity", "automountServiceAccountToken": "*bool",
        "containers": "[]Container", "dnsConfig": "*PodDNSConfig", "dnsPolicy": "string",
        "enableServiceLinks": "*bool", "hostAliases": "[]HostAlias", "hostIPC": "bool", "hostNetwork": "bool",
        "hostPID": "bool", "hostUsers": "*bool", "hostname": "string", "imagePullSecrets": "[]LocalObjectReference",
        "initContainers": "[]Container", "nodeName": "string", "nodeSelector": "map", "os": "*PodOS",
        "preemptionPolicy": "*PreemptionPolicy", "priority": "*int32", "priorityClassName": "string",
        "readinessGates": "[]PodReadinessGate", "resourceClaims": "[]PodResourceClaim",
        "resources": "*ResourceRequirements", "restartPolicy": "string", "runtimeClassName": "*string",
        "schedulerName": "string", "schedulingGates": "[]PodSchedulingGate",
        "securityContext": "*PodSecurityContext", "serviceAccountName": "string", "setHostnameAsFQDN": "*bool",
        "shareProcessNamespace": "*bool", "subdomain": "string", "terminationGracePeriodSeconds": "*int64",
        "tolerations": "[]Toleration", "topologySpreadConstraints": "[]TopologySpreadConstraint",
        "volumes": "[]Volume",
    },
    "Container": {
        "args": "[]string", "command": "[]string", "env": "[]EnvVar", "envFrom": "[]EnvFromSource",
        "image": "string", "imagePullPolicy": "string", "lifecycle": "*Lifecycle", "livenessProbe": "*Probe",
        "name": "string", "ports": "[]ContainerPort", "readinessProbe": "*Probe",
        "resizePolicy": "[]ContainerResizePolicy", "resources": "ResourceRequirements", "restartPolicy": "*string",
        "securityContext": "*SecurityContext", "startupProbe": "*Probe", "stdin": "bool", "stdinOnce": "bool",
        "terminationMessagePath": "string", "terminationMessagePolicy": "string", "tty": "bool",
        "volumeDevices": "[]VolumeDevice", "volumeMounts": "[]VolumeMount", "workingDir": "string",
    },
    "EnvVar": {"name": "string", "value": "string", "valueFrom": "*EnvVarSource"},
}  # fmt: skip
"""As the table of LLMInferenceServices has it; ephemeral containers are left out."""

POD_FIELDS: Final[Mapping[str, Mapping[str, Type]]] = {
    owner: {name: type_of(kind) for name, kind in fields.items()} for owner, fields in _TYPES.items()
}
