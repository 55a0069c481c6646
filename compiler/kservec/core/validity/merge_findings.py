"""What a user should know of a merge of runtime and spec, although KServe makes it without a word.

Decides which settings of the two get in each other's way, and which texts stay as they are. Must not know how the two
are merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.golang.placeholders import find_metadata, has_placeholder, missing_values
from kservec.core.pods.containers import uses_nvidia_gpu
from kservec.core.pods.gpu_types import BUILTIN, is_basic
from kservec.core.pods.gpus import DEFAULT_TYPE, FIELDS, quantities
from kservec.core.records import evolve
from kservec.core.serving.arguments import options
from kservec.core.serving.images import OWN_REPOSITORIES, is_pinned, tagged_image
from kservec.core.serving.runtime_defaults import server_type
from kservec.core.unit import finding
from kservec.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.catalog import Runtime
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.intents import RuntimeIntent
    from kservec.core.serving.runtime_pod import RuntimePod
    from kservec.core.tree import Json, Path, Tree
    from kservec.core.unit import Unit

ARGUMENT_TWICE = Code(
    "runtime/argument-twice",
    Severity.NOTE,
    "an argument of the runtime and of the spec",
    "KServe appends the arguments of the spec to those of the runtime, so the server gets both. Most servers heed the "
    "last; one that takes an argument several times heeds both.",
)
PLACEHOLDER_EMPTY = Code(
    "runtime/placeholder-empty",
    Severity.WARNING,
    "a placeholder for a label or annotation that is missing",
    "The runtime puts a label or annotation of the InferenceService into its container, and the service has none of "
    "that name: what is filled in is empty.",
)
PLACEHOLDER_LEFT = Code(
    "runtime/placeholder-left",
    Severity.WARNING,
    "a placeholder that is not filled in",
    "Placeholders are filled in in the serving container, the transformer beside it, and the further containers of a "
    "runtime as far as their texts hold no templates of another kind; in init containers and further containers of the "
    "InferenceService they stay as they are.",
)
VERSION_OF_DIGEST = Code(
    "runtime/version-of-digest",
    Severity.WARNING,
    "a runtime version beside an image that is pinned by digest",
    "runtimeVersion is the tag of the runtime's image, and an image that is pinned by digest has none.",
)
OTHER_VERSION = Code(
    "runtime/version-of-own-image",
    Severity.WARNING,
    "a runtime version that is no release of kservec",
    "runtimeVersion is the tag of the runtime's image. Images that kservec builds are tagged by its releases, not by "
    "the versions of vLLM that are in them; with KServe's runtimes the same field names a version of vLLM.",
)


CPU_BUILD = Code(
    "runtime/cpu-build",
    Severity.WARNING,
    "the CPU build of a server for a container with a GPU",
    "KServe takes a container for one with a GPU only if its limits name one of NVIDIA's, and gives all others the "
    "image of the CPU build.",
)


def merge_findings(
    unit: Unit, pod: Tree, runtime: Runtime, served: RuntimePod, intent: RuntimeIntent
) -> Sequence[Diagnostic]:
    """Everything about a merged pod whose placeholders are not filled in yet.

    `unit` has the labels that the runtime gives to the service, `served` is what the runtime brings.
    """
    serving = pod.value["containers"][0]
    found = [*repeated_arguments(unit, pod, runtime, served)]
    if intent.model.runtime_version is not None:
        image = serving.get("image") or ""
        found += version_of_digest(unit, pod, image, intent)
        found += other_version(unit, image, intent)
    if "resources" in serving and not is_basic(serving["resources"] or {}):
        found += cpu_build(unit, pod, runtime, intent)
    return found


def missing_metadata(unit: Unit, pod: Tree, name: str) -> Iterator[Diagnostic]:
    """Warnings about the placeholders of a container that will be filled with nothing."""
    at = ("containers", name)
    for path, wanted in missing_values(pod.get(*at), unit.metadata):
        message = f"container {name} of {unit.ref} asks for the {wanted}, which is not set: nothing is filled in"
        yield finding(unit, PLACEHOLDER_EMPTY, message, pod.span((*at, *path)), f"set the {wanted} on the service")


def left_placeholders(unit: Unit, pod: Tree, main: Sequence[str] = ()) -> Iterator[Diagnostic]:
    """Warnings about placeholders of a merged pod that are still there, beside its main containers."""
    for field in ("containers", "initContainers"):
        for container in pod.value.get(field) or ():
            if container["name"] in main or not has_placeholder(container):
                continue
            for path, text in texts(container, (field, container["name"])):
                found = find_metadata(text)
                if found is not None:
                    message = f"container {container['name']} gets {found[0]} as it is written"
                    yield finding(unit, PLACEHOLDER_LEFT, message, pod.span(path), "write out what is meant")


def texts(value: Json, at: Path) -> Iterator[tuple[Path, str]]:
    """The texts in a value that may hold placeholders, with their paths."""
    if isinstance(value, str):
        if "{{" in value:
            yield at, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, (*at, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            step = item["name"] if isinstance(item, dict) and isinstance(item.get("name"), str) else i
            yield from texts(item, (*at, step))


def repeated_arguments(unit: Unit, pod: Tree, runtime: Runtime, served: RuntimePod) -> Sequence[Diagnostic]:
    """Notes on arguments of the serving container that the runtime and the spec give different values."""
    args, count = pod.value["containers"][0].get("args") or (), len(served.serving.get("args") or ())
    if not 0 < count < len(args):
        return ()
    told = options(args[count:])
    twice = [option for option in told if option in served.arguments and told[option][0] != served.arguments[option][0]]
    at = ("containers", pod.value["containers"][0]["name"], "args")
    found: list[Diagnostic] = []
    for option in twice:
        (before, there), (value, i) = served.arguments[option], told[option]
        values = f"{before or 'set'} in runtime {runtime.name} and {value or 'set'} here"
        message = f"{option} is {values}; both are passed on"
        remedy = "most servers heed the last; to be sure, give it in one place"
        note = finding(unit, ARGUMENT_TWICE, message, pod.span((*at, count + i)), remedy)
        place = pod.span((*at, there))
        found.append(evolve(note, related=((place, "the runtime's"),) if place is not None else ()))
    return found


def version_of_digest(unit: Unit, pod: Tree, image: str, intent: RuntimeIntent) -> Iterator[Diagnostic]:
    """The warning about a version for an image that has no tag."""
    version = intent.model.runtime_version
    if version is not None and is_pinned(image):
        message = f"runtimeVersion {visible(version)} has no effect: the image is pinned by its digest"
        where = pod.span(("containers", pod.value["containers"][0]["name"], "image"))
        place = intent.place("runtimeVersion").span()
        found = finding(unit, VERSION_OF_DIGEST, message, place, "remove runtimeVersion")
        yield evolve(found, related=((where, "the image"),) if where is not None else ())


def other_version(unit: Unit, image: str, intent: RuntimeIntent) -> Iterator[Diagnostic]:
    """The warning about a version for an image of ours that is another than the one it has."""
    version = intent.model.runtime_version
    repository, _, tag = image.rpartition(":")
    if version is not None and version != tag and repository.endswith(OWN_REPOSITORIES):
        message = (
            f"runtimeVersion {visible(version)} is taken for a release of {repository}, whose tags are those of kservec"
        )
        remedy = f"remove runtimeVersion (the runtime has {tag}), or name another image of vLLM in model.image"
        yield finding(unit, OTHER_VERSION, message, intent.place("runtimeVersion").span(), remedy)


def cpu_build(unit: Unit, pod: Tree, runtime: Runtime, intent: RuntimeIntent) -> Iterator[Diagnostic]:
    """The warning about a container with a GPU of another maker than NVIDIA, whose image is made one for CPUs."""
    container = pod.value["containers"][0]
    other = next((t for f in FIELDS for t in quantities(container, f) if t in BUILTIN and t != DEFAULT_TYPE), None)
    if other is None or uses_nvidia_gpu(container):
        return
    image, server = container.get("image") or "", server_type(runtime, empty_counts=False)
    version = intent.model.runtime_version
    tagged = tagged_image(image, version, server, gpu=False)
    if tagged != tagged_image(image, version, server, gpu=True):
        message = f"{container['name']} asks for {other} and gets the image {tagged}"
        remedy = "name the image in model.image with its digest, for a tag is changed"
        yield finding(unit, CPU_BUILD, message, pod.span(("containers", container["name"], "resources")), remedy)
