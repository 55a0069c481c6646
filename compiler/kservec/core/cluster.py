"""Cluster: the objects of the target cluster that specs refer to, by shape.

A Secret is known by its keys and annotations. Of its values only a fixed list is ever read: the settings that KServe
itself copies into pods in plain text (an endpoint, a region, the like) and the non-secret fields of a storage entry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.records import entity, fresh, record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import Span
    from kservec.core.models.local_models import LocalCache, NodeGroup
    from kservec.core.nodes import NodePool
    from kservec.core.text.document import Document
    from kservec.core.tree import Json


ENTRY_FIELDS = ("type", "bucket", "cabundle_configmap")
"""The fields of a storage entry that KServe's controller reads; the container gets the whole entry by reference.

KServe: pkg/credentials/service_account_credentials.go, CreateStorageSpecSecretEnvs
"""


@entity
class Secret:
    """A Secret by shape, equal to itself only. `settings` holds the plain values KServe copies; never a secret one.

    Which keys those are is the plugs' knowledge (`Plugs.secret_settings`); one that is in `keys` but not in `settings`
    has an unknown value. `entries` are the keys whose content is a JSON object of texts, reduced to `ENTRY_FIELDS`;
    None stands for unknown content (of an encrypted or external Secret, or a declared key), and a key that is not
    among them holds something else. `complete` is False where the documents leave out some of the keys that they give
    it, so that its kind may not be known; `others_add` where somebody else may add keys to those.
    """

    namespace: str
    name: str
    keys: frozenset[str]
    annotations: Mapping[str, str] = fresh(factory=dict)
    settings: Mapping[str, str] = fresh(factory=dict)
    entries: Mapping[str, Mapping[str, str] | None] = fresh(factory=dict)
    complete: bool = True
    others_add: bool = False
    span: Span | None = None

    @property
    def all_known(self) -> bool:
        """Whether it surely has no other keys."""
        return self.complete and not self.others_add


@record
class ServiceAccount:
    """A ServiceAccount: its annotations, the Secrets it lists, and its pull secrets."""

    namespace: str
    name: str
    annotations: Mapping[str, str] = fresh(factory=dict)
    secrets: tuple[str, ...] = ()
    image_pull_secrets: tuple[str, ...] = ()
    span: Span | None = None


@record
class Cluster:
    """Objects of the target cluster by namespace and name. `others` holds further kinds as they were written.

    `config_maps` have the texts of ConfigMaps, and `binary_keys` the keys of what else is in them; others may add keys
    to `open_maps`. `bounds` are the documents of the ResourceQuotas and LimitRanges of each namespace that has some;
    `node_pools` the nodes, none where nobody says which there are.
    """

    secrets: Mapping[tuple[str, str], Secret] = fresh(factory=dict)
    service_accounts: Mapping[tuple[str, str], ServiceAccount] = fresh(factory=dict)
    config_maps: Mapping[tuple[str, str], Mapping[str, str]] = fresh(factory=dict)
    binary_keys: Mapping[tuple[str, str], frozenset[str]] = fresh(factory=dict)
    open_maps: frozenset[tuple[str, str]] = frozenset()
    gateways: frozenset[tuple[str, str]] = frozenset()
    namespaces: Mapping[str, Mapping[str, str]] = fresh(factory=dict)
    others: Mapping[str, tuple[Json, ...]] = fresh(factory=dict)
    bounds: Mapping[str, tuple[Document, ...]] = fresh(factory=dict)
    local_caches: tuple[LocalCache, ...] = ()
    node_groups: Mapping[str, NodeGroup] = fresh(factory=dict)
    node_pools: tuple[NodePool, ...] = ()
