"""Families of objects that are grown, and of what describes the cluster."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from fuzz.cases import as_input
from fuzz.damaging import BYTE_DAMAGES
from fuzz.growing import grown, grown_own
from fuzz.inputs import INPUT, PLATFORM, Input
from fuzz.mutating import TIMES, add, bend, mutate, set_odd, set_other
from fuzz.stock import Stock
from fuzz.writing import encoded, written

KSERVE = "serving.kserve.io"
COMPILED = (
    (f"{KSERVE}/v1beta1", "InferenceService"), (f"{KSERVE}/v1alpha1", "InferenceGraph"),
    (f"{KSERVE}/v1alpha1", "LLMInferenceService"), (f"{KSERVE}/v1alpha2", "LLMInferenceService"),
    (f"{KSERVE}/v1alpha1", "LocalModelCache"), (f"{KSERVE}/v1alpha1", "LocalModelNamespaceCache"),
    (f"{KSERVE}/v1alpha1", "TrainedModel"),
)  # fmt: skip
DESCRIBING = (
    (f"{KSERVE}/v1alpha1", "ServingRuntime"), (f"{KSERVE}/v1alpha1", "ClusterServingRuntime"),
    (f"{KSERVE}/v1alpha1", "ClusterStorageContainer"), (f"{KSERVE}/v1alpha1", "LocalModelNodeGroup"),
    (f"{KSERVE}/v1alpha1", "LLMInferenceServiceConfig"), (f"{KSERVE}/v1alpha2", "LLMInferenceServiceConfig"),
    ("v1", "ConfigMap"), ("v1", "Secret"), ("v1", "ServiceAccount"), ("v1", "Namespace"), ("v1", "LimitRange"),
    ("v1", "ResourceQuota"), ("gateway.networking.k8s.io/v1", "Gateway"), ("external-secrets.io/v1", "ExternalSecret"),
)  # fmt: skip
CLUSTER = ("kservec.dev/v1alpha1", "Cluster")


def grown_objects(chance: Random, stock: Stock) -> Input:
    """Objects of kinds that are compiled, grown from their schemas, and now and then what describes the cluster."""
    objects = [grown(*chance.choice(COMPILED), chance, stock) for _ in range(chance.choice((1, 1, 1, 2)))]
    around = [grown(*chance.choice(DESCRIBING), chance, stock) for _ in range(chance.choice((0, 0, 1, 2)))]
    files = {f"{INPUT}a.yaml": encoded(written(objects))}
    if around:
        files[f"{chance.choice((INPUT, PLATFORM))}b.yaml"] = encoded(written(around))
    if chance.random() < 0.1:
        files[f"{PLATFORM}c.yaml"] = encoded(written([cluster(chance, stock)]))
    return Input(files, names_revisions=chance.random() < 0.3)


def cluster(chance: Random, stock: Stock) -> Any:
    """A document about the cluster."""
    return {**grown_own("cluster", chance, stock), "apiVersion": CLUSTER[0], "kind": CLUSTER[1]}


def platform(chance: Random, stock: Stock) -> Input:
    """The cluster: KServe's settings (the JSON in their texts too), the Cluster document, runtimes, Secrets."""
    case = chance.choice([c for c in stock.cases if c.is_described or len(c.documents) > 1])
    values = moved(case.values(), chance)
    described = [d for path, found in values.items() if path.startswith(PLATFORM) for d in found]
    document = chance.choice(described or [{}])
    sections = document.get("data") if document.get("kind") == "ConfigMap" else None
    if isinstance(sections, dict) and sections and chance.random() < 0.8:
        name = chance.choice(sorted(sections))
        sections[name] = mutated_section(str(sections[name]), chance, stock)
    else:
        mutate([document], chance.choice(TIMES), chance, stock)
    made = as_input(case, values)
    if chance.random() < 0.3:
        files = {**made.files, f"{PLATFORM}z.yaml": encoded(written([cluster(chance, stock)]))}
        return made.with_files(files)
    return made


def moved(values: dict[str, list[Any]], chance: Random) -> dict[str, list[Any]]:
    """The documents, of which those that describe the cluster now and then do so from the platform's side."""
    if chance.random() < 0.5:
        return values
    names = [kind for _, kind in COMPILED]
    parted = {path: [d for d in documents if d.get("kind") in names] for path, documents in values.items()}
    rest = [d for documents in values.values() for d in documents if d.get("kind") not in names]
    return {**parted, f"{PLATFORM}moved.yaml": rest}


def mutated_section(text: str, chance: Random, stock: Stock) -> str:
    """A section of KServe's settings, which is JSON in a text, changed as JSON or as a text."""
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if value is None or chance.random() < 0.2:
        content = chance.choice(BYTE_DAMAGES)(text.encode(), chance)
        return content.decode("utf-8", "replace")
    mutate([value], chance.choice(TIMES), chance, stock, (set_odd, set_other, add, bend))
    return json.dumps(value)
