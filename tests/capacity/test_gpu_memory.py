"""The estimate of GPU memory: against published figures, and where facts are missing."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests import libyaml

from kservec.capacity.gpu_memory import Serving, Split, estimate
from kservec.capacity.known_models import MODELS, known_model
from kservec.capacity.model_facts import ModelFacts, facts_of, misfits
from kservec.core.records import evolve

GIB = 1 << 30
TOLERANCE = 0.1
PUBLISHED = libyaml.load((Path(__file__).parent / "published.yaml").read_text(encoding="utf-8"))
CONFIG = {
    "parameters": 8030261248, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
    "hidden_size": 4096, "vocab_size": 128256, "max_position_embeddings": 131072, "torch_dtype": "bfloat16",
}  # fmt: skip
A100 = 80 * GIB


def known(name: str) -> ModelFacts:
    """A model of the table."""
    facts = known_model(name)
    assert facts is not None
    return facts


@pytest.mark.parametrize("figure", PUBLISHED, ids=lambda f: f"{f['model'].split('/')[1]}-{f['source'][-12:]}")
def test_the_estimate_is_within_a_tenth_of_what_others_published(figure: dict[str, Any]) -> None:
    """Weights of a GPU, bytes of a checkpoint, and how many tokens a cache of some size holds."""
    serving = Serving(split=Split(figure.get("tensor", 1)), quantization=figure.get("quantization", ""))
    made = estimate(known(figure["model"]), serving)
    assert made.weights.value
    assert made.token.value
    compared = {
        "weights_gib": made.weights.value / GIB,
        "weight_bytes": made.weights.value,
        "cache": figure.get("cache", {}).get("gib", 0) * GIB / made.token.value,
    }
    for name, value in compared.items():
        expected = figure["cache"]["tokens"] if name == "cache" and name in figure else figure.get(name)
        if expected is not None:
            assert value == pytest.approx(expected, rel=TOLERANCE), figure["source"]


def test_there_are_enough_published_figures() -> None:
    """They are about at least eight models, and each says where it is from."""
    assert len({figure["model"] for figure in PUBLISHED}) >= 8
    assert all(figure["source"] and {"weights_gib", "weight_bytes", "cache"} & figure.keys() for figure in PUBLISHED)


@pytest.mark.parametrize("name", MODELS)
def test_every_known_model_can_be_estimated(name: str) -> None:
    """The table leaves out nothing that a figure needs, and names a full commit."""
    made = estimate(known(name), Serving(split=Split(), gpu_memory=A100))
    assert made.fits is not None
    assert len(MODELS[name].revision) == 40


def test_a_figure_shows_its_formula() -> None:
    """Anybody can follow it with a calculator."""
    made = estimate(facts_of(CONFIG, ""), Serving(split=Split(2), gpu_memory=A100, is_told_length=True, length=32768))
    assert str(made.weights) == "7.5Gi = 8,030,261,248 x 2 B (bfloat16) / tensor 2"
    assert str(made.token) == "64Ki = 2 x 32 layers x 8 KV heads / tensor 2 x 128 x 2 B"
    assert str(made.sequence) == "2Gi = 65,536 B x 32,768 tokens"
    assert str(made.usable) == "72Gi = 80Gi x 0.9 (vLLM's default)"
    assert str(made.rest) == "64.5Gi = 72Gi - 7.5Gi"
    assert made.tokens.formula == "64.5Gi / 65,536 B"
    assert made.fits is True


@pytest.mark.parametrize(
    ("removed", "serving", "figure", "reason"),
    [
        (("parameters",), {}, "weights", "the number of parameters is unknown"),
        (("torch_dtype",), {}, "weights", "the data type is unknown"),
        (("torch_dtype",), {}, "token", "the data type is unknown"),
        (("num_hidden_layers",), {}, "token", "the number of layers is unknown"),
        (
            ("num_attention_heads", "num_key_value_heads"),
            {},
            "token",
            "the number of KV heads, or their size, is unknown",
        ),
        (("max_position_embeddings",), {}, "sequence", "the length of the context is unknown"),
        ((), {"gpu_memory": None}, "usable", "the memory of the GPU is unknown"),
        ((), {"utilisation": None}, "usable", "the share of the GPU is no number above 0 and at most 1"),
        ((), {"split": None}, "weights", "how the model is spread over GPUs is unknown"),
        ((), {"split": None}, "token", "how the model is spread over GPUs is unknown"),
        ((), {"split": None, "doubt": "it has fewer GPUs"}, "weights", "it has fewer GPUs"),
        ((), {"offload": None}, "weights", "how much is kept in the memory of the node is unknown"),
        ((), {"dtype": "fp8"}, "weights", "the size of data type fp8 is unknown"),
        ((), {"is_told_length": True}, "sequence", "the length of the context is unknown"),
        ((), {"quantization": "gptq"}, "weights", "how many bits gptq takes is unknown"),
        ((), {"cache_dtype": "fp8_ds_mla"}, "token", "the size of data type fp8_ds_mla is unknown"),
        (("parameters",), {"quantization": "awq"}, "weights", "the number of parameters is unknown"),
        (("vocab_size",), {"quantization": "awq"}, "weights", "how many parameters the embeddings have is unknown"),
    ],
)
def test_what_is_not_known_is_no_figure(
    removed: tuple[str, ...], serving: dict[str, Any], figure: str, reason: str
) -> None:
    """It says what is missing instead, and whether the model fits is unknown then."""
    config = {name: value for name, value in CONFIG.items() if name not in removed}
    made = estimate(facts_of(config, ""), Serving(**{"split": Split(), "gpu_memory": A100, **serving}))
    found = getattr(made, figure)
    assert found.value is None
    assert found.formula.startswith(reason)
    assert made.fits is None


def test_a_quantised_checkpoint_is_taken_by_its_bytes() -> None:
    """Which of its tensors are quantised nobody can tell from the method alone."""
    facts = facts_of({**CONFIG, "weight_bytes": 9081280648, "quantization_config": {"quant_method": "fp8"}}, "")
    assert estimate(facts, Serving(split=Split())).weights.value == 9081280648


def test_a_head_is_never_divided() -> None:
    """With more ranks than KV heads several ranks keep the same head."""
    facts = known("Qwen/Qwen2.5-7B-Instruct")
    values = [estimate(facts, Serving(split=Split(tensor))).token.value for tensor in (1, 2, 4, 8)]
    assert values == [57344, 28672, 14336, 14336]


def test_each_rank_keeps_the_whole_of_a_latent_cache() -> None:
    """Tensor parallelism divides it nothing, pipeline parallelism by layers."""
    facts = known("deepseek-ai/DeepSeek-V3")
    values = [estimate(facts, Serving(split=split)).token.value for split in (Split(1), Split(8), Split(8, 2))]
    assert values == [70272, 70272, 31 * 576 * 2]


def test_the_type_of_the_cache_counts() -> None:
    """An fp8 cache takes half of one in bfloat16."""
    facts = known("Qwen/Qwen3-8B")
    assert estimate(facts, Serving(split=Split(), cache_dtype="fp8")).token.value == 73728


def test_layers_that_keep_less_make_the_cache_unknown() -> None:
    """Sliding windows and linear attention are not counted as if each layer kept everything."""
    windowed = facts_of({**CONFIG, "sliding_window": 4096}, "")
    mixed = facts_of({**CONFIG, "layer_types": ["full_attention", "linear_attention"]}, "")
    unused = facts_of({**CONFIG, "sliding_window": 4096, "use_sliding_window": False}, "")
    values = [estimate(facts, Serving(split=Split())).token.value for facts in (windowed, mixed, unused)]
    assert values == [None, None, 131072]


def test_data_parallel_ranks_share_the_experts() -> None:
    """Each has all of the rest; of a model without experts each has everything."""
    mixture, dense = known("Qwen/Qwen3-30B-A3B"), known("Qwen/Qwen3-8B")
    rest = (30532122624 - 28991029248) * 2
    assert estimate(mixture, Serving(split=Split(1, 1, 8))).weights.value == rest + 28991029248 * 2 // 8
    assert estimate(dense, Serving(split=Split(1, 1, 8))).weights.value == 8190735360 * 2
    unknown = evolve(mixture, expert_parameters=None)
    assert estimate(unknown, Serving(split=Split(1, 1, 8))).weights.value is None


def test_what_is_offloaded_does_not_count() -> None:
    """It lies in the memory of the node."""
    made = estimate(known("Qwen/Qwen3-8B"), Serving(split=Split(), offload=10 * GIB))
    assert made.weights.value == 8190735360 * 2 - 10 * GIB


@pytest.mark.parametrize(
    ("name", "memory", "length", "fits"),
    [
        ("meta-llama/Llama-3.3-70B-Instruct", 80 * GIB, None, False),
        ("Qwen/Qwen3-32B", 80 * GIB, None, True),
        ("Qwen/Qwen3-32B", 72 * GIB, None, False),
        ("Qwen/Qwen3-32B", 72 * GIB, 8192, True),
    ],
)
def test_weights_and_one_sequence_must_fit(name: str, memory: int, length: int | None, fits: bool) -> None:
    """A server that cannot hold one sequence of full length does not start."""
    serving = Serving(
        split=Split(), gpu_memory=memory, utilisation=Fraction(9, 10), length=length, is_told_length=length is not None
    )
    assert estimate(known(name), serving).fits is fits


def test_a_model_that_reads_more_than_text_has_its_facts_deeper() -> None:
    """They are those of its language model."""
    facts = facts_of({"parameters": 8, "text_config": {**CONFIG, "num_hidden_layers": 4}}, "")
    assert (facts.layers, facts.kv_heads) == (4, 8)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ([], ["is no JSON object"]),
        ({"parameters": 0}, ["has parameters: 0, which is no whole number above 0"]),
        ({"parameters": True}, ["has parameters: True, which is no whole number above 0"]),
        ({"text_config": {"vocab_size": 1.5}}, ["has vocab_size: 1.5, which is no whole number above 0"]),
        ({"quantization_config": "fp8"}, ["has quantization_config, which is no JSON object"]),
        ({"parameters": 5, "expert_parameters": 6}, ["has more expert_parameters than parameters"]),
        ({"expert_parameters": 6}, []),
        ({"parameters": 10**400}, ["has parameters of 401 digits, more than any model has"]),
        (
            {"num_key_value_heads": 8, "num_attention_heads": 4},
            ["has more num_key_value_heads than num_attention_heads"],
        ),
        (
            {**CONFIG, "parameters": 8},
            ["has fewer parameters than its embeddings alone, vocab_size x hidden_size"],
        ),
        ({"parameters": 800, "weight_bytes": 99}, ["has less than a bit of weight_bytes for each of its parameters"]),
        ({"parameters": 800, "weight_bytes": 100}, []),
        ({"hidden_size": 2, "num_attention_heads": 4}, ["has more num_attention_heads than elements in hidden_size"]),
        ({"torch_dtype": 16}, ["has torch_dtype, which is no word"]),
        ({"tie_word_embeddings": "false"}, ["has tie_word_embeddings, which is no true or false"]),
        ({"text_config": {"quantization_config": "fp8"}}, ["has quantization_config, which is no JSON object"]),
        ({"text_config": 3}, ["has text_config, which is no JSON object"]),
        ({**CONFIG, "anything": "else"}, []),
    ],
)
def test_facts_that_cannot_be(written: Any, found: list[str]) -> None:
    """Numbers must be whole, above 0 and those of one model; what is not read may be anything."""
    assert list(misfits(written)) == found
