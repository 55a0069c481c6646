"""Payload logging: where requests and responses are logged to, and how the agent is told.

Decides which of the service's and the platform's settings count, and what of them comes to nothing. Must not know how
the agent's container is made.
KServe: pkg/webhook/admission/pod/agent_injector.go, getLoggerConfigs and InjectAgent
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.effects import without_effect
from kservec.core.golang.duration import is_duration
from kservec.core.names import COMPONENT_LABEL, INFERENCESERVICE_LABEL
from kservec.core.sidecars.injection import needed, section_origin, setting_span
from kservec.core.unit import finding
from kservec.core.visible import visible
from kservec.spec.inferenceservice import InferenceService

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.intents import LoggerIntent
    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Origin
    from kservec.core.unit import Component, Unit
    from kservec.spec.configuration import LoggerStorage as SectionStorage
    from kservec.spec.inferenceservice import LoggerStorage

SECTION = "logger"
PREDICTOR_LOGGER = ("spec", "predictor", "logger")
STORE_ACCOUNT = "logger-sa"
DEFAULT_MODE = "all"
ENDPOINT_LABEL = "endpoint"
STORES = ("s3", "gs", "abfs")
"""How URLs begin that the agent takes for a bucket; to all others it posts events. KServe: pkg/logger/store.go."""
FOR_BUCKETS = {
    "storage": "storage", "marshallerUrl": "marshaller_url", "batchSize": "batch_size",
    "batchInterval": "batch_interval",
}  # fmt: skip
"""Settings that only count for buckets, and their names in the model."""

NO_TARGET = Code(
    "logger/no-target",
    Severity.WARNING,
    "a logger that logs to nowhere",
    "A logger sends what it sees to logger.url or the platform's defaultUrl; below a bucket it also needs a path, in "
    "logger.storage of the predictor or the platform. Without them the agent drops what it sees.",
)
BAD_URL = Code(
    "logger/url",
    Severity.WARNING,
    "a logger whose URL leads nowhere",
    "The agent posts events to http:// and https:// URLs, and stores them below buckets (s3://, gs://, abfs://). "
    "With another URL it loses what it sees, and with one that cannot be read it does not start.",
)
NO_ANNOTATION = Code(
    "logger/annotation-absent",
    Severity.WARNING,
    "a logger that passes on an annotation that is not there",
    "logger.metadataAnnotations names annotations of the pods, which come from the service, the component and the "
    "runtime. The agent leaves out what they do not have.",
)
BAD_INTERVAL = Code(
    "logger/batch-interval",
    Severity.ERROR,
    "a batch interval that is no duration",
    "logger.batchInterval is a number with a unit, such as 500ms, 10s or 1m30s. The agent would not start with "
    "anything else.",
)


class Logging(NamedTuple):
    """The settings that the loggers of all components of a service have in common."""

    default_url: str
    storage: LoggerStorage | SectionStorage | None
    storage_origin: Origin
    marshaller_url: str = ""
    batch_size: int = 0
    batch_interval: str = ""
    ca_bundle: str = ""
    ca_cert_file: str = ""
    skip_verify: bool = False

    @property
    def store_account(self) -> str:
        """The ServiceAccount whose credentials the agent logs with; empty if none is asked for."""
        return self.storage.service_account_name or STORE_ACCOUNT if self.storage is not None else ""

    @property
    def store(self) -> tuple[str, str]:
        """The path below the bucket and the format of the logs; each empty if it is not given."""
        if self.storage is None:
            return "", ""
        return self.storage.path or "", (self.storage.parameters or {}).get("format", "")


def settings(unit: Unit, platform: PlatformConfig) -> Logging:
    """The settings of the platform, with what the predictor's logger says in their place.

    Where the predictor has a logger its storage counts even if it names none. Loggers of other components say nothing
    here.

    Raises:
        Reject: the platform has a configuration without loggers; the batch interval is no duration.
    """
    logging = platform_settings(platform)
    own = unit.spec_as(InferenceService).spec.predictor.logger
    if own is not None:
        logging = logging._replace(
            storage=own.storage,
            storage_origin=unit.source.origin(*PREDICTOR_LOGGER, "storage"),
            marshaller_url=logging.marshaller_url if own.marshaller_url is None else own.marshaller_url,
            batch_size=logging.batch_size if own.batch_size is None else own.batch_size,
            batch_interval=logging.batch_interval if own.batch_interval is None else own.batch_interval,
        )
    if logging.batch_interval and not is_duration(logging.batch_interval):
        message = f"the batch interval {logging.batch_interval!r} is no duration"
        here = own is not None and own.batch_interval is not None
        span = None if here else setting_span(platform, SECTION, "batchInterval")
        place = span or (*PREDICTOR_LOGGER, "batchInterval")
        raise Reject(finding(unit, BAD_INTERVAL, message, place, "write a number with a unit, such as 10s"))
    return logging


def platform_settings(platform: PlatformConfig) -> Logging:
    """The settings of the platform's configuration.

    Raises:
        Reject: it has a configuration without loggers.
    """
    section = needed(platform, SECTION, platform.logger)
    return Logging(
        default_url=section.default_url,
        storage=section.storage,
        storage_origin=section_origin(platform, SECTION),
        marshaller_url=section.marshaller_url,
        batch_size=section.batch_size or 0,
        batch_interval=section.batch_interval,
        ca_bundle=section.ca_bundle,
        ca_cert_file=section.ca_cert_file,
        skip_verify=section.tls_skip_verify,
    )


def url_of(wanted: LoggerIntent, logging: Logging) -> str:
    """Where a logger logs to; empty if neither it nor the platform says."""
    return logging.default_url if wanted.logger.url is None else wanted.logger.url


def arguments(wanted: LoggerIntent, logging: Logging, component: Component, namespace: str) -> list[str]:
    """What the agent of a component is told of its logger."""
    labels = component.labels.value
    path, form = logging.store
    return [
        "--log-url", url_of(wanted, logging),
        "--source-uri", "",  # the pod's name, which a Deployment's pod does not have yet when KServe asks for it
        "--log-mode", wanted.logger.mode or DEFAULT_MODE,
        "--inference-service", labels.get(INFERENCESERVICE_LABEL, ""),
        "--namespace", namespace,
        "--endpoint", labels.get(ENDPOINT_LABEL, ""),
        "--component", labels.get(COMPONENT_LABEL, ""),
        *given("--log-store-path", path),
        *given("--log-store-format", form),
        *given("--log-marshaller-url", logging.marshaller_url),
        *given("--log-batch-size", str(logging.batch_size) if logging.batch_size > 0 else ""),
        *given("--log-batch-interval", logging.batch_interval),
        *given("--metadata-headers", ",".join(wanted.logger.metadata_headers or ())),
        *annotation_arguments(wanted, component.annotations.value),
        *given("--logger-ca-cert-file", logging.ca_cert_file),
        "--logger-tls-skip-verify", str(logging.skip_verify).lower(),
    ]  # fmt: skip


def given(flag: str, value: str) -> tuple[str, ...]:
    """A flag with its value, or nothing if there is no value."""
    return (flag, value) if value else ()


def annotation_arguments(wanted: LoggerIntent, annotations: Mapping[str, str]) -> tuple[str, ...]:
    """The annotations that the agent passes on with what it logs."""
    if not wanted.logger.metadata_annotations:
        return ()
    pairs = (f"{key}={annotations[key]}" for _, key in annotation_keys(wanted) if key in annotations)
    return "--metadata-annotations", ",".join(map(list_item, pairs))


def annotation_keys(wanted: LoggerIntent) -> Iterator[tuple[int, str]]:
    """The keys of the annotations, each with the place of its entry in the list; an entry may hold several."""
    for i, entry in enumerate(wanted.logger.metadata_annotations or ()):
        for key in entry.split(","):
            yield i, key


def list_item(text: str) -> str:
    """A text as one item of a comma-separated list.

    The agent reads the list as a line of CSV. KServe quotes nothing, and an annotation with a comma or a quotation mark
    in it keeps the agent from starting.
    """
    if any(c in text for c in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def shortcomings(wanted: LoggerIntent, logging: Logging, component: Component, unit: Unit) -> Iterator[Diagnostic]:
    """Warnings about what a logger asks for and does not get."""
    url = url_of(wanted, logging)
    fault = "" if not url or url.startswith(STORES) else fault_of(url)
    if not url:
        message, remedy = f"the logger of the {component.role} has no URL: it logs nothing", "set logger.url"
        yield finding(unit, NO_TARGET, message, wanted.origin.span(), remedy)
    elif fault:
        message = f"the logger of the {component.role} cannot log to {url!r}: {fault}"
        yield finding(unit, BAD_URL, message, wanted.origin.span(("url",)), "write http://HOST/PATH, or a bucket")
    elif url.startswith(STORES) and not logging.store[0]:
        message = f"the logger of the {component.role} has no path below {url}: it stores nothing"
        yield finding(unit, NO_TARGET, message, wanted.origin.span(), "set storage in spec.predictor.logger")
    for i, key in annotation_keys(wanted):
        if key not in component.annotations.value:
            wanted_key = visible(key)
            message = (
                f"the pods of the {component.role} have no annotation {wanted_key}, which the logger should pass on"
            )
            span = wanted.origin.span(("metadataAnnotations", i))
            yield finding(unit, NO_ANNOTATION, message, span, "correct the key, or set the annotation")


def fault_of(url: str) -> str:
    """Why events cannot be posted to what should be a URL; empty if they can."""
    from kservec.core.golang.urls import url_fault  # noqa: PLC0415 - most runs have no logger

    return url_fault(url) or post_fault(url)


def post_fault(url: str) -> str:
    """Why events cannot be posted to a URL; empty if they can."""
    scheme, has_host, rest = url.partition("://")
    if not has_host or scheme.lower() not in ("http", "https"):
        return "events are posted by http or https"
    return "" if rest.partition("/")[0] else "it has no host"


def unused_settings(unit: Unit, loggers: tuple[LoggerIntent, ...], logging: Logging) -> Iterator[Diagnostic]:
    """Warnings about settings of the predictor's logger that count for buckets alone, where no logger logs to one."""
    own = unit.spec_as(InferenceService).spec.predictor.logger
    if own is None or any(url_of(wanted, logging).startswith(STORES) for wanted in loggers):
        return
    for name, attribute in FOR_BUCKETS.items():
        if getattr(own, attribute) is not None:
            reason = "the agent stores and batches only what it logs to a bucket"
            yield without_effect(unit, (*PREDICTOR_LOGGER, name), reason, "remove it, or set the URL of a bucket")
