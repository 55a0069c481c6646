"""The image tag that KServe gives a runtime's container: by the version asked for, or by what it runs on.

KServe: pkg/controller/v1beta1/inferenceservice/utils/utils.go, UpdateImageTag
"""

from __future__ import annotations

import re

TAG = re.compile(r":[\w.\-]*$", re.ASCII)
GPU_BUILDS = ("tensorflow-serving", "torchserve", "huggingfaceserver")
"""Servers whose GPU build is the same image with a `-gpu` tag."""
CPU_BUILDS = ("vllmserver",)
"""Servers whose CPU build is a sibling image named `-cpu`."""
GPU_REPOSITORY, CPU_REPOSITORY = "kservec/vllm-cuda", "kservec/vllm-cpu"
"""The images of this project, in whatever registry: that for CPUs is not named after that for GPUs."""
OWN_REPOSITORIES = (GPU_REPOSITORY, CPU_REPOSITORY, "kservec/vllm-rocm")
"""All images of servers that this project builds, in whatever registry."""


def is_pinned(image: str) -> bool:
    """Whether an image is pinned by its digest."""
    return "@sha256:" in image


def tagged_image(image: str, version: str | None, server: str, *, gpu: bool) -> str:
    """The image with the tag that the runtime version, or the server on this hardware, calls for.

    An image pinned by digest stays as it is. `reg:5000/img` has no tag: the version is appended.
    """
    if is_pinned(image):
        return image
    tag = TAG.search(image)
    if version is not None:
        return f"{image[: tag.start()] if tag else image}:{version}"
    if not server or tag is None:
        return image
    repository = image[: tag.start()]
    if gpu and server in GPU_BUILDS and not image.endswith("-gpu"):
        return f"{image}-gpu"
    if not gpu and server in CPU_BUILDS and not repository.endswith("-cpu"):
        return f"{cpu_repository(repository)}{tag[0]}"
    return image


def cpu_repository(repository: str) -> str:
    """Where the build for CPUs is, beside that for GPUs."""
    if repository.endswith(GPU_REPOSITORY):
        return f"{repository.removesuffix(GPU_REPOSITORY)}{CPU_REPOSITORY}"
    return f"{repository}-cpu"
