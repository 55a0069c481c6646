"""All that is looked for in a merged service before anything waits for its GPUs: errors where it cannot work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from kservec.core.llm.rules.before_gpu.adapters import check_adapters
from kservec.core.llm.rules.before_gpu.containers import check_containers
from kservec.core.llm.rules.before_gpu.exposed import check_exposed
from kservec.core.llm.rules.before_gpu.gpus import check_gpus
from kservec.core.llm.rules.before_gpu.kv_connector import check_kv_connector
from kservec.core.llm.rules.before_gpu.probes import check_probes
from kservec.core.llm.rules.before_gpu.runtime import check_runtime
from kservec.core.llm.rules.before_gpu.server import servers_of
from kservec.core.llm.rules.before_gpu.tls import check_pool_over_tls, check_tls
from kservec.core.llm.rules.before_gpu.told import check_told
from kservec.core.llm.rules.before_gpu.unprotected import check_unprotected
from kservec.core.llm.rules.confidential import check_decrypted

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.before_gpu.server import ServerRule
    from kservec.core.llm.rules.subject import Rule, Subject

SERVER_RULES: Final[Sequence[ServerRule]] = (
    check_gpus,
    check_told,
    check_runtime,
    check_kv_connector,
    check_probes,
    check_tls,
    check_exposed,
)
OTHER_RULES: Final[Sequence[Rule]] = (
    check_adapters,
    check_containers,
    check_unprotected,
    check_decrypted,
    check_pool_over_tls,
)


def before_gpu(subject: Subject) -> Iterator[Diagnostic]:
    """What there is to say about a merged service that KServe would take."""
    servers = tuple(servers_of(subject))
    for rule in SERVER_RULES:
        yield from rule(subject, servers)
    for other in OTHER_RULES:
        yield from other(subject)
