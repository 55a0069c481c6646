"""Whether what a server is told fits what its pod has: GPUs, shared memory, the memory of the container.

Only what contradicts itself is found: how large a model is, nobody says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.paths import lookup
from kservec.core.pods.templates import SIZE
from kservec.core.quantity import canonical, parse_quantity
from kservec.core.schemas.faults import Fault
from kservec.policy.demands import whole
from kservec.policy.servers import BACKEND, DATA, DATA_LOCAL, ELSEWHERE, PIPELINE, TENSOR, servers_of

if TYPE_CHECKING:
    from fractions import Fraction

    from kservec.core.tree import Json, Path
    from kservec.policy.scene import Pod, Scene
    from kservec.policy.servers import Server

GPU_FIT = Code(
    "policy/gpu-fit",
    Severity.WARNING,
    "GPUs that do not match what the server is told",
    "vLLM starts a process for each rank (tensor x pipeline x data parallelism), each on a GPU of its own: with fewer "
    "it fails when it starts, and what is beyond is paid for and never used. Over the nodes of a LeaderWorkerSet their "
    "GPUs count together.",
)
SHARED_MEMORY = Code(
    "policy/shared-memory",
    Severity.WARNING,
    "a server over several GPUs without shared memory of its own",
    "The processes of a server that is spread over GPUs talk through /dev/shm, of which a container has 64 MiB unless "
    "a volume is mounted there. Mount an emptyDir with medium: Memory; with a sizeLimit below the memory limit, for "
    "what is in it counts as the container's memory.",
)
MEMORY_FIT = Code(
    "policy/memory-fit",
    Severity.WARNING,
    "memory settings that contradict each other",
    "What a server is told to keep in the memory of the node (cpu-offload-gb and swap-space for each GPU, the KV "
    "cache of a CPU) and what may lie in /dev/shm must fit into the memory limit of its container; and the share of "
    "a GPU that it may use lies between 0 and 1.",
)
SHM = "/dev/shm"  # noqa: S108 - where shared memory is mounted
MEMORY = "memory"
SHARE = ("--gpu-memory-utilization",)
PER_GPU = (("--cpu-offload-gb",), ("--swap-space",))
CPU_CACHE = "VLLM_CPU_KVCACHE_SPACE"
GIBI = 1 << 30
MOST_GIBI = 1 << 33
"""No quantity of Kubernetes' is more bytes."""
LLM = "LLMInferenceService"


def check_fit(scene: Scene) -> Iterator[Fault]:
    """Each server of an object against its pod."""
    servers = [server for server in servers_of(scene) if server.is_known]
    if scene.owner.kind != LLM:
        # The ranks of LLMInferenceServices are looked at where they are compiled.
        yield from gpu_faults(scene, servers)
    for server in servers:
        yield from shared_memory_faults(scene, server)
        yield from memory_faults(scene, server)


def gpu_faults(scene: Scene, servers: list[Server]) -> Iterator[Fault]:
    """Ranks against GPUs; nothing is said where either cannot be told."""
    for server in servers:
        has, needs = server.gpus(scene.site.gpus) * nodes_of(scene), ranks_of(server)
        if not has or not needs or has == needs:
            continue
        path = server.place(*TENSOR, *PIPELINE, *DATA) if has < needs else (*server.container.path, "resources")
        what = f"{server.container.name} has {has} GPUs, and vLLM is told to use {needs} ({how(server)})"
        yield Fault(GPU_FIT, path, what, help=f"ask for {needs} GPUs, or change the parallelism")


def nodes_of(scene: Scene) -> int:
    """Over how many pods one copy of a server is spread."""
    return whole(lookup(scene.body, SIZE), 1) or 1


def ranks_of(server: Server) -> int:
    """The ranks of a server; 0 where they cannot be told, or other pods have some of them."""
    if server.has(*ELSEWHERE) or "ray" in server.values(*BACKEND) or "$" in "".join(server.values(*TENSOR, *PIPELINE)):
        return 0
    ranks = 1
    for number in counts(server):
        ranks *= 1 if number is None else number
    return ranks


def counts(server: Server) -> tuple[int | None, ...]:
    """Tensor, pipeline and local data parallelism."""
    local = server.number(*DATA_LOCAL)
    return server.number(*TENSOR), server.number(*PIPELINE), server.number(*DATA) if local is None else local


def how(server: Server) -> str:
    """How the ranks come about."""
    names = ("tensor", "pipeline", "data")
    given = [f"{name} {n}" for name, n in zip(names, counts(server), strict=True) if n is not None]
    return " x ".join(given) or "it is told of no parallelism"


def shared_memory_faults(scene: Scene, server: Server) -> Iterator[Fault]:
    """Shared memory of servers over several GPUs."""
    several = max(ranks_of(server), server.gpus(scene.site.gpus))
    volume = volume_at(server, SHM)
    if several > 1 and volume is None:
        message = f"{server.container.name} is spread over {several} GPUs, and nothing is mounted at {SHM}"
        hint = f"mount an emptyDir with medium: Memory at {SHM}"
        yield Fault(SHARED_MEMORY, (*server.container.path, "volumeMounts"), message, help=hint)
    elif several > 1 and (volume or {}).get("emptyDir") is not None and volume["emptyDir"].get("medium") != "Memory":
        path = (*server.pod.spec_path, "volumes", volume["name"], "emptyDir")
        message = f"{SHM} of {server.container.name} lies on a disk"
        yield Fault(SHARED_MEMORY, path, message, help="give the emptyDir medium: Memory")


def volume_at(server: Server, mount_path: str) -> Json:
    """The volume that is mounted at a path; None if there is none."""
    mounts = server.container.body.get("volumeMounts") or ()
    name = next((mount["name"] for mount in mounts if mount.get("mountPath", "").rstrip("/") == mount_path), None)
    return next((v for v in server.pod.spec.get("volumes") or () if v.get("name") == name), None) if name else None


def memory_faults(scene: Scene, server: Server) -> Iterator[Fault]:
    """The share of a GPU, and what lies in the node's memory against the container's limit."""
    share = server.values(*SHARE)
    if share and (number := decimal(share[-1])) is not None and not 0 < number <= 1:
        message = f"{SHARE[0]} of {server.container.name} is {share[-1]}"
        yield Fault(MEMORY_FIT, server.place(*SHARE), message, help="write a share above 0, of at most 1")
    limit = ((server.container.body.get("resources") or {}).get("limits") or {}).get(MEMORY)
    kept = list(kept_in_memory(scene, server))
    total = sum(amount for amount, _, _ in kept)
    if limit and kept and total >= parse_quantity(limit):
        sum_of = " + ".join(what for _, what, _ in kept)
        message = f"{server.container.name} may use {limit} of memory, and is to keep {shown(total)} in it ({sum_of})"
        hint = f"set the memory limit to more than {shown(total)}, or keep less"
        yield Fault(MEMORY_FIT, kept[0][2], message, help=hint)


def kept_in_memory(scene: Scene, server: Server) -> Iterator[tuple[Fraction | int, str, Path]]:
    """What a server keeps in the memory of its node: how much, what, and where it says so."""
    ranks = max(1, ranks_of(server), server.gpus(scene.site.gpus))
    for flags in PER_GPU:
        values = server.values(*flags)
        amount = gibibytes(values[-1]) if values else None
        if amount:
            yield amount * ranks, f"{flags[0]} {values[-1]} x {ranks}", server.place(*flags)
    for entry in server.container.body.get("env") or ():
        if entry.get("name") == CPU_CACHE and (amount := gibibytes(str(entry.get("value") or ""))):
            yield amount, CPU_CACHE, (*server.container.path, "env", CPU_CACHE, "value")
    directory = (volume_at(server, SHM) or {}).get("emptyDir") or {}
    if directory.get("medium") == "Memory" and directory.get("sizeLimit"):
        yield parse_quantity(directory["sizeLimit"]), SHM, shm_path(server.pod, server)


def shm_path(pod: Pod, server: Server) -> Path:
    """Where the size of the shared memory is."""
    return (*pod.spec_path, "volumes", volume_at(server, SHM)["name"], "emptyDir", "sizeLimit")


def decimal(text: str) -> float | None:
    """A number as it is written; None for other texts."""
    try:
        return float(text.strip("\"'"))
    except ValueError:
        return None


def gibibytes(text: str) -> int | None:
    """The bytes of a number of GiB; None for what is no number of them."""
    number = decimal(text)
    return int(number * GIBI) if number is not None and 0 <= number < MOST_GIBI else None


def shown(amount: Fraction | int) -> str:
    """An amount of memory as a quantity."""
    return canonical(f"{int(amount) // (1 << 20)}Mi")
