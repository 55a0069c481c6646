"""modelscope: the ModelScope hub, which a ClusterStorageContainer must take on; Secrets with a token.

KServe: pkg/credentials/ms/ms_secret.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.models.credentials import secret_variable
from kservec.core.models.storage_scheme import Delivery, Scheme, lacking_owner_or_model
from kservec.core.registry import Credential, Grant

if TYPE_CHECKING:
    from kservec.core.cluster import Secret
    from kservec.core.registry import Env

TOKEN = "MODELSCOPE_API_TOKEN"  # noqa: S105 - the name of a variable


def grant(secret: Secret, _env: Env) -> Grant:
    """The token by reference."""
    return Grant((secret_variable(TOKEN, secret, TOKEN),))


SCHEME = Scheme(
    name="modelscope",
    prefixes=("modelscope://",),
    delivery=Delivery.DOWNLOAD,
    lacking=lacking_owner_or_model,
    most_parts=2,
    supported=False,
    aliases=("ms",),
)
CREDENTIAL = Credential(name="modelscope", rank=80, keys=lambda _env: (TOKEN,), grant=grant)
