"""Served models: which model a server of a pod serves, what is known of that, and how it is told to serve it.

Decides where facts come from: the service's own annotation, else the lock file, else the table of known models. What
stands nowhere is not made up. Must not know a formula.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.capacity.gpu_memory import UNSPREAD, Estimate, Serving, Split, estimate
from kservec.capacity.known_models import known_model
from kservec.capacity.model_facts import ModelFacts, facts_of
from kservec.capacity.needs import Member
from kservec.capacity.placing import obstacle
from kservec.core.records import evolve
from kservec.policy.fit import PER_GPU, SHARE, decimal, gibibytes, nodes_of, ranks_of
from kservec.policy.models import MODELS, SEPARATOR, uris_in
from kservec.policy.servers import BACKEND, DATA, PIPELINE, TENSOR
from kservec.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.nodes import NodePool
    from kservec.core.registry import Plugs
    from kservec.core.tree import Json
    from kservec.policy.scene import Scene, Site
    from kservec.policy.servers import Server

LENGTH: Final = ("--max-model-len",)
SEQUENCES: Final = ("--max-num-seqs",)
DTYPE: Final = ("--dtype",)
QUANTIZATION: Final = ("--quantization", "-q")
OFFLOAD: Final = PER_GPU[0]
CACHE_DTYPE: Final = ("--kv-cache-dtype",)
NODES: Final = ("--nnodes",)
ENGINE: Final = ("--backend",)
"""What KServe's own server runs a model with: `huggingface` is not vLLM, and keeps no cache beforehand."""
AUTO: Final = "auto"
DEFAULT_SHARE: Final = Fraction(9, 10)
"""vLLM: vllm/config/cache.py, gpu_memory_utilization"""
SUFFIXES: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
"""vLLM: vllm/utils/argparse_utils.py and vllm/engine/arg_utils.py, human_readable_int"""
_match_size = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,18})?)([kmgKMG]?)").fullmatch
_find_served = re.compile(r"vllm\s+serve\s+([^\s\-][^\s]*)").search
_is_name = re.compile(r"[\w.-]+/[\w.-]+").fullmatch


class Served(NamedTuple):
    """A model as it is served: the name that it goes by, empty if it has none, its facts, and the estimate.

    `gpu` is the resource that the server gets its GPUs as, `pool` the node pool whose GPU counts.
    """

    server: Server
    model: str
    facts: ModelFacts | None
    gpu: str
    pool: str
    estimate: Estimate | None


def served_models(scene: Scene, server: Server, pools: tuple[NodePool, ...]) -> Iterator[Served]:
    """The model of a server on the GPUs of each of the pools that have as many, and whose labels and taints let it in.

    Args:
        scene: the object that has the server.
        server: one that takes the flags of vLLM.
        pools: the node pools; where none of them is for it, the memory of the GPU is not known.
    """
    model = model_of(server, scene.site.plugs)
    facts = facts_for(scene, server, model)
    gpu = next((name for name in gpu_names(scene.site, pools) if server.amount(name)), "")
    member = Member(1, server.pod.spec, server.pod.spec_path, {gpu: server.gpus((gpu,))})
    taking = (pool for pool in pools if obstacle(member, pool) is None)
    devices = [(pool.name, device) for pool in taking if (device := pool.device(gpu)) is not None]
    doubt = lack_of_gpus(server, gpu, nodes_of(scene), pools)
    for name, memory in [(name, device.memory) for name, device in devices] or [("", None)]:
        serving = serving_of(server, memory)
        if doubt:
            serving = evolve(serving, split=None, doubt=f"{UNSPREAD}: {doubt}")
        yield Served(server, model, facts, gpu, name, estimate(facts, serving) if facts is not None and gpu else None)


def lack_of_gpus(server: Server, gpu: str, pods: int, pools: tuple[NodePool, ...]) -> str:
    """That a server is told of more ranks than there can be; empty where each may have a GPU.

    Args:
        server: one that takes the flags of vLLM.
        gpu: the resource that it gets its GPUs as.
        pods: over how many pods it is spread; others may be of further objects, as `--nnodes` tells.
        pools: the node pools, if any are stated.
    """
    split, has = split_of(server), server.gpus((gpu,)) * max(pods, server.number(*NODES) or 1)
    if split is None:
        return ""
    within = ranks_of(server) or split.tensor * split.pipeline
    if within > has:
        return f"it is told of {plural(within, 'rank')}, and has {plural(has, 'GPU')}"
    ranks, total = split.tensor * split.pipeline * split.data, sum(pool.room.get(gpu, 0) * pool.most for pool in pools)
    return (
        f"it is told of {plural(ranks, 'rank')}, and all pools have {plural(total, 'GPU')}" if ranks > total > 0 else ""
    )


def gpu_names(site: Site, pools: tuple[NodePool, ...]) -> tuple[str, ...]:
    """The resources that are GPUs or partitions of some."""
    offered = (device.resource for pool in pools for device in pool.devices)
    return tuple(dict.fromkeys((*site.gpus, *offered)))


def model_of(server: Server, plugs: Plugs) -> str:
    """The name of the model's repository on a hub; empty where it has none."""
    uri = next((uri for _, uri in uris_in(server.pod, plugs)), "")
    if uri:
        return without_revision(uri, plugs).partition(SEPARATOR)[2]
    found = _find_served(server.text)
    named = [*([found[1]] if found else []), *server.values(*MODELS)]
    name = named[-1].strip("\"'") if named else ""
    return name if _is_name(name) else ""


def facts_for(scene: Scene, server: Server, model: str) -> ModelFacts | None:
    """What is known of the model of a server; None if nothing is."""
    if scene.model_facts is not None:
        return facts_of(scene.model_facts, f"the annotation of {scene.owner.name}")
    locked = locked_facts(scene, server) if scene.site.lock is not None and scene.site.lock.facts else None
    return facts_of(locked, "the lock file") if locked is not None else known_model(model)


def locked_facts(scene: Scene, server: Server) -> Json:
    """The facts in the lock file; it names a model as the spec does, and builds write the commit into the URI."""
    plugs, lock = scene.site.plugs, scene.site.lock
    assert lock is not None
    named = {without_revision(uri, plugs): facts for uri, facts in lock.facts.items()}
    places = (without_revision(uri, plugs) for _, uri in uris_in(server.pod, plugs))
    return next((named[place] for place in places if place in named), None)


def without_revision(uri: str, plugs: Plugs) -> str:
    """A URI without its revision."""
    scheme = plugs.scheme(uri)
    return scheme.revision_of(uri)[0] if scheme is not None else uri


def serving_of(server: Server, gpu_memory: int | None) -> Serving:
    """How a server is told to serve, on GPUs of so much memory."""
    share, length = server.values(*SHARE), told_number(server, *LENGTH)
    if not server.is_known or "huggingface" in server.values(*ENGINE):
        doubt = "it serves without vLLM" if server.is_known else "not all that it is told can be seen"
        return Serving(split=None, doubt=f"{UNSPREAD}: {doubt}", gpu_memory=gpu_memory)
    return Serving(
        split=split_of(server),
        gpu_memory=gpu_memory,
        utilisation=share_in(share[-1]) if share else DEFAULT_SHARE,
        length=length,
        sequences=told_number(server, *SEQUENCES),
        dtype=told_word(server, *DTYPE),
        quantization=told_word(server, *QUANTIZATION),
        cache_dtype=told_word(server, *CACHE_DTYPE),
        offload=offloaded(server),
        is_told_length=bool(server.values(*LENGTH)),
        is_told_utilisation=bool(share),
    )


def split_of(server: Server) -> Split | None:
    """Over how many ranks a server is told to spread its model; None where that cannot be told."""
    ranks = [server.number(*flags) for flags in (TENSOR, PIPELINE, DATA)]
    if 0 in ranks or "ray" in server.values(*BACKEND):
        return None
    return Split(*(1 if rank is None else rank for rank in ranks))


def offloaded(server: Server) -> int | None:
    """What is kept in the memory of the node, for each GPU, in bytes; None where that cannot be told."""
    values = server.values(*OFFLOAD)
    return gibibytes(values[-1]) if values else 0


def told_number(server: Server, *flags: str) -> int | None:
    """The number of tokens or sequences that a flag has in the end; None where it says none that can be read."""
    values = server.values(*flags)
    match = _match_size(values[-1].strip("\"'").removesuffix("\\")) if values else None
    return int(Fraction(match[1]) * SUFFIXES[match[2]]) or None if match else None


def told_word(server: Server, *flags: str) -> str:
    """The word that a flag has in the end; empty where the model decides."""
    values = server.values(*flags)
    word = values[-1].strip("\"'") if values else ""
    return "" if word in (AUTO, "None") else word


def share_in(text: str) -> Fraction | None:
    """A share as it is written; None for what is no number, and for what vLLM refuses: not above 0, or above 1."""
    number = decimal(text)
    return Fraction(str(number)) if number is not None and 0 < number <= 1 else None
