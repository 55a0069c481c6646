"""azure: Azure blob storage and file shares; Secrets with a client, a token or a storage key.

KServe: pkg/credentials/azure/azure_secret.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.models.credentials import secret_variable
from kservec.core.models.storage_scheme import Delivery, Lack, Scheme
from kservec.core.patterns import Pattern
from kservec.core.registry import Credential, Grant

if TYPE_CHECKING:
    from kservec.core.cluster import Secret
    from kservec.core.registry import Env

BLOB, FILE_SHARE = "blob.core.windows.net", "file.core.windows.net"
BLOB_FORM, FILE_FORM = f"https://ACCOUNT.{BLOB}/CONTAINER/PATH", f"https://ACCOUNT.{FILE_SHARE}/SHARE/PATH"
STORAGE_KEY = "AZURE_STORAGE_ACCESS_KEY"
MARKS = ("AZ_CLIENT_ID", "AZURE_CLIENT_ID", "AZURE_ACCESS_TOKEN")

LEGACY_KEYS = {
    "AZURE_SUBSCRIPTION_ID": "AZ_SUBSCRIPTION_ID",
    "AZURE_TENANT_ID": "AZ_TENANT_ID",
    "AZURE_CLIENT_ID": "AZ_CLIENT_ID",
    "AZURE_CLIENT_SECRET": "AZ_CLIENT_SECRET",
}
"""Variables whose keys had other names once; a Secret that has both keeps the old one in use."""

VARIABLES = (
    *LEGACY_KEYS,
    STORAGE_KEY,
    "AZURE_ACCESS_TOKEN",
    "AZURE_ACCESS_EXPIRES_ON_SECONDS",
    "AZURE_ACCOUNT_NAME",
    "AZURE_SERVICE_URL",
)
ALWAYS = "AZURE_TENANT_ID"
"""Referred to even where the Secret lacks it."""

_is_blob = Pattern(r"https://.+?.blob.core.windows.net/.+").search


def claims(uri: str) -> int:
    """All of a URI that names a storage host of Azure."""
    return len(uri) if BLOB in uri or (FILE_SHARE in uri and uri.startswith("https:")) else 0


def accepts(uri: str) -> bool:
    """Whether a URI of a blob names account, container and path.

    KServe: pkg/controller/v1beta1/inferenceservice/utils/utils.go, ValidateStorageURI
    """
    return BLOB not in uri or _is_blob(uri) is not None


def lacking(uri: str) -> Lack | None:
    """What is missing behind a host of Azure; a container may be taken whole, if a slash ends it.

    KServe: python/storage, _parse_azure_uri
    """
    if not uri.startswith("https:"):
        return None
    place, form = ("container", BLOB_FORM) if BLOB in uri else ("share", FILE_FORM)
    holder, slash, _ = uri.partition("://")[2].partition("/")[2].lstrip("/").partition("/")
    if slash:
        return None
    return Lack("the path" if holder else f"the {place} and the path", form)


def grant_client(secret: Secret, _env: Env) -> Grant:
    """Every variable whose key the Secret has, and the tenant."""
    keys = {v: LEGACY_KEYS[v] if LEGACY_KEYS.get(v) in secret.keys else v for v in VARIABLES}
    return Grant(tuple(secret_variable(v, secret, k) for v, k in keys.items() if k in secret.keys or k == ALWAYS))


def grant_storage_key(secret: Secret, _env: Env) -> Grant:
    """The key of the storage account alone."""
    return Grant((secret_variable(STORAGE_KEY, secret, STORAGE_KEY),))


SCHEME = Scheme(
    name="azure",
    prefixes=(),
    delivery=Delivery.DOWNLOAD,
    claims=claims,
    accepts=accepts,
    lacking=lacking,
    forms=(BLOB_FORM, FILE_FORM),
)
CLIENT = Credential(name="azure", rank=30, keys=lambda _env: MARKS, grant=grant_client)
ACCOUNT_KEY = Credential(name="azure-storage-key", rank=40, keys=lambda _env: (STORAGE_KEY,), grant=grant_storage_key)
