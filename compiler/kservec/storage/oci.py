"""oci: models in container images, in whichever of the ways the platform chose.

The ways themselves are schemes of their own. Where the platform chose none, the storage initializer downloads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.models.storage_scheme import Delivery, Scheme, SchemeTrait

if TYPE_CHECKING:
    from kservec.core.registry import Env

PREFIX = "oci://"
MODELCAR, FETCH = "modelcar", "fetch"


def resolve(uri: str, env: Env) -> str:
    """The URI with the platform's mode written out."""
    return with_mode(uri, platform_mode(env))


def resolve_for_llm(uri: str, env: Env) -> str:
    """The same for pods of LLMInferenceServices, in which no image is fetched: it comes as a modelcar instead.

    KServe: pkg/controller/v1alpha2/llmisvc/workload_storage.go, attachModelArtifacts
    """
    mode = platform_mode(env)
    return with_mode(uri, MODELCAR if mode == FETCH else mode)


def platform_mode(env: Env) -> str:
    """How the platform brings images in; empty if it does not say. KServe: pkg/types/config.go, ResolveOciModelMode."""
    config = env.platform.storage_initializer
    mode = config.oci_model_mode
    return MODELCAR if not mode and (config.enable_modelcar or config.enable_oci_model_support) else mode


def with_mode(uri: str, mode: str) -> str:
    """The URI of a mode's own scheme; the URI as it is without a mode."""
    return f"oci+{mode}://{uri.removeprefix(PREFIX)}" if mode else uri


SCHEME = Scheme(
    name="oci",
    prefixes=(PREFIX,),
    delivery=Delivery.DOWNLOAD,
    traits=frozenset((SchemeTrait.IMAGES, SchemeTrait.MULTI_NODE, SchemeTrait.LLM)),
    resolve=resolve,
    resolve_for_llm=resolve_for_llm,
)
