"""The KV cache that prefill hands to decode, or that goes to memory: whether its configuration can work."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from .refusals import CONFIG, Refusal
from .settings import Settings
from .words import has, json_object, value

FLAG: Final = "--kv-transfer-config"
ROLES: Final = ("kv_producer", "kv_consumer", "kv_both")
MULTI: Final = "MultiConnector"
NIXL: Final = "Nixl"
SIDE_CHANNEL: Final = "VLLM_NIXL_SIDE_CHANNEL_HOST"


def connectors(config: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The connectors of a configuration: itself, or those that it bundles."""
    waiting = [config]
    while waiting:
        connector = waiting.pop()
        if connector.get("kv_connector") != MULTI:
            yield connector
            continue
        extra = connector.get("kv_connector_extra_config")
        inner = extra.get("connectors") if isinstance(extra, dict) else None
        if not isinstance(inner, list) or not inner or not all(isinstance(entry, dict) for entry in inner):
            remedy = "list them in kv_connector_extra_config.connectors"
            raise Refusal(CONFIG, f"{MULTI} of {FLAG} bundles no connectors", remedy)
        waiting += reversed(inner)


def check_transfer(words: Sequence[str]) -> None:
    """Whether every connector has a name and a role.

    Raises:
        Refusal: one has not.
    """
    if has(words, f"{FLAG}.kv_connector"):
        return
    text = value(words, FLAG)
    if text is None:
        return
    for connector in connectors(json_object(text, FLAG)):
        name, role = connector.get("kv_connector"), connector.get("kv_role")
        if not name or not isinstance(name, str):
            raise Refusal(CONFIG, f"{FLAG} names no kv_connector", "add one, NixlConnector for prefill and decode")
        if role not in ROLES:
            message = f"kv_role of {name} in {FLAG} is {role!r}" if role else f"{name} in {FLAG} has no kv_role"
            raise Refusal(CONFIG, message, f"set it to {', '.join(ROLES[:-1])} or {ROLES[-1]}")


def side_channel(words: Sequence[str], settings: Settings) -> Mapping[str, str]:
    """Where other servers ask a NIXL connector for blocks: at its pod, where vLLM alone would say localhost."""
    text = value(words, FLAG) if has(words, FLAG) else None
    if text is None or settings.side_channel_host or not settings.pod_ip:
        return {}
    names = [str(connector.get("kv_connector")) for connector in connectors(json_object(text, FLAG))]
    return {SIDE_CHANNEL: settings.pod_ip} if any(name.startswith(NIXL) for name in names) else {}
