"""Framework settings that KServe checks only where a framework stays what it is: in canaries and under ModelMesh.

Elsewhere a framework becomes a `model` before validation, and runtimes are chosen by other rules.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from kservec.admission.validation.storage import check_storage_spec
from kservec.core.diagnostics import Code, Severity
from kservec.core.pods.containers import uses_nvidia_gpu

if TYPE_CHECKING:
    from kservec.admission.subject import Part, Subject
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Json, Path

ONNX_EXTENSION = Code(
    "framework/onnx-file",
    Severity.ERROR,
    "an ONNX model whose file is not called .onnx",
    "KServe refuses an `onnx` predictor whose storageUri ends in a file extension other than .onnx. A folder is fine.",
)
GPU_VERSION = Code(
    "framework/gpu-version",
    Severity.ERROR,
    "a runtime version for other hardware than the resources ask for",
    "The runtimeVersion of tensorflow and pytorch must contain -gpu exactly if the limits name an NVIDIA GPU.",
)
GPU_SUFFIX = "-gpu"


def check_frameworks(subject: Subject) -> Iterator[Diagnostic]:
    """The predictor's framework, if it still is one after defaulting."""
    yield from check_framework(subject, subject.predictor)


def check_framework(subject: Subject, part: Part) -> Iterator[Diagnostic]:
    """KServe: predictor_{onnxruntime,tfserving,torchserve,pmml}.go, Validate; other frameworks have no rules."""
    if part.model is None:
        return
    step = part.implementations[0]
    for check in CHECKS.get(str(step[0]), ()):
        yield from check(subject, part.model, (*part.path, *step))


def _check_onnx(subject: Subject, model: Json, path: Path) -> Iterator[Diagnostic]:
    name = (model.get("storageUri") or "").rpartition("/")[2]
    extension = name[name.rindex(".") :] if "." in name else ""
    if extension not in ("", ".onnx"):
        message = f"an ONNX model is a file called .onnx; the storageUri ends in {extension}"
        yield subject.finding(
            ONNX_EXTENSION, message, (*path, "storageUri"), "point it at the .onnx file or at its folder"
        )


def _check_gpu_version(subject: Subject, model: Json, path: Path) -> Iterator[Diagnostic]:
    version = model.get("runtimeVersion")
    if version is None:
        return
    gpu = uses_nvidia_gpu(model)
    if gpu and GPU_SUFFIX not in version:
        message = f"the limits ask for a GPU, but runtimeVersion {version} is not a {GPU_SUFFIX} one"
        yield subject.finding(GPU_VERSION, message, (*path, "runtimeVersion"), f"choose a version with {GPU_SUFFIX}")
    elif not gpu and GPU_SUFFIX in version:
        message = f"runtimeVersion {version} is for GPUs, but the limits ask for none"
        help_text = f"choose a version without {GPU_SUFFIX}, or set nvidia.com/gpu in resources.limits"
        yield subject.finding(GPU_VERSION, message, (*path, "runtimeVersion"), help_text)


CHECKS: Mapping[str, tuple[Callable[[Subject, Json, Path], Iterator[Diagnostic]], ...]] = {
    "onnx": (_check_onnx, check_storage_spec),
    "tensorflow": (_check_gpu_version, check_storage_spec),
    "pytorch": (_check_gpu_version, check_storage_spec),
    "pmml": (check_storage_spec,),
}
