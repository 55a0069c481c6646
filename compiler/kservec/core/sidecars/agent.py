"""The agent: KServe's container beside the model server that logs, batches, or pulls models.

Decides what the container is made of. Must not know what is logged where, nor when a component needs an agent.
KServe: pkg/webhook/admission/pod/agent_injector.go, InjectAgent
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.intents import BatcherIntent, LoggerIntent, PullerIntent
from kservec.core.knative.agent import in_front
from kservec.core.models.credentials import Equipped, Holder, equip
from kservec.core.names import (
    AGENT_CONTAINER,
    AGENT_PORT,
    DEFAULT_PORT,
    KSERVE_CONTAINER,
    MODEL_PATH,
    TRANSFORMER_CONTAINER,
    model_config_name,
)
from kservec.core.pods.containers import find, first_port, serving_container, variable
from kservec.core.pods.mounts import add_mounts, add_volume, mount, path_taken
from kservec.core.records import evolve
from kservec.core.sidecars import payload_logging
from kservec.core.sidecars.injection import needed, resources, section_origin
from kservec.core.sidecars.queue_proxy import forwarding_to_agent, queue_proxy
from kservec.core.sidecars.readiness import ROOT, probe_path, probe_text
from kservec.core.tree import Layer, Layers, Tree
from kservec.core.unit import Mode, finding

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.sidecars.payload_logging import Logging
    from kservec.core.tree import Json, Origin, Source
    from kservec.core.unit import Component, Unit

SECTION = "agent"
BY = "add_sidecars"
PROBE_VARIABLE = "SERVING_READINESS_PROBE"
MODEL_VOLUME = "model-dir"
CONFIG_VOLUME = "model-config"
CONFIG_PATH = "/mnt/configs"
OWN_VOLUME = (
    "a predictor that names no model gets an agent, which pulls models to that path: name the model in storageUri "
    "(a claim is pvc://claim/path), or mount the volume elsewhere"
)
CA_VOLUME = "agent-ca-bundle"
CA_PATH = "/etc/tls/logger"

DUTIES = frozenset((PullerIntent, BatcherIntent, LoggerIntent))

OWN_AGENT = Code(
    "agent/own-container",
    Severity.NOTE,
    "the pod brings its own agent",
    "The pod has a container with the name agent. Logging, batching and pulling models is left to it, and the Service "
    "of a component with a logger or batcher leads to its port 9081.",
)
NOT_POSITIVE = Code(
    "batcher/not-positive",
    Severity.ERROR,
    "a batcher with a limit that is not above zero",
    "batcher.maxBatchSize and batcher.maxLatency (milliseconds) are above zero. The agent would not start otherwise.",
)


class Duties(NamedTuple):
    """What the agent of a component is there for: one at least."""

    puller: PullerIntent | None = None
    batcher: BatcherIntent | None = None
    logger: LoggerIntent | None = None

    @property
    def origin(self) -> Origin:
        """The first place that asks for the agent, in the name of the pass."""
        asked = next(i for i in (self.logger, self.batcher, self.puller) if i is not None)
        return asked.origin._replace(layer=Layer.PASS, by=BY)


class Injected(NamedTuple):
    """A component's pod with its agent, and what was found on the way."""

    pod: Tree
    diagnostics: tuple[Diagnostic, ...] = ()


def has_duties(component: Component) -> bool:
    """Whether a component wants anything of an agent."""
    return not DUTIES.isdisjoint(map(type, component.intents))


def take_duties(component: Component) -> tuple[Duties | None, Component]:
    """What a component wants of an agent, None for nothing, and the component without these intents."""
    pullers, component = component.take(PullerIntent)
    batchers, component = component.take(BatcherIntent)
    loggers, component = component.take(LoggerIntent)
    duties = Duties(*(next(iter(pullers), None), next(iter(batchers), None), next(iter(loggers), None)))
    return (duties if any(duties) else None), component


def add_agent(unit: Unit, component: Component, duties: Duties, logging: Logging | None, env: Env) -> Injected:
    """The pod of a component with an agent, unless it brings its own. `logging` is None for one that does not log.

    Raises:
        Reject: the platform's configuration lacks what is needed; a limit of the batcher is not above zero; a Secret
            is not declared; a path that models are pulled to is taken.
    """
    pod, origin = component.pod, duties.origin
    if find(pod.value["containers"], AGENT_CONTAINER) is not None:
        message = f"the {component.role} brings its own container {AGENT_CONTAINER}: none is added"
        return Injected(pod, (finding(unit, OWN_AGENT, message, origin.span()),))
    found: tuple[Diagnostic, ...] = ()
    if duties.logger is not None and logging is not None:
        found = tuple(payload_logging.shortcomings(duties.logger, logging, component, unit))
    container = bare_agent(pod, env.platform)
    container["args"] = [*duty_arguments(unit, component, duties, logging), "--component-port", served_port(pod.value)]
    holder = Holder(subject=unit.ref, pod=pod, annotations=component.annotations, origin=origin)
    equipped = with_credentials(with_certificates(container, logging), holder, logging, env)
    made = forwarding_to_agent(pod).append(
        ("containers",), equipped.container, agent_origin(equipped.container, pod, origin, env.platform)
    )
    for volume in equipped.volumes:
        made = add_volume(made, volume, origin)
    if duties.puller is not None:
        made = with_model_volumes(made, unit, origin)
    if unit.mode is Mode.KNATIVE:
        made = in_front(made)
    return Injected(made, (*equipped.diagnostics, *found))


def bare_agent(pod: Tree, platform: PlatformConfig) -> dict[str, Json]:
    """The container without arguments and credentials: it runs as the first container does."""
    config = needed(platform, SECTION, platform.agent)
    probed = serving_container(pod.value)
    proxy = queue_proxy(pod)
    env = list((proxy or {}).get("env") or ())
    if variable({"env": env}, PROBE_VARIABLE) is None:
        text = probe_text(probed) if proxy is None else ""
        # The agent does not start without the variable; while it is empty the agent always counts as ready.
        env.append({"name": PROBE_VARIABLE} | ({"value": text} if text else {}))
    request = {
        "path": probe_path(probed) if proxy is None else ROOT,
        "port": AGENT_PORT,
        "scheme": "HTTP",
        "httpHeaders": [{"name": "K-Network-Probe", "value": "queue"}],
    }
    container: dict[str, Json] = {
        "name": AGENT_CONTAINER,
        "image": config.image,
        "resources": resources(config),
        "ports": [{"name": "agent-port", "containerPort": AGENT_PORT, "protocol": "TCP"}],
        "env": env,
        "readinessProbe": {"httpGet": request},
    }
    security = pod.value["containers"][0].get("securityContext")
    if security is not None:
        container["securityContext"] = security
    return container


def served_port(pod: Json) -> str:
    """The port behind the agent: that of the collocated transformer, else of the server."""
    containers = pod["containers"]
    server = find(containers, TRANSFORMER_CONTAINER) or find(containers, KSERVE_CONTAINER)
    return str(first_port(server) if server is not None else DEFAULT_PORT)


def agent_origin(container: Json, pod: Tree, origin: Origin, platform: PlatformConfig) -> Source:
    """Where the parts of the container come from: the platform's settings, the first container, the spec."""
    configured = {name: container[name] for name in ("image", "resources")}
    copied = {"securityContext": container.get("securityContext")}
    first = pod.sub("containers", pod.value["containers"][0]["name"])
    return Layers(((configured, section_origin(platform, SECTION)), (copied, first), (container, origin)))


def duty_arguments(unit: Unit, component: Component, duties: Duties, logging: Logging | None) -> list[str]:
    """What the agent is told of its duties.

    Raises:
        Reject: a limit of the batcher is not above zero.
    """
    args: list[str] = []
    if duties.puller is not None:
        args += ["--enable-puller", "--config-dir", CONFIG_PATH, "--model-dir", MODEL_PATH]
    if duties.batcher is not None:
        args += batcher_arguments(unit, duties.batcher)
    if duties.logger is not None and logging is not None:
        args += payload_logging.arguments(duties.logger, logging, component, unit.namespace)
    return args


def batcher_arguments(unit: Unit, wanted: BatcherIntent) -> list[str]:
    """What the agent is told of batches: the limits that are set; the others are its own.

    Raises:
        Reject: a limit is not above zero.
    """
    args = ["--enable-batcher"]
    limits = (
        ("maxBatchSize", "--max-batchsize", wanted.batcher.max_batch_size),
        ("maxLatency", "--max-latency", wanted.batcher.max_latency),
    )
    for name, flag, limit in limits:
        if limit is not None and limit <= 0:
            span = wanted.origin.span((name,))
            raise Reject(finding(unit, NOT_POSITIVE, f"batcher.{name} is {limit}", span, f"set {name} above zero"))
        args += [flag, str(limit)] if limit is not None else []
    return args


def with_certificates(container: Json, logging: Logging | None) -> Equipped:
    """The agent with the certificates that the platform has for loggers; the pod starts without them, too."""
    if logging is None or not logging.ca_bundle:
        return Equipped(container)
    volume = {"name": CA_VOLUME, "configMap": {"name": logging.ca_bundle, "optional": True}}
    return Equipped({**container, "volumeMounts": [mount(CA_VOLUME, CA_PATH, read_only=True)]}, (volume,))


def with_credentials(before: Equipped, holder: Holder, logging: Logging | None, env: Env) -> Equipped:
    """The agent with the credentials of the pod's ServiceAccount, then of the one that logs are stored with.

    Raises:
        Reject: a Secret is not declared.
    """
    container, volumes, found = equip(before.container, holder.account, holder, env)
    volumes = (*before.volumes, *volumes)
    if logging is not None and logging.storage is not None:
        named = Tree.of({"serviceAccountName": logging.store_account}, logging.storage_origin)
        store = holder._replace(pod=named)
        container, more, found_too = equip(container, logging.store_account, store, env)
        volumes, found = (*volumes, *more), (*found, *found_too)
    return Equipped(container, volumes, found)


def with_model_volumes(pod: Tree, unit: Unit, origin: Origin) -> Tree:
    """A pod whose agent pulls models into a volume that the server reads.

    Raises:
        Reject: the server has another volume there.
    """
    server = find(pod.value["containers"], KSERVE_CONTAINER)
    readers = (AGENT_CONTAINER,) if server is None else (AGENT_CONTAINER, KSERVE_CONTAINER)
    if server is not None and any(m["mountPath"] == MODEL_PATH for m in server.get("volumeMounts") or ()):
        taken = path_taken(pod, KSERVE_CONTAINER, MODEL_PATH, origin, unit.ref)
        raise Reject(evolve(taken, help=OWN_VOLUME))
    pod = add_volume(pod, {"name": MODEL_VOLUME, "emptyDir": {}}, origin)
    pod = add_mounts(pod, readers, mount(MODEL_VOLUME, MODEL_PATH), origin, unit.ref)
    pod = add_volume(pod, {"name": CONFIG_VOLUME, "configMap": {"name": model_config_name(unit.name)}}, origin)
    return add_mounts(pod, (AGENT_CONTAINER,), mount(CONFIG_VOLUME, CONFIG_PATH), origin, unit.ref)
