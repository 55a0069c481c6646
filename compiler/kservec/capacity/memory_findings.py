"""Models that do not fit into the memory of their GPUs, as far as that is certain."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kservec.capacity.model_facts import misfits
from kservec.capacity.served_models import LENGTH, served_models
from kservec.core.diagnostics import Code, Severity
from kservec.core.golang.decoding import decode
from kservec.core.policy import MODEL_FACTS
from kservec.core.schemas.faults import Fault
from kservec.policy.servers import servers_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.capacity.served_models import Served
    from kservec.core.tree import Json
    from kservec.policy.scene import Scene

GPU_MEMORY = Code(
    "policy/gpu-memory",
    Severity.WARNING,
    "a model that does not fit into the memory of its GPUs",
    "Weights and the KV cache of one sequence of full length are more than the server may use of a GPU, on every node "
    "pool that has the GPUs. vLLM refuses to start then. The estimate leaves out what a server needs besides, so it "
    "never finds too much. `kservec capacity` shows it with its formulas. Use more GPUs (--tensor-parallel-size), a "
    "quantised model, a shorter context (--max-model-len) or GPUs with more memory.",
)
INVALID = Code(
    "policy/model-facts-invalid",
    Severity.ERROR,
    "facts about a model that cannot be read",
    "The annotation kservec.dev/model-facts is a JSON object with fields of the model's config.json "
    "(num_hidden_layers, num_key_value_heads, head_dim, hidden_size, vocab_size, torch_dtype, kv_lora_rank...), and "
    "`parameters`, `weight_bytes` and `expert_parameters`, which are whole numbers.",
)


def check_gpu_memory(scene: Scene) -> Iterator[Fault]:
    """The models of an object against the GPUs of the pools; nothing is said where a fact is missing."""
    said: set[str] = set()
    for server in servers_of(scene) if scene.site.node_pools else ():
        served = [s for s in served_models(scene, server, scene.site.node_pools) if s.pool]
        if served and all(s.estimate is not None and s.estimate.fits is False for s in served):
            fault = fault_of(served)
            if fault.message not in said:
                said.add(fault.message)
                yield fault


def fault_of(served: Sequence[Served]) -> Fault:
    """The finding about a model that fits on no pool; the figures are those of the largest GPU."""
    best = max(served, key=lambda s: (s.estimate.usable.value or 0) if s.estimate is not None else 0)
    made, server = best.estimate, best.server
    assert made is not None
    name = best.model or "the model"
    if made.rest.value is not None and made.rest.value <= 0:
        what = f"the weights of {name} take {made.weights} of each GPU"
        path = (*server.container.path, "resources")
        hint = "spread the model over more GPUs, quantise it, or use GPUs with more memory"
    else:
        what = f"one sequence of {made.length:,} tokens takes {made.sequence}, and the weights of {name} {made.weights}"
        path = server.place(*LENGTH)
        hint = f"a GPU has room for {made.tokens.value:,} tokens: lower --max-model-len, or spread the model"
    message = (
        f"{server.container.name} cannot hold its model: {what}; of a GPU of pool {best.pool} it may use {made.usable}"
    )
    return Fault(GPU_MEMORY, path, message, help=hint)


def facts_in(annotations: Mapping[str, Json]) -> tuple[Json, tuple[str, ...]]:
    """What annotations say about a model, None if nothing that can be used; and what is wrong with it."""
    text = annotations.get(MODEL_FACTS)
    if text is None:
        return None, ()
    try:
        facts = decode(str(text))
    except ValueError:
        return None, ("is no JSON",)
    wrong = (*(f"has {key} twice in one object" for key in repeated(str(text))), *misfits(facts))
    return (None if wrong else facts), wrong


def repeated(text: str) -> list[str]:
    """The keys that some object of a JSON text has twice: readers of JSON disagree on which of the values counts."""
    found: dict[str, None] = {}

    def gather(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
        keys = [key for key, _ in pairs]
        found.update(dict.fromkeys(key for key in keys if keys.count(key) > 1))
        return dict(pairs)

    json.loads(text, object_pairs_hook=gather)
    return list(found)
