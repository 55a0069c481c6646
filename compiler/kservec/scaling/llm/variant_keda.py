"""Scaling of LLM workloads by KEDA, which asks Prometheus for what the workload variant autoscaler wants.

KServe: pkg/controller/v1alpha2/llmisvc/scaling.go, expectedScaledObject
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.llm.keda import scaled_object, scaled_object_name
from kservec.core.llm.scaling import VARIANT, WANTED_REPLICAS, variant_metadata
from kservec.core.registry import PartScaler
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.bundle import Manifest
    from kservec.core.llm.part import Part
    from kservec.core.registry import Env, PartWorkload
    from kservec.core.tree import Json
    from kservec.core.unit import Unit
    from kservec.spec.configuration import Prometheus

FIELD = ("wva", "keda")
SECTION = "autoscaling-wva-controller-config"

PROMETHEUS = Code(
    "llm/prometheus-settings",
    Severity.ERROR,
    "KEDA does not know where to ask for the wanted replicas",
    f"Scaling by KEDA on what WVA wants needs prometheus.url in the section {SECTION} of inferenceservice-config, and "
    "there authModes and triggerAuthName either both or neither.",
)


def render(unit: Unit, part: Part, workload: PartWorkload, env: Env) -> Manifest:
    """The ScaledObject of a part.

    Raises:
        Reject: the cluster has no KEDA, or the platform does not say where Prometheus is.
    """
    prometheus = env.platform.variant_autoscaling.prometheus
    require_prometheus(unit, part, prometheus)
    name = scaled_object_name(unit, part)
    # Prometheus renames the label `namespace` of what it collects.
    query = f'{WANTED_REPLICAS}{{{VARIANT}="{name}",exported_namespace="{unit.namespace}"}}'
    own = (variant_metadata(unit, part), [trigger(prometheus, query)])
    return scaled_object(unit, part, workload, env, FIELD, own)


def require_prometheus(unit: Unit, part: Part, prometheus: Prometheus) -> None:
    """Refuse to scale without knowing where to ask. KServe: validateAutoscalingConfig.

    Raises:
        Reject: there is no address, or half of what proves who asks.
    """
    if not prometheus.url:
        message = f"{unit.ref} is to be scaled by KEDA, and {SECTION} has no prometheus.url"
    elif bool(prometheus.trigger_auth_name) != bool(prometheus.auth_modes):
        message = f"{SECTION} has only one of prometheus.authModes and prometheus.triggerAuthName"
    else:
        return
    assert unit.resolved is not None
    place = unit.resolved.span((*part.path, "scaling", *FIELD))
    raise Reject(finding(unit, PROMETHEUS, message, place, f"complete {SECTION} in inferenceservice-config"))


def trigger(prometheus: Prometheus, query: str) -> Json:
    """What KEDA asks. KServe: prometheusTrigger."""
    asked = {
        "serverAddress": prometheus.url,
        "query": query,
        "threshold": "1",
        "unsafeSsl": "true" if prometheus.tls_insecure_skip_verify else "false",
    }
    if prometheus.auth_modes:
        asked["authModes"] = prometheus.auth_modes
    made: dict[str, Json] = {"type": "prometheus", "name": "wva-desired-replicas", "metadata": asked}
    if prometheus.trigger_auth_name:
        kind = {"kind": prometheus.trigger_auth_kind} if prometheus.trigger_auth_kind else {}
        made["authenticationRef"] = {"name": prometheus.trigger_auth_name, **kind}
    return made


SCALER = PartScaler(name="variant keda", field=FIELD, render=render)
