"""Command-line arguments: those that KServe adds to transformers and explainers, and what options an argument list has.

KServe: pkg/apis/serving/v1beta1/{transformer_custom,explainer_custom,explainer_art}.go, GetContainer
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.names import DEFAULT_PORT, KSERVE_CONTAINER, MODEL_PATH

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.tree import Json
    from kservec.spec.inferenceservice import ArtExplainer

MODEL_NAME = "--model_name"
PREDICTOR_HOST = "--predictor_host"
HTTP_PORT = "--http_port"
WORKERS = "--workers"


class Facts(NamedTuple):
    """What the arguments tell a component about its service."""

    model: str
    predictor_host: str
    workers: int | None


def options(arguments: Sequence[str]) -> dict[str, tuple[str, int]]:
    """The long options among arguments, each with its last value and the number of its argument."""
    found: dict[str, tuple[str, int]] = {}
    for i, argument in enumerate(arguments):
        name, assigned, value = argument.partition("=")
        if not name.startswith("--"):
            continue
        following = arguments[i + 1] if i + 1 < len(arguments) else "-"
        if not assigned and not following.startswith("-"):
            value = following
        found[name] = (value, i)
    return found


def includes(args: Sequence[str], flag: str) -> bool:
    """Whether an argument begins with a flag. KServe: pkg/utils/collections.go, IncludesArg."""
    return any(a.startswith(flag) for a in args)


def missing(args: Sequence[str], *pairs: tuple[str, str | int | None]) -> list[str]:
    """The flags with their values that are not among the arguments; a value of None leaves its flag out."""
    added: list[str] = []
    for flag, value in pairs:
        if value is not None and not includes(args, flag):
            added += [flag, str(value)]
    return added


def transformer_arguments(args: Sequence[str], facts: Facts) -> list[str]:
    """What a transformer's first container is told beyond what the user wrote."""
    pairs = ((MODEL_NAME, facts.model), (PREDICTOR_HOST, facts.predictor_host), (HTTP_PORT, DEFAULT_PORT))
    return missing(args, *pairs, (WORKERS, facts.workers))


def explainer_arguments(args: Sequence[str], facts: Facts) -> list[str]:
    """What a custom explainer's first container is told; the port is said even if the user said it."""
    return [
        *missing(args, (MODEL_NAME, facts.model), (PREDICTOR_HOST, facts.predictor_host)),
        HTTP_PORT,
        str(DEFAULT_PORT),
        *missing(args, (WORKERS, facts.workers)),
    ]


def art_container(art: ArtExplainer, facts: Facts, image: str) -> Json:
    """The container of an ART explainer: its arguments, then the user's twice, as KServe does."""
    own = list(art.rest.get("args") or [])
    args = [MODEL_NAME, facts.model, HTTP_PORT, str(DEFAULT_PORT)]
    args += missing(own, (PREDICTOR_HOST, facts.predictor_host), (WORKERS, facts.workers))
    if art.storage_uri:
        args += ["--storage_uri", MODEL_PATH]
    args += ["--adversary_type", art.type]
    for key, value in sorted((art.config or {}).items()):
        args += [f"--{key}", value]
    chosen = art.rest.get("image") or f"{image}:{art.runtime_version}"
    return {**art.rest, "name": KSERVE_CONTAINER, "image": chosen, "args": [*args, *own, *own]}
