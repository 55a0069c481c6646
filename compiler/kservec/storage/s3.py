"""s3: Amazon S3 and what speaks its protocol; Secrets with an access key; accounts with an IAM role.

KServe: pkg/credentials/s3
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.cluster import Secret
from kservec.core.models.ca_bundle import BUNDLE_CONFIG_MAP_VARIABLE, BUNDLE_FILE_VARIABLE
from kservec.core.models.credentials import secret_variable, setting
from kservec.core.models.storage_scheme import Delivery, Scheme, SchemeTrait, lacking_start
from kservec.core.names import GROUP
from kservec.core.registry import Credential, Grant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.cluster import ServiceAccount
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.spec.configuration import S3Credentials

ACCESS_KEY_ID, SECRET_ACCESS_KEY = "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"
ENDPOINT, USE_HTTPS = "S3_ENDPOINT", "S3_USE_HTTPS"

SETTINGS: tuple[tuple[str, str, str], ...] = (
    ("S3_VERIFY_SSL", f"{GROUP}/s3-verifyssl", "s3_verify_ssl"),
    ("awsAnonymousCredential", f"{GROUP}/s3-useanoncredential", "s3_use_anonymous_credential"),
    ("AWS_DEFAULT_REGION", f"{GROUP}/s3-region", "s3_region"),
    ("S3_USER_VIRTUAL_BUCKET", f"{GROUP}/s3-usevirtualbucket", "s3_use_virtual_bucket"),
    ("S3_USE_ACCELERATE", f"{GROUP}/s3-useaccelerate", "s3_use_accelerate"),
    (BUNDLE_FILE_VARIABLE, f"{GROUP}/s3-cabundle", "s3_ca_bundle"),
    (BUNDLE_CONFIG_MAP_VARIABLE, f"{GROUP}/s3-cabundle-configmap", "s3_ca_bundle_config_map"),
)
"""Variable, which is also the key of a Secret; annotation; field of the configuration. In KServe's order."""


def access_key_id(env: Env) -> str:
    """The key of a Secret under which an access key's name lies."""
    return env.platform.credentials.s3.s3_access_key_id_name or "awsAccessKeyID"


def secret_key(env: Env) -> str:
    """The key of a Secret under which the secret half of an access key lies; Secrets are known by it."""
    return env.platform.credentials.s3.s3_secret_access_key_name or "awsSecretAccessKey"


def grant(secret: Secret, env: Env) -> Grant:
    """The key pair by reference, and the settings in plain text. KServe: s3/s3_secret.go, BuildSecretEnvs."""
    return Grant(
        (
            secret_variable(ACCESS_KEY_ID, secret, access_key_id(env)),
            secret_variable(SECRET_ACCESS_KEY, secret, secret_key(env)),
            *settings(secret, env.platform.credentials.s3),
        )
    )


def from_account(account: ServiceAccount, env: Env) -> Grant:
    """The settings that the annotations of an account with an IAM role give."""
    return Grant(tuple(settings(account, env.platform.credentials.s3)))


def settings(holder: Secret | ServiceAccount, config: S3Credentials) -> Iterator[Json]:
    """The settings that are not empty. KServe: s3/utils.go, BuildS3EnvVars."""
    endpoint = value(holder, ENDPOINT, f"{GROUP}/s3-endpoint", config.s3_endpoint)
    if endpoint:
        yield from endpoint_settings(endpoint.strip(), holder, config)
    for name, annotation, field in SETTINGS:
        text = value(holder, name, annotation, getattr(config, field))
        if text:
            yield {"name": name, "value": text}


def value(holder: Secret | ServiceAccount, key: str, annotation: str, default: str) -> str:
    """One setting: from an annotation, else from the Secret, else from the configuration."""
    text = holder.annotations.get(annotation)
    if text is None and isinstance(holder, Secret) and key in holder.keys:
        text = setting(holder, key)
    return default if text is None else text


def endpoint_settings(endpoint: str, holder: Secret | ServiceAccount, config: S3Credentials) -> Iterator[Json]:
    """The endpoint with and without its URL scheme, which decides about TLS if it is written.

    KServe: s3/utils.go, getEndpointConfiguration
    """
    url_scheme, separator, host = endpoint.partition("://")
    if separator and url_scheme.lower() in ("https", "http"):
        use_https, url = ("1" if url_scheme.lower() == "https" else "0"), endpoint
    else:
        host = endpoint
        use_https = value(holder, USE_HTTPS, f"{GROUP}/s3-usehttps", config.s3_use_https)
        url = f"{'http' if use_https == '0' else 'https'}://{host}"
    if use_https:
        yield {"name": USE_HTTPS, "value": use_https}
    yield {"name": ENDPOINT, "value": host}
    yield {"name": "AWS_ENDPOINT_URL", "value": url}


SCHEME = Scheme(
    name="s3",
    prefixes=("s3://",),
    delivery=Delivery.DOWNLOAD,
    lacking=lacking_start("the bucket", "s3://BUCKET/PATH"),
    traits=frozenset(
        (
            SchemeTrait.STORAGE_TYPE,
            SchemeTrait.BUCKET,
            SchemeTrait.PULLED,
            SchemeTrait.LLM,
            SchemeTrait.LORA,
            SchemeTrait.PRIVATE_AUTHORITY,
        )
    ),
)
CREDENTIAL = Credential(
    name="s3",
    rank=10,
    keys=lambda env: (secret_key(env),),
    grant=grant,
    settings=(ENDPOINT, USE_HTTPS, *(name for name, _, _ in SETTINGS)),
    overwrites=True,
    annotations=(f"{GROUP}/s3-endpoint", f"{GROUP}/s3-usehttps", *(annotation for _, annotation, _ in SETTINGS)),
    account_annotation="eks.amazonaws.com/role-arn",
    from_account=from_account,
)
