"""Configuration: KServe's and Knative's config maps and the facts of Cluster documents become a PlatformConfig.

Lays texts over texts and fields over fields. What a section means, and whether it can be read, is PlatformConfig's.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from kservec.core.golang.decoding import decode
from kservec.core.platform import PlatformConfig
from kservec.core.records import evolve
from kservec.core.section_text import SectionText
from kservec.documents.secrets import metadata_of, texts

if TYPE_CHECKING:
    from kservec.core.tree import Json
    from kservec.documents.entries import Entry
    from kservec.documents.facts import Facts

KSERVE_CONFIG = "inferenceservice-config"
KNATIVE_NAMESPACE = "knative-serving"
KNATIVE_CONFIGS = (
    "config-autoscaler",
    "config-defaults",
    "config-deployment",
    "config-domain",
    "config-features",
    "config-network",
)
EXAMPLE = "_example"
"""The data key of Knative's shipped config maps that holds documentation only."""


def read_platform(config_maps: Iterable[Entry], facts: Iterable[Facts], absent: Iterable[str]) -> PlatformConfig:
    """The configuration of the target cluster.

    Args:
        config_maps: the ConfigMaps of the run, weakest first. Of several, later ones override single data keys.
        facts: the Cluster documents, weakest first. Their fields override those of all ConfigMaps.
        absent: kinds that the caller says the cluster does not have.
    """
    config_maps = list(config_maps)
    kserve = [entry for entry in config_maps if entry.ref.name == KSERVE_CONFIG]
    platform = PlatformConfig(
        texts={
            k: SectionText(v, e.document, k) for e in kserve for k, v in texts(e.document.value.get("data")).items()
        },
        knative=knative_configs(config_maps),
        knative_spans={e.ref.name: e.document.span(("data",)) for e in config_maps if is_knative(e)},
        absent=frozenset(absent),
    )
    if namespace := kserve_namespace(kserve):
        platform = evolve(platform, kserve_namespace=namespace)
    for fact in facts:
        platform = with_facts(platform, fact)
    return platform


def kserve_namespace(configs: Iterable[Entry]) -> str:
    """KServe's namespace: that of the last configuration that names one; empty if none does."""
    return next((entry.ref.namespace for entry in reversed([*configs]) if names_namespace(entry)), "")


def names_namespace(entry: Entry) -> bool:
    """Whether a document says which namespace it belongs to; a patch or a template often does not."""
    return bool(metadata_of(entry.document.value).get("namespace"))


def is_knative(entry: Entry) -> bool:
    """Whether a ConfigMap is one of Knative's."""
    return entry.ref.name in KNATIVE_CONFIGS and entry.ref.namespace == KNATIVE_NAMESPACE


def knative_configs(config_maps: Iterable[Entry]) -> dict[str, Mapping[str, str]]:
    """Knative's config maps by name.

    A later one overrides single data keys, except in `config-domain`: there each key is a domain, and those of two
    config maps must not mix.
    """
    configs: dict[str, Mapping[str, str]] = {}
    for entry in filter(is_knative, config_maps):
        name = entry.ref.name
        settings = {key: text for key, text in texts(entry.document.value.get("data")).items() if key != EXAMPLE}
        configs[name] = settings if name == "config-domain" else {**configs.get(name, {}), **settings}
    return configs


def with_facts(platform: PlatformConfig, facts: Facts) -> PlatformConfig:
    """The configuration with the facts of one Cluster document laid over it."""
    model = facts.model
    sections = dict(platform.texts)
    for key, fields in model.inference_service_config.items():
        at = ("inferenceServiceConfig", key)
        sections[key] = overlaid(sections.get(key), SectionText(json.dumps(fields), facts.document, key, at))
    knative, spans = dict(platform.knative), dict(platform.knative_spans)
    for name in type(model.knative).model_fields:
        if settings := getattr(model.knative, name):
            config = f"config-{name}"
            knative[config] = settings if name == "domain" else {**knative.get(config, {}), **settings}
            spans[config] = facts.document.span(("knative", name))
    issuer = model.certificates.issuer
    return evolve(
        platform,
        texts=sections,
        knative=knative,
        knative_spans=spans,
        absent=platform.absent | frozenset(model.absent),
        cluster_domain=model.cluster_domain or platform.cluster_domain,
        kubernetes_version=(model.kubernetes_version or platform.kubernetes_version).removeprefix("v"),
        certificate_issuer=issuer.model_dump() if issuer is not None else platform.certificate_issuer,
    )


def overlaid(base: SectionText | None, over: SectionText) -> SectionText:
    """A section with settings laid over it. A section that is no JSON stays as it is, to be reported."""
    if base is None:
        return over
    try:
        merged = laid_over(decode(base.text), decode(over.text))
    except ValueError:
        return base
    return over._replace(text=json.dumps(merged), below=base)


def laid_over(base: Json, over: Json) -> Json:
    """JSON laid over JSON: maps are merged, anything else is replaced. Keys match without regard to case, as in Go."""
    if not isinstance(base, dict) or not isinstance(over, Mapping):
        return over
    spelling = {key.lower(): key for key in base}
    merged = dict(base)
    for key, value in over.items():
        known = spelling.get(key.lower(), key)
        merged[known] = laid_over(base.get(known), value)
    return merged
