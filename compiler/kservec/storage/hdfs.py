"""hdfs: the Hadoop file system, by its own protocol and over HTTP; Secrets with a name node.

KServe: pkg/credentials/hdfs/hdfs_secret.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.models.credentials import secret_volume
from kservec.core.models.storage_scheme import Delivery, Scheme, SchemeTrait
from kservec.core.pods.mounts import mount
from kservec.core.registry import Credential, Grant

if TYPE_CHECKING:
    from kservec.core.cluster import Secret
    from kservec.core.registry import Env

VOLUME, DIRECTORY = "hdfs-secrets", "/var/secrets/kserve-hdfscreds"


def grant(secret: Secret, _env: Env) -> Grant:
    """All keys of the Secret as files."""
    return Grant((), (mount(VOLUME, DIRECTORY, read_only=True),), (secret_volume(VOLUME, secret),))


SCHEME = Scheme(
    name="hdfs",
    prefixes=("hdfs://", "webhdfs://"),
    delivery=Delivery.DOWNLOAD,
    traits=frozenset((SchemeTrait.STORAGE_TYPE,)),
)
CREDENTIAL = Credential(name="hdfs", rank=60, keys=lambda _env: ("HDFS_NAMENODE",), grant=grant)
