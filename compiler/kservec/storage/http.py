"""http: web servers; Secrets with headers to send to a host.

KServe: pkg/credentials/https/https_secret.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.models.credentials import secret_variable, setting
from kservec.core.models.storage_scheme import Delivery, Lack, Scheme, SchemeTrait
from kservec.core.registry import Credential, Grant

if TYPE_CHECKING:
    from kservec.core.cluster import Secret
    from kservec.core.registry import Env

HOST, HEADERS = "https-host", "headers"


def grant(secret: Secret, _env: Env) -> Grant:
    """The headers in a variable that is named after the host, by reference.

    KServe writes them into the pod in plain text; a reference keeps them out of every manifest.
    """
    host = setting(secret, HOST)
    if host is None or HEADERS not in secret.keys:
        return Grant()
    return Grant((secret_variable(f"{host}-{HEADERS}", secret, HEADERS),))


def lacking(uri: str) -> Lack | None:
    """The host, or the file, which a web server has to be asked for by its name.

    KServe: python/storage, _download_from_uri
    """
    scheme, _, rest = uri.partition("://")
    authority, _, path = rest.partition("?")[0].partition("#")[0].partition("/")
    form = f"{scheme}://HOST/PATH/FILE"
    if authority.rpartition("@")[2].partition(":")[0] == "":
        return Lack("the host", form, is_start=True)
    return None if path.rpartition("/")[2] else Lack("the file", form)


SCHEME = Scheme(
    name="http",
    prefixes=("http://", "https://"),
    delivery=Delivery.DOWNLOAD,
    lacking=lacking,
    traits=frozenset((SchemeTrait.PULLED,)),
)
CREDENTIAL = Credential(name="http", rank=50, keys=lambda _env: (HOST,), grant=grant, settings=(HOST,))
