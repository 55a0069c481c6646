"""Cluster: the objects that the target cluster has, from manifests and from Cluster documents.

Decides which objects are there and in what shape. Whether a spec may do without one is the passes' business.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from kservec.core.cluster import Cluster, Secret, ServiceAccount
from kservec.core.records import evolve
from kservec.documents.added_keys import gains_keys
from kservec.documents.entries import READ_KINDS, winners
from kservec.documents.facts import declared_secret, declared_service_account
from kservec.documents.local_models import read_local_models
from kservec.documents.secrets import READERS, metadata_of, name_span, read_secret, texts

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.text.source import Document
    from kservec.core.tree import Json
    from kservec.documents.entries import Entry
    from kservec.documents.facts import Facts

OTHER_KINDS = frozenset({
    "Gateway", "HTTPRoute", "InferencePool", "LLMInferenceServiceConfig", "NetworkPolicy", "PersistentVolumeClaim",
})  # fmt: skip
"""Kinds that are kept as they were written."""

Name = tuple[str, str]


def read_cluster(
    entries: Sequence[Entry], facts: Iterable[Facts], plain: frozenset[str]
) -> tuple[Cluster, list[Diagnostic]]:
    """The cluster of a run.

    Args:
        entries: every usable entry, weakest first; a later one replaces an earlier one of the same object.
        facts: the Cluster documents, weakest first; what they declare replaces what manifests say.
        plain: the keys of Secrets whose values are no secrets.
    """
    objects = winners(entries, is_wanted)
    secrets, found = read_secrets(objects, plain)
    local_models = read_local_models(entries)
    cluster = Cluster(
        secrets=secrets,
        service_accounts={key(e): read_service_account(e) for e in objects if e.ref.kind == "ServiceAccount"},
        config_maps={key(e): texts(e.document.value.get("data")) for e in objects if e.ref.kind == "ConfigMap"},
        binary_keys=binary_keys(objects),
        open_maps=frozenset(key(e) for e in objects if e.ref.kind == "ConfigMap" and gains_keys(metadata(e))),
        gateways=frozenset(key(e) for e in objects if e.ref.kind == "Gateway"),
        namespaces={e.ref.name: labels_of(e) for e in objects if e.ref.kind == "Namespace"},
        others=by_kind(objects),
        bounds=bounds_of(objects),
        local_caches=local_models.caches,
        node_groups=local_models.groups,
    )
    for fact in facts:
        cluster = with_declared(cluster, fact)
        if fact.model.node_pools:
            cluster, faults = with_pools(cluster, fact)
            found += faults
    return cluster, found


BOUNDS = frozenset({"LimitRange", "ResourceQuota"})
"""Kinds that bound what a namespace may use."""
WANTED = BOUNDS | OTHER_KINDS | READERS.keys() | {"ConfigMap", "Gateway", "Namespace", "ServiceAccount"}


def is_wanted(entry: Entry) -> bool:
    """Whether an object says something of the cluster. What only has the name of one of Kubernetes' kinds does not."""
    group, kind = entry.ref.group, entry.ref.kind
    return kind in WANTED and (not group or kind not in READ_KINDS[""])


def key(entry: Entry) -> Name:
    """Namespace and name."""
    return entry.ref.namespace, entry.ref.name


def binary_keys(objects: Iterable[Entry]) -> dict[Name, frozenset[str]]:
    """The keys of what is no text in ConfigMaps, of those that have such."""
    found = ((key(e), e.document.value.get("binaryData")) for e in objects if e.ref.kind == "ConfigMap")
    return {name: frozenset(data) for name, data in found if isinstance(data, dict)}


def metadata(entry: Entry) -> Mapping[str, Json]:
    """The metadata of an object."""
    return metadata_of(entry.document.value)


def labels_of(entry: Entry) -> dict[str, str]:
    """The labels of an object."""
    return texts(metadata(entry).get("labels"))


def read_secrets(objects: Iterable[Entry], plain: frozenset[str]) -> tuple[dict[Name, Secret], list[Diagnostic]]:
    """The Secrets that are there or will be made, by namespace and name.

    Of several documents that lead to one Secret it has the keys of all. Where two give the same key the stronger one
    counts; of two equally strong ones the Secret itself.
    """
    secrets: dict[Name, Secret] = {}
    found: list[Diagnostic] = []
    sources = [entry for entry in objects if entry.ref.kind in READERS]
    for entry in sorted(sources, key=lambda entry: (entry.rank, entry.ref.kind == "Secret")):
        secret, faults = read_secret(entry, plain)
        weaker = secrets.get((secret.namespace, secret.name))
        secrets[secret.namespace, secret.name] = secret if weaker is None else united(weaker, secret)
        found += faults
    return secrets, found


def united(weaker: Secret, stronger: Secret) -> Secret:
    """A Secret of which two documents say something. What the stronger says all of, the weaker one may add to."""
    settings = {key: text for key, text in weaker.settings.items() if key not in stronger.keys}
    entries = {key: fields for key, fields in weaker.entries.items() if key not in stronger.keys}
    return evolve(
        stronger,
        keys=weaker.keys | stronger.keys,
        annotations={**weaker.annotations, **stronger.annotations},
        settings={**settings, **stronger.settings},
        entries={**entries, **stronger.entries},
        others_add=stronger.others_add or not weaker.all_known,
    )


def read_service_account(entry: Entry) -> ServiceAccount:
    """A ServiceAccount by shape."""
    body = entry.document.value
    return ServiceAccount(
        namespace=entry.ref.namespace,
        name=entry.ref.name,
        annotations=texts(metadata_of(body).get("annotations")),
        secrets=names(body.get("secrets")),
        image_pull_secrets=names(body.get("imagePullSecrets")),
        span=name_span(entry),
    )


def names(references: Json) -> tuple[str, ...]:
    """The names in a list of references."""
    return tuple(reference.get("name") or "" for reference in references or ())


def by_kind(objects: Iterable[Entry]) -> dict[str, tuple[Json, ...]]:
    """The objects of the other kinds as they were written, by kind, each in the order of namespace and name."""
    groups: dict[str, list[Json]] = {}
    for entry in objects:
        if entry.ref.kind in OTHER_KINDS:
            groups.setdefault(entry.ref.kind, []).append(entry.document.value)
    return {kind: tuple(groups[kind]) for kind in sorted(groups)}


def bounds_of(objects: Iterable[Entry]) -> dict[str, tuple[Document, ...]]:
    """The documents of what bounds namespaces, by namespace, each in the order of kind and name."""
    groups: dict[str, list[Document]] = {}
    for entry in sorted((e for e in objects if e.ref.kind in BOUNDS), key=lambda e: e.ref):
        groups.setdefault(entry.ref.namespace, []).append(entry.document)
    return {namespace: tuple(groups[namespace]) for namespace in sorted(groups)}


def with_declared(cluster: Cluster, facts: Facts) -> Cluster:
    """The cluster with what one Cluster document declares."""
    model, document = facts
    config_maps = {(m.namespace, m.name): m.data for m in model.config_maps}
    secrets = (declared_secret(s, i, document) for i, s in enumerate(model.secrets))
    accounts = (declared_service_account(a, i, document) for i, a in enumerate(model.service_accounts))
    return evolve(
        cluster,
        secrets=laid_over(cluster.secrets, {(s.namespace, s.name): s for s in secrets}),
        service_accounts=laid_over(cluster.service_accounts, {(a.namespace, a.name): a for a in accounts}),
        config_maps=laid_over(cluster.config_maps, config_maps),
        open_maps=cluster.open_maps - config_maps.keys(),
        gateways=cluster.gateways | {(g.namespace, g.name) for g in model.gateways},
        namespaces=laid_over(cluster.namespaces, {n: s.labels if s else {} for n, s in model.namespaces.items()}),
    )


def with_pools(cluster: Cluster, facts: Facts) -> tuple[Cluster, list[Diagnostic]]:
    """The cluster with the node pools of one document, and what is wrong with them; few documents have some."""
    from kservec.documents.node_pools import read_node_pools  # noqa: PLC0415 - as above

    pools, found = read_node_pools(facts)
    known = {pool.name: pool for pool in (*cluster.node_pools, *pools)}
    return evolve(cluster, node_pools=tuple(known.values())), found


def laid_over(base: Mapping, over: Mapping) -> Mapping:  # type: ignore[type-arg]
    """One map over another."""
    return {**base, **over}
