"""oci: models in container images, in whichever of the ways the platform chose.

The ways themselves are schemes of their own. Where the platform chose none, the storage initializer downloads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.registry import Delivery, Scheme, SchemeTrait

if TYPE_CHECKING:
    from kservec.core.env import Env

PREFIX = "oci://"


def resolve(uri: str, env: Env) -> str:
    """The URI with the platform's mode written out. KServe: pkg/types/config.go, ResolveOciModelMode."""
    config = env.platform.storage_initializer
    mode = config.oci_model_mode
    if not mode and (config.enable_modelcar or config.enable_oci_model_support):
        mode = "modelcar"
    return f"oci+{mode}://{uri.removeprefix(PREFIX)}" if mode else uri


SCHEME = Scheme(
    name="oci",
    prefixes=(PREFIX,),
    delivery=Delivery.DOWNLOAD,
    traits=frozenset((SchemeTrait.MULTI_NODE,)),
    resolve=resolve,
)
