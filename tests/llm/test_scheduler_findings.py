"""What is said about a scheduler's configuration before it runs."""

from __future__ import annotations

from typing import Any

import pytest

from .services import built, inline, llm, router, slugs


def with_args(*args: str, version: str = "0.10.0") -> dict[str, Any]:
    """A service whose scheduler has arguments of the user's, and is of some version."""
    template = {"containers": [{"name": "main", "args": list(args)}]}
    return llm(router=router({"template": template, "annotations": {"app.kubernetes.io/version": version}}))


def with_config_map(*types: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A service whose scheduler's configuration lies in a ConfigMap, and that."""
    lines = "".join(f"- type: {kind}\n" for kind in types)
    metadata = {"name": "picker", "namespace": "ml"}
    text = f"kind: EndpointPickerConfig\nplugins:\n{lines}"
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"epp": text}}
    return llm(router=router({"config": {"ref": {"name": "picker", "key": "epp"}}})), config


DECIDED = {"type": "pd-profile-handler", "parameters": {"deciderPluginName": 3}}
ELSEWHERE = [{"name": "a", "plugins": [{"pluginRef": "x"}]}]
SKIP = "--model-server-metrics-https-insecure-skip-verify"
TEXT = "kind: EndpointPickerConfig\nplugins:\n- type: max-score-picker\n"


@pytest.mark.parametrize(
    ("service", "found"),
    [
        (llm(router=router(inline("queue-scorer", "max-score-picker"))), []),
        (llm(router=router(inline("queue-score", "max-score-picker"))), ["llm/scheduler-plugin-unknown"]),
        (with_args("--config-text", TEXT.replace("max", "maximal"), version="0.9.0"),
         ["llm/scheduler-version-differs"]),
        (llm(router=router(inline("queue-scorer", schedulingProfiles=ELSEWHERE))),
         ["llm/scheduler-plugin-undeclared"]),
        (with_args("--config-text", "no configuration"), ["llm/scheduler-config-unread"]),
        (with_args("--config-text", "no configuration", version="0.6.0"), ["llm/scheduler-version-differs"]),
        (with_args("--config-file"), ["llm/scheduler-config-flag"]),
        (with_args(f"--config-text={TEXT}"), ["llm/scheduler-configs"]),
        (with_args("--config-text", TEXT, version="v0.10"), ["llm/scheduler-version"]),
        (with_args("--config-file", "/etc/a.yaml", "--lora-info-metric", "x"), ["llm/scheduler-flag"]),
        (with_args("--config-file", "/etc/a.yaml", "--model-server-metrics-path=/m"), ["llm/scheduler-flag"]),
        (with_args("--config-file", "/etc/a.yaml", "--model-server-metrics-port=1"), []),
        (with_args("--config-text", TEXT, f"{SKIP}=maybe"), ["llm/scheduler-flag"]),
        (llm(router=router(inline("max-score-picker", plugins=[DECIDED]))),
         ["llm/scheduler-plugin"]),
    ],
)  # fmt: skip
def test_a_configuration_is_read_before_it_is_used(service: dict[str, Any], found: list[str]) -> None:
    """Names that nothing has, flags that are gone, and texts that are no configuration."""
    assert slugs(built(service)) == found


def test_the_plugins_of_somebody_elses_image_are_not_judged() -> None:
    """It may have more than those of llm-d; that nobody says its version is warned of."""
    template = {"containers": [{"name": "main", "image": "acme/picker:1"}]}
    own = inline("queue-score", "max-score-picker")
    assert slugs(built(llm(router=router({**own, "template": template})))) == ["llm/scheduler-version-unknown"]


def test_a_misspelt_plugin_is_told_its_name() -> None:
    """The nearest type of the scheduler is the hint."""
    found = built(llm(router=router(inline("queue-score", "max-score-picker")))).diagnostics
    (finding,) = (d for d in found if d.code.slug == "llm/scheduler-plugin-unknown")
    assert finding.help == "did you mean queue-scorer?"


def test_predictions_need_their_servers() -> None:
    """A ConfigMap is read too late for the servers to be added, and no file says so but this one."""
    service, config = with_config_map("predicted-latency-producer")
    assert "llm/latency-predictor-missing" in slugs(built(service, config))


def test_tokens_need_a_tokenizer() -> None:
    """The same for the tokenizer, which would be a Deployment without a container."""
    service, config = with_config_map("token-producer")
    assert slugs(built(service, config)) == ["llm/tokenizer-missing"]
    service["spec"]["router"]["scheduler"]["tokenizer"] = {}
    assert slugs(built(service, config)) == []


@pytest.mark.parametrize(
    ("text", "is_fine"),
    [
        ("kind: EndpointPickerConfig\nplugins: []\n", True),
        ("# of ours\nkind: EndpointPickerConfig\n---\n- another\n", True),
        ('{"kind": "EndpointPickerConfig"}', True),
        ("{kind: EndpointPickerConfig}", False),
        ("{{ .Name }}", False),
        ("- kind: EndpointPickerConfig\n", False),
        ("kind: [a: b: c", False),
        ("EndpointPickerConfig", False),
        ("# nothing\n", False),
    ],
)
def test_a_text_of_a_config_map_must_be_a_map(text: str, is_fine: bool) -> None:
    """KServe sends it through the API of services, where an inline configuration is one."""
    service, config_map = with_config_map()
    found = slugs(built(service, {**config_map, "data": {"epp": text}}))
    assert ("llm/scheduler-config-text" in found) is not is_fine
