"""The group of nodes that this one belongs to: who leads, how they find each other, and what vLLM is told of it.

Three ways: data-parallel ranks that know the leader's address; LeaderWorkerSet's variables, with vLLM's own processes
or with Ray; and the variables of KServe's InferenceServices over several nodes, with Ray.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from .parallelism import BACKEND, DATA, DATA_LOCAL, NODES, PIPELINE, START_RANK, TENSOR
from .refusals import CONFIG, USAGE, Refusal
from .settings import Settings
from .words import has, number, port_of, value, without

ADDRESS: Final = ("--data-parallel-address", "-dpa")
RPC_PORT: Final = ("--data-parallel-rpc-port", "-dpp")
RPC_DEFAULT: Final = 29550
NODE_RANK: Final = ("--node-rank", "-r")
MASTER, MASTER_PORT = "--master-addr", "--master-port"
MASTER_DEFAULT: Final = 29501
HEADLESS: Final = "--headless"
RAY, OWN = "ray", "mp"


class Role(Enum):
    """The part of a node in its group."""

    ALONE = "alone"
    LEADER = "leader"
    WORKER = "worker"


@dataclass(frozen=True, kw_only=True)
class Cluster:
    """A group of nodes as one of them sees it.

    `leader` and `port` are where the leader is found, `flag` is the argument that takes its address. `nodes` is how
    many there are, `spread` over how many of them one copy of the model lies.
    """

    role: Role = Role.ALONE
    nodes: int = 1
    spread: int = 1
    index: int = 0
    leader: str = ""
    port: int = 0
    flag: str = ""
    uses_ray: bool = False


def cluster_of(words: Sequence[str], settings: Settings) -> Cluster:
    """The group that arguments or variables describe; arguments win.

    Raises:
        Refusal: the leader has no name, or a rank lies outside of the group.
    """
    if (address := value(words, *ADDRESS)) is not None:
        if not address:
            raise Refusal(
                USAGE, f"{ADDRESS[0]} is empty", "name the leader's pod; a variable in its place may be unset"
            )
        role = Role.WORKER if has(words, HEADLESS) else Role.LEADER
        port = port_of(words, *RPC_PORT) or RPC_DEFAULT
        return Cluster(role=role, leader=address, port=port, flag=ADDRESS[0], index=settings.lws_index)
    if has(words, *NODES):
        return told(words)
    executor = executor_of(words, settings)
    if has(words, *DATA):
        return Cluster()
    if settings.lws_leader and settings.lws_size > 1:
        return leader_worker_set(settings, uses_ray=executor == RAY)
    if executor != OWN and (settings.head_service or settings.node_count > 1):
        return inference_service(settings)
    return Cluster()


def executor_of(words: Sequence[str], settings: Settings) -> str:
    """What starts processes on other nodes, as told."""
    return value(words, *BACKEND) or settings.executor


def told(words: Sequence[str]) -> Cluster:
    """A group that the arguments describe."""
    rank, nodes = number(words, *NODE_RANK) or 0, number(words, *NODES) or 1
    if rank >= nodes:
        raise Refusal(CONFIG, f"{NODE_RANK[0]} is {rank}, and there are {nodes} nodes", "ranks count from 0")
    return Cluster(
        role=Role.WORKER if rank else Role.LEADER,
        nodes=nodes,
        spread=nodes,
        index=rank,
        leader=value(words, MASTER) or "",
        port=port_of(words, MASTER_PORT) or MASTER_DEFAULT,
        flag=MASTER,
    )


def inference_service(settings: Settings) -> Cluster:
    """The head of an InferenceService over several nodes, or a worker, which knows the head's Service."""
    head, nodes = settings.head_service, settings.node_count
    leader = f"{head}.{settings.namespace}.svc" if head and settings.namespace else head
    role = Role.WORKER if head else Role.LEADER
    return Cluster(role=role, nodes=nodes, spread=nodes, leader=leader, port=settings.ray_port, uses_ray=True)


def leader_worker_set(settings: Settings, *, uses_ray: bool) -> Cluster:
    """A node of a LeaderWorkerSet."""
    return Cluster(
        role=Role.WORKER if settings.lws_index else Role.LEADER,
        nodes=settings.lws_size,
        spread=settings.lws_size,
        index=settings.lws_index,
        leader=settings.lws_leader,
        port=settings.ray_port if uses_ray else MASTER_DEFAULT,
        flag="" if uses_ray else MASTER,
        uses_ray=uses_ray,
    )


def node_words(words: Sequence[str], cluster: Cluster, settings: Settings) -> list[str]:
    """The words with what vLLM has to know of its node; the leader's address comes when it is known.

    Raises:
        Refusal: nothing is spread over the nodes, or not evenly.
    """
    found = list(words)
    if cluster.flag == ADDRESS[0]:
        local = number(found, *DATA_LOCAL)
        if cluster.role is Role.WORKER and not has(found, *START_RANK) and local is not None:
            found = [*found, f"{START_RANK[0]}={settings.lws_index * local}"]
        return found
    if cluster.nodes == 1:
        return found
    check_spread(found, cluster.nodes)
    if cluster.uses_ray:
        return found if has(found, *BACKEND) else [*found, f"{BACKEND[0]}={RAY}"]
    if not has(found, *NODES):
        found = [*found, f"{NODES[0]}={cluster.nodes}", f"{NODE_RANK[0]}={cluster.index}"]
        found = [*found, f"{MASTER_PORT}={cluster.port}"]
    return found if cluster.role is Role.LEADER or has(found, HEADLESS) else [*found, HEADLESS]


def check_spread(words: Sequence[str], nodes: int) -> None:
    """Whether a model can be spread over a number of nodes."""
    ranks = (number(words, *TENSOR) or 1) * (number(words, *PIPELINE) or 1)
    if not has(words, "--config") and ranks % nodes:
        message = f"there are {nodes} nodes, and the model is spread over {ranks} GPU{'s' if ranks > 1 else ''}"
        remedy = f"make {TENSOR[0]} times {PIPELINE[0]} a multiple of {nodes}, or run a single node"
        raise Refusal(CONFIG, message, remedy)


def with_leader(words: Sequence[str], cluster: Cluster, address: str) -> list[str]:
    """The words with the leader's address: some sockets of vLLM take no names."""
    if not cluster.flag or not address:
        return list(words)
    names = ADDRESS if cluster.flag == ADDRESS[0] else (cluster.flag,)
    return [*without(words, *names), f"{cluster.flag}={address}"]
