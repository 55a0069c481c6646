"""Start vLLM as KServe's conventions say.

    kservec-vllm [serve | launch render] [MODEL] [ARGUMENTS of vLLM] [-- ARGUMENTS of a spec]
    kservec-vllm ... --dry-run ...  say what would be run, and check it, but run nothing
    kservec-vllm health [--port N]  whether the server of this container answers: 0, or 1
    kservec-vllm --version          the version of vLLM that it is for
    kservec-vllm --help             this; the arguments of vLLM are told by `vllm serve --help=all`

Exit status: vLLM's own, 128 and more for a signal; 64 what it is told cannot be read, 66 files of the model are
missing, 69 the leader or a node did not come in time, 70 a fault of this program, 73 there is nowhere to write,
78 settings contradict each other or the hardware, 126 and 127 vLLM cannot be run.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence

from . import supervise
from .cluster import Role, with_leader
from .flags import doubts, pinned_version
from .home import home_variables
from .leader import wait_for_leader, wait_for_nodes
from .plan import Plan, make_plan, without_dry_run
from .refusals import SOFTWARE, Refusal
from .settings import Settings, read_settings
from .shown import NAME, say, shown
from .supervise import BY_SIGNAL, Interrupted
from .words import has

VLLM, RAY = "vllm", "ray"
KILLED = BY_SIGNAL + signal.SIGKILL


def main(argv: Sequence[str]) -> int:
    """Run the program; its exit status."""
    try:
        if (answer := answered(argv)) is not None:
            sys.stdout.write(answer)
            return 0
        if (words := without_dry_run(argv))[:1] == ["health"]:
            return health(words[1:])
        supervise.install()
        return start(argv, os.environ)
    except Refusal as refusal:
        say(f"error: {refusal}")
        say(f"help: {refusal.remedy}")
        return refusal.status
    except Interrupted as interrupted:
        say(f"ended by {signal.Signals(interrupted.status - BY_SIGNAL).name} before vLLM was started")
        return interrupted.status
    except Exception as error:  # noqa: BLE001 - whatever it is, who reads a log is helped more by a line than by a traceback
        say(f"error: {type(error).__name__}: {error}")
        say(f"help: this is a fault of {NAME}; start vllm itself meanwhile, and report it")
        return SOFTWARE


def health(words: Sequence[str]) -> int:
    """Ask the server of this container; 0 if it is well, else 1."""
    from .health import is_healthy  # noqa: PLC0415 - what stays beside vLLM needs neither HTTP nor TLS

    return 0 if is_healthy(words, read_settings(os.environ).port) else 1


def answered(argv: Sequence[str]) -> str | None:
    """What is written where help or the version is asked for, wherever that is; None where neither is."""
    if has(argv, "-h", "--help"):
        return __doc__
    return f"{NAME}, for vLLM {pinned_version()}\n" if has(argv, "-v", "--version") else None


def start(argv: Sequence[str], environment: Mapping[str, str]) -> int:
    """Plan, say what will be run, wait for others, run it."""
    settings = read_settings(environment)
    plan = make_plan(argv, settings)
    told = {**home_variables(environment), **plan.variables}
    for name, value in told.items():
        say(f"sets {name}={value}")
    for doubt in doubts(plan.words) if plan.runs_vllm else ():
        say(f"warning: {doubt}")
    if plan.is_dry:
        say(f"would run {shown(command(plan, settings, plan.cluster.leader))}")
        return 0
    address = wait_for_leader(plan.cluster, settings.deadline_seconds)
    return run(plan, settings, address, {**environment, **told})


def run(plan: Plan, settings: Settings, address: str, environment: Mapping[str, str]) -> int:
    """Run what is planned, with Ray's head first where this is one."""
    if plan.cluster.uses_ray and plan.cluster.role is Role.LEADER:
        head = ray_words(plan, settings, "--head", f"--port={plan.cluster.port}")
        say(f"runs {shown(head)}")
        if (status := supervise.run(head, environment)) != 0:
            return status
        wait_for_nodes(plan.cluster, settings.deadline_seconds)
    words = command(plan, settings, address)
    say(f"runs {shown(words)}")
    status = supervise.run(words, environment)
    if status == KILLED:
        say(f"{words[0]} was killed, most often for want of memory: compare resources.limits with what it loads")
    return status


def command(plan: Plan, settings: Settings, address: str) -> list[str]:
    """The program and its words."""
    if plan.runs_vllm:
        return [VLLM, *with_leader(plan.words, plan.cluster, address)]
    return ray_words(plan, settings, f"--address={address}:{plan.cluster.port}", "--block")


def ray_words(plan: Plan, settings: Settings, *words: str) -> list[str]:
    """What starts a node of a Ray cluster. Usage reports and the dashboard are for laptops."""
    own = [f"--node-ip-address={settings.pod_ip}"] if settings.pod_ip else []
    extra = ["--disable-usage-stats"]
    if plan.cluster.role is Role.LEADER:
        extra.append("--include-dashboard=false")
    return [RAY, "start", *words, *own, *extra]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
