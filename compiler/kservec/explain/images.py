"""The images that compiled objects can name: what a registry has to mirror before anything is compiled.

Decides which images a catalog and a configuration lead to, whatever specs come. Must not know a spec: what one names
is its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.models.node_download import IDLE_IMAGE
from kservec.core.serving.images import tagged_image
from kservec.core.serving.runtime_defaults import server_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.catalog import Catalog, Runtime
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.tree import Json

IMAGE = "image"


def nameable_images(env: Env) -> tuple[str, ...]:
    """Every image that objects can name without a spec naming it, sorted, each once."""
    found = {*images_of_catalog(env.catalog), *images_of_platform(env.platform)}
    return tuple(sorted(image for image in found if image))


def images_of_catalog(catalog: Catalog) -> Iterator[str]:
    """The images of runtimes, in their builds for GPUs and without, of storage containers and of presets."""
    for runtime in catalog.runtimes:
        yield from images_of_runtime(runtime)
    for container in catalog.storage_containers:
        yield from images_in(container.spec.container)
    for preset in catalog.presets.values():
        yield from images_in(preset.spec)


def images_of_runtime(runtime: Runtime) -> Iterator[str]:
    """The images of a runtime as a pod may have them: KServe gives some another tag or name by what they run on."""
    server = server_type(runtime, empty_counts=False)
    for image in images_in(runtime.pod):
        yield from (tagged_image(image, None, server, gpu=gpu) for gpu in (True, False))


def images_of_platform(platform: PlatformConfig) -> Iterator[str]:
    """The images of the containers that KServe injects, of its router and explainer, and of copies on nodes."""
    yield platform.storage_initializer.image
    yield from (section.image for section in (platform.agent, platform.router) if section is not None)
    art = platform.explainers.art
    if art.image:
        yield f"{art.image}:{art.default_image_version}" if art.default_image_version else art.image
    yield from (platform.local_model.default_job_image, IDLE_IMAGE)


def images_in(node: Json) -> Iterator[str]:
    """The images of containers, wherever they are in a value."""
    if isinstance(node, dict):
        image = node.get(IMAGE)
        if isinstance(image, str):
            yield image
        for value in node.values():
            yield from images_in(value)
    elif isinstance(node, list):
        for item in node:
            yield from images_in(item)
