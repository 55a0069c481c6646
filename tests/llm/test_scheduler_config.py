"""The scheduler's configuration: the default one, and what later versions make of earlier ones."""

from __future__ import annotations

from typing import Any

import pytest
from tests import libyaml

from kservec.core.llm.scheduler_config.default_text import default_text
from kservec.core.llm.scheduler_config.flags import BadFlagError, parted, scrape_parameters
from kservec.core.llm.scheduler_config.migrations import NoTextError, since_0_7, with_metrics, with_scraping
from kservec.core.llm.scheduler_config.plugins import KNOWN
from kservec.core.llm.scheduler_config.rewriting import Changes, rewritten
from kservec.core.llm.scheduler_config.tokenizing import for_sidecar, with_tokenizer
from kservec.core.llm.scheduler_config.versions import parse_version

URL = "http://chat-tokenizer.ml.svc.cluster.local:8000"


def profile(*refs: str | tuple[str, int]) -> list[dict[str, Any]]:
    """One profile that refers to plugins, some with weights."""
    plugins = [{"pluginRef": r} if isinstance(r, str) else {"pluginRef": r[0], "weight": r[1]} for r in refs]
    return [{"name": "default", "plugins": plugins}]


def by_prefix(tokens: int) -> dict[str, Any]:
    """A decider that counts the tokens which are in no cache."""
    return {"type": "prefix-based-pd-decider", "parameters": {"nonCachedTokens": tokens}}


@pytest.mark.parametrize(
    ("has_prefill", "has_lora", "types"),
    [
        (False, False, ["single-profile-handler", "queue-scorer", "kv-cache-utilization-scorer", "prefix-cache-scorer",
                        "no-hit-lru-scorer", "max-score-picker"]),
        (True, True, ["disagg-headers-handler", "prefill-filter", "decode-filter", "queue-scorer",
                      "kv-cache-utilization-scorer", "active-request-scorer", "prefix-cache-scorer", "max-score-picker",
                      "always-disagg-pd-decider", "disagg-profile-handler", "lora-affinity-scorer"]),
    ],
)  # fmt: skip
def test_the_default_fits_the_servers(has_prefill: bool, has_lora: bool, types: list[str]) -> None:
    """Servers that share prefill and decode get a profile each; adapters get a scorer in every profile."""
    text = default_text(has_prefill=has_prefill, has_lora=has_lora)
    config = libyaml.load(text)
    assert text.startswith("\napiVersion: ")
    assert [p["type"] for p in config["plugins"]] == types
    assert [p["name"] for p in config["schedulingProfiles"]] == (["prefill", "decode"] if has_prefill else ["default"])
    for found in config["schedulingProfiles"]:
        refs = [ref["pluginRef"] for ref in found["plugins"]]
        assert set(refs) <= set(types)
        assert (
            refs.index("lora-affinity-scorer") == int(has_prefill) if has_lora else "lora-affinity-scorer" not in refs
        )


def test_the_default_has_known_plugins_only() -> None:
    """All plugins of the default are types of the pinned scheduler."""
    for has_prefill in (False, True):
        config = libyaml.load(default_text(has_prefill=has_prefill, has_lora=True))
        assert {p["type"] for p in config["plugins"]} <= KNOWN


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("0.10.0", (0, 10, 0, True)),
        ("", (0, 0, 0, True)),
        ("0.7.0-rc.1", (0, 7, 0, False)),
        ("v0.7.0", None),
        ("1", None),
    ],
)
def test_a_version_has_three_numbers(text: str, version: Any) -> None:
    """Without a text it is the oldest; what is no version is none."""
    assert parse_version(text) == version


def test_a_release_comes_after_what_comes_before_it() -> None:
    """A pre-release is older than its release."""
    before, release = parse_version("0.7.0-rc.1"), parse_version("0.7.0")
    assert before is not None
    assert release is not None
    assert before < release


@pytest.mark.parametrize(
    ("parameters", "decider", "declared"),
    [
        ({"threshold": 0}, "always-disagg-pd-decider", {"type": "always-disagg-pd-decider"}),
        ({"threshold": 10}, "prefix-based-pd-decider", by_prefix(3)),
        ({"threshold": "7 characters"}, "prefix-based-pd-decider", by_prefix(2)),
        ({"threshold": "many"}, "prefix-based-pd-decider", by_prefix(1)),
        ({"deciderPluginName": "mine", "threshold": 5}, "mine", None),
    ],
)  # fmt: skip
def test_a_threshold_becomes_a_decider(parameters: Any, decider: str, declared: Any) -> None:
    """What was a number of characters is a plugin that counts tokens, declared before the handler that names it."""
    handler = {"type": "pd-profile-handler", "parameters": {**parameters, "primaryPort": 8000}}
    config = since_0_7({"plugins": [{"type": "a"}, handler], "schedulingProfiles": profile("pd-profile-handler")})
    changed = {
        "type": "disagg-profile-handler",
        "parameters": {"primaryPort": 8000, "deciders": {"prefill": decider}},
    }
    assert config["plugins"] == [{"type": "a"}, *([declared] if declared else []), changed]
    assert config["schedulingProfiles"] == profile("disagg-profile-handler")


def test_a_handler_with_deciders_stays() -> None:
    """A handler in today's form is not changed, and no decider is added."""
    handler = {"type": "disagg-profile-handler", "parameters": {"deciders": {"prefill": "x"}, "threshold": 3}}
    assert since_0_7({"plugins": [handler]}) == {"plugins": [handler]}


def test_a_decider_has_a_name() -> None:
    """A decider that is named by something else than a text is an error, as in KServe."""
    with pytest.raises(NoTextError):
        since_0_7({"plugins": [{"type": "pd-profile-handler", "parameters": {"deciderPluginName": 5}}]})


def test_plugins_that_have_no_place_are_left_alone() -> None:
    """A configuration whose plugins or profiles are no lists of maps does not stop the migrations."""
    config = {
        "plugins": ["odd", {"name": "prefill-header-handler", "type": "x"}],
        "schedulingProfiles": ["odd", {"plugins": 3}],
    }
    assert since_0_7(config) == {**config, "plugins": ["odd", {"name": "disagg-headers-handler", "type": "x"}]}
    assert since_0_7({"plugins": "odd"}) == {"plugins": "odd"}


def test_flags_are_parted_with_their_values() -> None:
    """A flag's value stands beside it or behind it; what begins with a dash is no value."""
    args = ["--a=1", "-b", "2", "--c", "--d", "--a", "3", "b"]
    assert parted(args, ("a", "b", "c")) == (["--d"], {"a": "3", "b": "", "c": ""})


@pytest.mark.parametrize(("value", "skips"), [("", True), ("T", True), ("0", False)])
def test_flags_become_parameters(value: str, skips: bool) -> None:
    """Empty ones are dropped, and what must be true or false is."""
    values = {"model-server-metrics-scheme": "https", "model-server-metrics-path": "",
              "model-server-metrics-https-insecure-skip-verify": value}  # fmt: skip
    assert scrape_parameters(values) == {"scheme": "https", "insecureSkipVerify": skips}


def test_a_flag_that_is_neither_true_nor_false_is_refused() -> None:
    """As the scheduler itself refused it."""
    with pytest.raises(BadFlagError):
        scrape_parameters({"model-server-metrics-https-insecure-skip-verify": "maybe"})


def test_plugins_say_what_flags_said_unless_they_did() -> None:
    """A plugin that names metrics, or says how they are fetched, is left as it is."""
    metrics = with_metrics({"plugins": []}, {"lora-info-metric": "lora"})["plugins"]
    assert metrics[0]["parameters"]["engineConfigs"] == [{"name": "vllm", "loraSpec": "lora"}]
    assert with_metrics({"plugins": [{"type": "core-metrics-extractor"}]}, {"lora-info-metric": "x"}) == {
        "plugins": [{"type": "core-metrics-extractor"}]
    }
    declared = {"plugins": [{"type": "metrics-data-source"}]}
    assert with_scraping(declared, {"scheme": "https"}) == declared
    assert with_scraping({}, {"scheme": "https"})["plugins"] == [
        {"type": "metrics-data-source", "parameters": {"scheme": "https"}}
    ]


def test_a_precise_scorer_becomes_three_plugins() -> None:
    """Its parameters go to the producer, older scorers make room, and profiles keep the first weight."""
    parameters = {
        "indexerConfig": {"tokenizersPoolConfig": {}, "tokenProcessorConfig": {"blockSize": 5}},
        "kvEventsConfig": 1,
    }
    config = {
        "plugins": [
            {"type": "prefix-cache-scorer"},
            {"type": "precise-prefix-cache-scorer", "parameters": parameters},
            {"type": "x"},
        ],
        "schedulingProfiles": profile(("precise-prefix-cache-scorer", 9), "x", ("prefix-cache-scorer", 2)),
    }
    found = with_tokenizer(config, URL)
    assert found["plugins"] == [
        {"type": "x"},
        {"type": "token-producer", "parameters": {"modelName": "/mnt/models/base", "vllm": {"url": URL}}},
        {
            "type": "precise-prefix-cache-producer",
            "parameters": {"tokenProcessorConfig": {"blockSize": 5}, "kvEventsConfig": 1},
        },
        {"type": "prefix-cache-scorer", "parameters": {"prefixMatchInfoProducerName": "precise-prefix-cache-producer"}},
    ]
    assert found["schedulingProfiles"] == profile(("prefix-cache-scorer", 9), "x")


def test_a_producer_of_tokens_keeps_what_it_says() -> None:
    """Only what it does not say is filled in."""
    said = {"type": "token-producer", "parameters": {"modelName": "mine", "vllm": {"timeout": "5s"}}}
    found = with_tokenizer({"plugins": [said]}, URL)["plugins"]
    assert found == [
        {"type": "token-producer", "parameters": {"modelName": "mine", "vllm": {"timeout": "5s", "url": URL}}}
    ]


def test_a_container_for_tokens_is_asked_at_its_socket() -> None:
    """As before 0.9: settings of tokens are copied to the top, and the size of blocks gets its newer name, too."""
    config = {
        "plugins": [
            {
                "type": "precise-prefix-cache-scorer",
                "parameters": {"indexerConfig": {"tokenProcessorConfig": {"seed": 1}}},
            },
            {"type": "prefix-cache-scorer", "parameters": {"blockSize": 16}},
        ]
    }
    precise, prefix = for_sidecar(config)["plugins"]
    assert precise["parameters"]["tokenProcessorConfig"] == {"seed": 1}
    assert precise["parameters"]["indexerConfig"]["tokenizersPoolConfig"]["modelName"] == "base"
    assert prefix["parameters"] == {"blockSize": 16, "blockSizeTokens": 16}


@pytest.mark.parametrize("text", ["- a list", "kind: ''", "a: b", "{", "a\n  b: c\n- d"])
def test_what_is_no_configuration_is_left_alone(text: str) -> None:
    """A text that is no map of a kind is not rewritten."""
    assert rewritten(text, Changes((0, 10, 0, True))) is None


def test_keys_are_sorted_and_old_names_renewed() -> None:
    """The text is written anew even where nothing changed, with the names of the version."""
    api = "inference.networking.x-k8s.io/v1alpha1"
    text = f"kind: EndpointPickerConfig\napiVersion: {api}\nplugins:\n- type: model-server-protocol-metrics\n"
    older, newer = (rewritten(text, Changes((0, minor, 0, True))) for minor in (7, 10))
    assert older is not None
    assert newer is not None
    assert older.text.startswith("apiVersion: inference.networking.x-k8s.io/v1alpha1\nkind: ")
    assert (
        newer.text
        == "apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\nplugins:\n- type: core-metrics-extractor\n"
    )
    assert not newer.keeps_sidecar
