"""Admission of ServingRuntimes and ClusterServingRuntimes: the rules of KServe's webhooks for them.

Knows which runtimes are the user's and which are in the cluster already; only the former are judged.
KServe: pkg/webhook/admission/servingruntime/servingruntime_webhook.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.admission.validation.environment import BLOCKED_VARIABLE, blocked
from kservec.admission.validation.multi_node import (
    SEVERAL_CONTAINERS,
    SIZE,
    SIZE_IN_ENVIRONMENT,
    SIZES,
    UNKNOWN_GPU,
)
from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Severity
from kservec.core.names import GPU_RESOURCE_TYPES, GROUP, KSERVE_CONTAINER, WORKER_CONTAINER
from kservec.core.platform import PlatformConfig
from kservec.core.pods.containers import variable
from kservec.core.pods.gpu_types import GPU_ANNOTATION, annotated_types, gpu_types, unknown_types

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.core.catalog import Runtime
    from kservec.core.tree import Json, Path
    from kservec.spec.servingruntime import RuntimeWorkerSpec, SupportedModelFormat

TWO_PRIORITIES = Code(
    "runtime/two-priorities",
    Severity.ERROR,
    "a runtime with two priorities for one model format",
    "All automatically selected entries of one model format in a runtime have the same priority. KServe checks it once "
    "another runtime is there.",
)
SAME_PRIORITY = Code(
    "runtime/same-priority",
    Severity.ERROR,
    "two runtimes with the same priority for one model format",
    "Two runtimes that serve the same version of a model format over a common protocol, and may both be selected "
    "automatically, need different priorities, or no priority.",
)
NO_WORKER_CONTAINER = Code(
    "runtime/no-worker-container",
    Severity.ERROR,
    "a multi-node runtime without a worker container",
    "workerSpec of a runtime needs one container, worker-container; KServe's webhook crashes on a runtime without it.",
)
NO_PLATFORM = PlatformConfig()


class FormatKey(NamedTuple):
    """What two entries of supportedModelFormats have in common where their priorities must differ."""

    scope: str
    multi_model: bool
    name: str
    version: str | None
    priority: int


class Offer(NamedTuple):
    """An entry of a runtime's supportedModelFormats."""

    runtime: Runtime
    at: int


def admit_runtimes(
    runtimes: Sequence[Runtime], existing: Sequence[Runtime] = (), platform: PlatformConfig = NO_PLATFORM
) -> tuple[Diagnostic, ...]:
    """What KServe would say if the runtimes were created one after the other.

    Args:
        runtimes: the user's runtimes, in the order of the input.
        existing: those that are in the cluster before; one that a user's runtime replaces does not count.
        platform: names more GPU types.
    """
    replaced = {(r.namespace, r.name) for r in runtimes}
    offers: dict[FormatKey, list[Offer]] = {}
    scopes: set[str] = set()
    for runtime in existing:
        scopes.add(runtime.namespace)
        if (runtime.namespace, runtime.name) not in replaced:
            _register(runtime, offers)
    found: list[Diagnostic] = []
    for runtime in runtimes:
        if not runtime.spec.disabled:
            found += _check_runtime(runtime, platform)
            if runtime.namespace in scopes:
                found += _check_priorities(runtime)
            found += _check_rivals(runtime, offers)
        scopes.add(runtime.namespace)
        _register(runtime, offers)
    return tuple(found)


def _register(runtime: Runtime, offers: dict[FormatKey, list[Offer]]) -> None:
    for i, key in _keys(runtime):
        offers.setdefault(key, []).append(Offer(runtime, i))


def _keys(runtime: Runtime) -> Iterator[tuple[int, FormatKey]]:
    """The entries of an enabled runtime whose priorities are compared, by index."""
    if runtime.spec.disabled:
        return
    for i, entry in enumerate(runtime.spec.supported_model_formats):
        if entry.auto_select and entry.priority is not None:
            name, multi = entry.name.casefold(), runtime.spec.multi_model
            yield i, FormatKey(runtime.namespace, multi, name, entry.version, entry.priority)


def _check_rivals(runtime: Runtime, offers: dict[FormatKey, list[Offer]]) -> Iterator[Diagnostic]:
    """KServe: validateServingRuntimePriority; runtimes that list no protocols never meet."""
    protocols = frozenset(runtime.spec.protocol_versions)
    for i, key in _keys(runtime):
        for rival in offers.get(key, ()):
            if rival.runtime.name != runtime.name and protocols.intersection(rival.runtime.spec.protocol_versions):
                yield _same_priority(runtime, i, rival)
                break


def _same_priority(runtime: Runtime, i: int, rival: Offer) -> Diagnostic:
    entry = runtime.spec.supported_model_formats[i]
    path: Path = ("spec", "supportedModelFormats", i)
    other = rival.runtime.spec.supported_model_formats[rival.at]
    place = rival.runtime.span("spec", "supportedModelFormats", rival.at, "priority")
    shown = _shown(entry)
    return Diagnostic(
        code=SAME_PRIORITY,
        message=f"{runtime.kind} {rival.runtime.name} has priority {entry.priority} for the model format {shown} too",
        span=runtime.span(*path, "priority"),
        help="give one of them another priority, or set autoSelect: false",
        related=((place, f"{rival.runtime.name} serves {_shown(other)} with priority {other.priority}"),),
        subject=_ref(runtime),
    )


def _shown(entry: SupportedModelFormat) -> str:
    return entry.name if entry.version is None else f"{entry.name} {entry.version}"


def _check_priorities(runtime: Runtime) -> Iterator[Diagnostic]:
    """KServe: validateModelFormatPrioritySame; an entry without a priority, where it is the first, hides the others."""
    first: dict[str, int | None] = {}
    for i, entry in enumerate(runtime.spec.supported_model_formats):
        if not entry.auto_select:
            continue
        known = first.setdefault(entry.name, entry.priority)
        if known is not None and entry.priority is not None and known != entry.priority:
            message = f"the model format {entry.name} has priority {known} above and {entry.priority} here"
            path = ("spec", "supportedModelFormats", i, "priority")
            yield _finding(runtime, TWO_PRIORITIES, message, path, "give all its entries the same priority")


def _check_runtime(runtime: Runtime, platform: PlatformConfig) -> Iterator[Diagnostic]:
    """KServe: validateMultiNodeSpec and validateBlockedEnvVars."""
    worker = runtime.spec.worker_spec
    if worker is not None:
        yield from _check_worker(runtime, worker)
        yield from _check_gpus(runtime, platform)
    for path, container in _containers(runtime):
        for i in blocked(container):
            message = "PYTHONPATH may not be set: it could make the model server run other code"
            help_text = "remove the variable and put the code into the image"
            yield _finding(runtime, BLOCKED_VARIABLE, message, (*path, "env", i, "name"), help_text)


def _containers(runtime: Runtime) -> Iterator[tuple[Path, Mapping[str, Json]]]:
    """Every container of a runtime, its workers' included, and where it stands."""
    for i, container in enumerate(runtime.spec.containers):
        yield ("spec", "containers", i), container
    worker = runtime.spec.worker_spec
    for i, container in enumerate(worker.containers if worker is not None else ()):
        yield ("spec", "workerSpec", "containers", i), container


def _check_worker(runtime: Runtime, worker: RuntimeWorkerSpec) -> Iterator[Diagnostic]:
    path: Path = ("spec", "workerSpec")
    if not worker.containers:
        message = "the runtime's workerSpec has no container"
        yield _finding(runtime, NO_WORKER_CONTAINER, message, path, f"give it one container, {WORKER_CONTAINER}")
    elif len(worker.containers) > 1:
        message = "a worker runs one container only"
        help_text = f"keep {WORKER_CONTAINER} and remove the rest"
        yield _finding(runtime, SEVERAL_CONTAINERS, message, (*path, "containers", 1), help_text)
    sizes = (worker.pipeline_parallel_size, worker.tensor_parallel_size)
    for size, (field, _) in zip(sizes, SIZES, strict=True):
        if size is not None and size < 1:
            yield _finding(
                runtime, SIZE, f"{field} cannot be less than 1", (*path, field), "use 1 or more, or leave it out (1)"
            )
    for i, container in enumerate(runtime.spec.containers):
        if container.get("name") != KSERVE_CONTAINER:
            continue
        for field, name in SIZES:
            if variable(container, name) is not None:
                message = f"{name} is set by KServe in multi-node services"
                at = ("spec", "containers", i, "env", name)
                yield _finding(runtime, SIZE_IN_ENVIRONMENT, message, at, f"set workerSpec.{field} instead")


def _check_gpus(runtime: Runtime, platform: PlatformConfig) -> Iterator[Diagnostic]:
    """The GPU rule; the annotation that names more types is the one that the runtime gives to its pods."""
    text = runtime.spec.annotations.get(GPU_RESOURCE_TYPES)
    if text and annotated_types(text) is None:
        message = f"{GPU_RESOURCE_TYPES} must be a JSON array of resource names; it is {text!r}"
        where = ("spec", "annotations", GPU_RESOURCE_TYPES)
        yield _finding(runtime, GPU_ANNOTATION, message, where, 'write it as ["example.com/gpu"]')
        return
    known = gpu_types(platform, text)
    for path, container in _containers(runtime):
        if container.get("name") != (WORKER_CONTAINER if "workerSpec" in path else KSERVE_CONTAINER):
            continue
        for field, name in unknown_types(container.get("resources") or {}, known):
            message = f"{name} is no GPU that KServe knows"
            help_text = f"list it in the annotation {GPU_RESOURCE_TYPES} of the runtime's spec, or remove it"
            yield _finding(runtime, UNKNOWN_GPU, message, (*path, "resources", field, name), help_text)


def _finding(runtime: Runtime, code: Code, message: str, path: Path, help_text: str) -> Diagnostic:
    return Diagnostic(code=code, message=message, span=runtime.span(*path), help=help_text, subject=_ref(runtime))


def _ref(runtime: Runtime) -> ObjectRef:
    return ObjectRef(f"{GROUP}/v1alpha1", runtime.kind, runtime.namespace, runtime.name)
