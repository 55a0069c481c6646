"""TLS that one side speaks and the other does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.before_gpu.server import Server
    from kservec.core.llm.rules.subject import Subject

CERTIFICATE: Final = ("--ssl-certfile",)
KEY: Final = ("--ssl-keyfile",)
SETTING: Final = "enableLLMInferenceServiceTLS"

HALF = Code(
    "llm/tls-half",
    Severity.WARNING,
    "TLS that is half on",
    "vLLM needs both --ssl-certfile and --ssl-keyfile to speak TLS, for the Secret of a service has certificate and "
    "key in two files.",
)
MISMATCH = Code(
    "llm/tls-mismatch",
    Severity.WARNING,
    "a server that speaks TLS where the others do not, or the other way round",
    "Services, routes, the scheduler and the routing sidecar speak to the pods as enableLLMInferenceServiceTLS says "
    "(section ingress of inferenceservice-config). A command of your own must have --ssl-certfile and --ssl-keyfile "
    "where it is true, and neither where it is false.",
)
OVER_TLS = Code(
    "llm/pool-over-tls",
    Severity.NOTE,
    "a pool of servers that speak TLS",
    "An InferencePool cannot say that its servers speak TLS: its appProtocol is HTTP, of version 1 or 2, with TLS or "
    "without. KServe leaves it to the gateway, and makes nothing that tells it. A BackendTLSPolicy does, or Istio's "
    "DestinationRule; the Service of the pods says https in its appProtocol.",
)
POOL: Final = ("spec", "router", "scheduler", "pool", "spec")
ROUTE: Final = ("spec", "router", "route")


def check_pool_over_tls(subject: Subject) -> Iterator[Diagnostic]:
    """A route to a pool of the service's own, whose servers speak TLS."""
    is_on = subject.platform.ingress.enable_llm_inference_service_tls
    if is_on and subject.at(*POOL) is not None and subject.at(*ROUTE) is not None:
        message = "the gateway reaches the servers by an InferencePool, which cannot say that they speak TLS"
        help_text = "have the gateway speak TLS to them, by a BackendTLSPolicy or in its own way"
        yield subject.finding(OVER_TLS, message, ROUTE, help_text)


def check_tls(subject: Subject, servers: Sequence[Server]) -> Iterator[Diagnostic]:
    """The servers that requests are sent to."""
    expected = subject.platform.ingress.enable_llm_inference_service_tls
    for server in servers:
        if not server.leads:
            continue
        path = (*server.path, "command" if server.container.get("command") else "args")
        if server.is_known and server.has(*CERTIFICATE) != server.has(*KEY):
            has, lacks = (CERTIFICATE, KEY) if server.has(*CERTIFICATE) else (KEY, CERTIFICATE)
            message = f"vLLM of {server.workload.name} has {has[0]}, but no {lacks[0]}"
            yield subject.finding(HALF, message, path, f"add {lacks[0]}, or remove {has[0]}")
        elif (tls := speaks_tls(server)) is not None and tls != expected:
            does, should = ("HTTPS", "HTTP") if tls else ("HTTP", "HTTPS")
            message = f"vLLM of {server.workload.name} speaks {does}, but is spoken to in {should}"
            change = f"set {SETTING}: {str(tls).lower()} in data.ingress of inferenceservice-config"
            fix = "remove --ssl-certfile and --ssl-keyfile" if tls else "add --ssl-certfile and --ssl-keyfile"
            yield subject.finding(MISMATCH, message, path, f"{fix}, or {change}")


def speaks_tls(server: Server) -> bool | None:
    """Whether a server speaks TLS; None where it cannot be told."""
    return server.has(*CERTIFICATE, *KEY) if server.is_known else None
