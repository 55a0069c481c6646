"""Models that are encrypted where they are stored: how a key is named, and which models KServe decrypts.

KServe: pkg/validation/confidential.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.models.storage_scheme import Delivery
from kservec.core.patterns import Pattern

if TYPE_CHECKING:
    from kservec.core.models.storage_scheme import Scheme

KEY_FORM: Final = "kbs:///repository/type/tag"
ABOUT_KEYS: Final = (
    "confidential.resourceId names the key that decrypts the model: kbs:///, then repository, type and tag with "
    "slashes between."
)
ABOUT_DECRYPTION: Final = (
    "Only models that the storage initializer downloads are decrypted by KServe. An image is decrypted by the "
    "container runtime (runtimeClassName), and a persistent volume claim is mounted as it is."
)

names_key = Pattern(r"kbs:///[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+").fullmatch
"""Whether a text names a key of a key broker."""


def why_not_decrypted(scheme: Scheme) -> str:
    """Why KServe does not decrypt the models of a storage scheme; empty if it does."""
    if scheme.delivery is Delivery.MOUNT:
        return "a mounted volume is not decrypted"
    if scheme.delivery is Delivery.IMAGE or scheme.resolve is not None:
        return "an image is decrypted by the container runtime (runtimeClassName), not by KServe"
    return ""
