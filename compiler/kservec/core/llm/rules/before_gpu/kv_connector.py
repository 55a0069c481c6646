"""Whether what prefill computes reaches decode: both need a connector of vLLM that hands the KV cache over.

Without one decode computes everything again, and nobody notices but by the bill. KServe's presets add none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.rules.subject import PREFILL

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.before_gpu.server import Server
    from kservec.core.llm.rules.subject import Subject

OFFLOADING: Final = "OffloadingConnector"
EXAMPLE: Final = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""

NO_CONNECTOR = Code(
    "llm/pd-without-kv-connector",
    Severity.WARNING,
    "prefill and decode that do not hand over the KV cache",
    "Prefill computes the KV cache of a prompt, and decode is to go on from it. Without --kv-transfer-config vLLM does "
    "not send it over, so that decode computes it once more. Set it for both, for instance in VLLM_ADDITIONAL_ARGS.",
)
_find_given = re.compile(r"--kv[-_]transfer[-_]config(?:[=\s]+[\"'\\]*[{$]|\.)").search
_find_connectors = re.compile(r"kv[-_]connector[\\\"'\s:=]+([A-Za-z]\w*)").findall


def check_kv_connector(subject: Subject, servers: Sequence[Server]) -> Iterator[Diagnostic]:
    """The servers of a service that has prefill."""
    if subject.at("spec", PREFILL) is None:
        return
    lacking = [server for server in servers if server.leads and server.is_known and not hands_over(server)]
    if lacking:
        roles = [PREFILL if server.workload.name == PREFILL else "decode" for server in lacking]
        message = (
            f"vLLM of {' and '.join(roles)} has no KV connector, so decode computes again what prefill has computed"
        )
        yield subject.finding(NO_CONNECTOR, message, ("spec", PREFILL), f"set VLLM_ADDITIONAL_ARGS to {EXAMPLE}")


def hands_over(server: Server) -> bool:
    """Whether a server has a connector, other than the one that only moves the cache to memory and back."""
    if "transfer" not in server.text or not _find_given(server.text):
        return False
    connectors = set(_find_connectors(server.text))
    return connectors != {OFFLOADING}
