"""gcs: Google Cloud Storage; Secrets with the key file of a service account.

KServe: pkg/credentials/gcs/gcs_secret.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.models.credentials import secret_volume
from kservec.core.models.storage_scheme import Delivery, Scheme, SchemeTrait, lacking_start
from kservec.core.pods.mounts import mount
from kservec.core.registry import Credential, Grant

if TYPE_CHECKING:
    from kservec.core.cluster import Secret
    from kservec.core.registry import Env

VOLUME, DIRECTORY = "user-gcp-sa", "/var/secrets/"


def key_file(env: Env) -> str:
    """The key of the Secret, and the name of the file that it becomes."""
    return env.platform.credentials.gcs.gcs_credential_file_name or "gcloud-application-credentials.json"


def grant(secret: Secret, env: Env) -> Grant:
    """The key file as a mount, and the variable that Google's libraries look into."""
    return Grant(
        ({"name": "GOOGLE_APPLICATION_CREDENTIALS", "value": DIRECTORY + key_file(env)},),
        (mount(VOLUME, DIRECTORY, read_only=True),),
        (secret_volume(VOLUME, secret),),
    )


SCHEME = Scheme(
    name="gs",
    prefixes=("gs://",),
    delivery=Delivery.DOWNLOAD,
    lacking=lacking_start("the bucket", "gs://BUCKET/PATH"),
    traits=frozenset((SchemeTrait.PULLED,)),
)
CREDENTIAL = Credential(name="gs", rank=20, keys=lambda env: (key_file(env),), grant=grant)
