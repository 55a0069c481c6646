"""Routes that lead to every path of the model server, also to those that nothing protects.

vLLM has endpoints for its operators beside those for users: metrics, tokenizers, sleep, profiling, loading of adapters.
An API key guards the paths below /v1 alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.rules.http_rules import RULES
from kservec.core.pods.containers import variable

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.before_gpu.server import Server
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json, Path

SWITCHES: Final = {
    "VLLM_SERVER_DEV_MODE": "endpoints that put the server to sleep and run code in it",
    "VLLM_ALLOW_RUNTIME_LORA_UPDATING": "endpoints that load LoRA adapters from anywhere",
    "VLLM_TORCH_PROFILER_DIR": "endpoints that start and stop profiling",
}
"""Variables of vLLM that open endpoints for its operators."""
OFF: Final = ("", "0", "false")
EVERYTHING: Final = (".*", "/.*")

CATCH_ALL = Code(
    "llm/route-catch-all",
    Severity.NOTE,
    "a route that leads to every path of the model server",
    "Whoever reaches the gateway also reaches the endpoints of vLLM that are for its operators, such as /metrics. "
    "Describe a route of your own (route.http.spec) with the paths that users need, or keep others out at the gateway.",
)
EXPOSED = Code(
    "llm/route-exposes-operators",
    Severity.WARNING,
    "endpoints for operators that everybody reaches",
    "Variables of vLLM have opened endpoints that change the server, or an API key is meant to guard it, which guards "
    "only what is below /v1. The route leads to every path. Remove the variable, or describe a route of your own "
    "(route.http.spec) with the paths that users need.",
)


def check_exposed(subject: Subject, servers: Sequence[Server]) -> Iterator[Diagnostic]:
    """Rules of the route that lead to every path: a warning for what is open there, else one note."""
    rule = next((i for i, rule in enumerate(subject.at(*RULES) or ()) if leads_everywhere(rule)), None)
    if rule is None:
        return
    dangers = [*opened(servers)]
    for path, what in dangers:
        message = f"the route leads to every path of the model server, and {what}"
        yield subject.finding(EXPOSED, message, path, "remove it, or describe the paths that users need in the route")
    if not dangers:
        message = "the route leads to every path of the model server, also to those that are for its operators"
        help_text = "describe the paths that users need in route.http.spec, or keep others out at the gateway"
        yield subject.finding(CATCH_ALL, message, (*RULES, rule), help_text)


def leads_everywhere(rule: Json) -> bool:
    """Whether a rule sends requests for any path of the server."""
    paths = [(entry.get("urlRewrite") or {}).get("path") or {} for entry in rule.get("filters") or ()]
    rewritten = next((p["replacePrefixMatch"] for p in paths if p.get("replacePrefixMatch") is not None), None)
    matches: Sequence[Json] = rule.get("matches") or [{}]
    return any(is_everything(match.get("path") or {}, rewritten) for match in matches)


def is_everything(path: Json, rewritten: str | None) -> bool:
    """Whether a match, with the prefix that it is rewritten to, takes in any path of the server."""
    kind, text = path.get("type", "PathPrefix"), path.get("value", "/")
    if kind == "PathPrefix":
        return not (text if rewritten is None else rewritten).strip("/")
    return kind == "RegularExpression" and text in EVERYTHING


def opened(servers: Sequence[Server]) -> Iterator[tuple[Path, str]]:
    """Where a server of the service has something open that is not for everybody, and what."""
    for server in servers:
        for name, what in SWITCHES.items():
            if (variable(server.container, name) or "").lower() not in OFF:
                yield (*server.path, "env", name), f"{name} opens {what}"
        key = next((e for e in server.container.get("env") or () if e.get("name") == "VLLM_API_KEY"), None)
        if server.is_known and (server.has("--api-key") or key is not None):
            yield server.path, "its API key guards only those below /v1"
