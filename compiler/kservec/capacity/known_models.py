"""Known models: facts of models that many serve, each from the config.json of a revision of its repository.

The numbers of parameters are what the hub counts in the safetensors files of that revision. All are facts of those
repositories; a model that is not here, or that has changed, is described by its service or by the lock file.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.capacity.model_facts import (
    EXPERTS,
    HEAD_DIM,
    HIDDEN,
    KV_HEADS,
    LATENT,
    LAYERS,
    LENGTH,
    PARAMETERS,
    ROPE,
    VOCABULARY,
    WEIGHT_BYTES,
    facts_of,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.capacity.model_facts import ModelFacts
    from kservec.core.tree import Json

TIED = {"tie_word_embeddings": True}
FP8 = {"quantization_config": {"quant_method": "fp8"}}


class Shape(NamedTuple):
    """The fields of a config.json that all models of one architecture in the table have in common."""

    layers: int
    kv_heads: int
    hidden: int
    vocabulary: int
    length: int


class Known(NamedTuple):
    """A model: the revision that its facts are from, its shape, and what else its files say."""

    revision: str
    parameters: int
    shape: Shape
    more: Mapping[str, Json] = {}


LLAMA_8B, LLAMA_70B = Shape(32, 8, 4096, 128256, 131072), Shape(80, 8, 8192, 128256, 131072)
QWEN3_30B, QWEN3_235B = Shape(48, 4, 2048, 151936, 40960), Shape(94, 4, 4096, 151936, 40960)
DEEPSEEK = Shape(61, 128, 7168, 129280, 163840)
DEEPSEEK_MORE = {
    LATENT: 512, ROPE: 64, EXPERTS: 653908770816,
    # Of the files: 3,918,786,560 parameters in bfloat16, 680,571,043,840 in fp8 and 41,555,600 in float32.
    WEIGHT_BYTES: 3918786560 * 2 + 680571043840 + 41555600 * 4, **FP8,
}  # fmt: skip
"""Of the parameters the prediction of further tokens has 14 thousand millions, which a server without it leaves out."""

MODELS: Final[Mapping[str, Known]] = {
    "deepseek-ai/DeepSeek-R1": Known("56d4cbbb4d29f4355bab4b9a39ccb717a14ad5ad", 684531386000, DEEPSEEK, DEEPSEEK_MORE),
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B": Known(
        "1df8507178afcc1bef68cd8c393f61a886323761", 14770033664, Shape(48, 8, 5120, 152064, 131072)
    ),
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B": Known(
        "711ad2ea6aa40cfca18895e8aca02ab92df1a746", 32763876352, Shape(64, 8, 5120, 152064, 131072)
    ),
    "deepseek-ai/DeepSeek-V3": Known("e815299b0bcbac849fa540c768ef21845365c9eb", 684531386000, DEEPSEEK, DEEPSEEK_MORE),
    "meta-llama/Llama-3.1-405B": Known(
        "b906e4dc842aa489c962f9db26554dcfdde901fe", 405853388800, Shape(126, 8, 16384, 128256, 131072)
    ),
    "meta-llama/Llama-3.1-70B": Known("349b2ddb53ce8f2849a6c168a81980ab25258dac", 70553706496, LLAMA_70B),
    "meta-llama/Llama-3.1-8B": Known("d04e592bb4f6aa9cfee91e2e20afa771667e1d4b", 8030261248, LLAMA_8B),
    "meta-llama/Llama-3.1-8B-Instruct": Known("0e9e39f249a16976918f6564b8830bc894c89659", 8030261248, LLAMA_8B),
    "meta-llama/Llama-3.3-70B-Instruct": Known("6f6073b423013f6a7d4d9f39144961bfbfbc386b", 70553706496, LLAMA_70B),
    "mistralai/Mistral-7B-Instruct-v0.3": Known(
        "c170c708c41dac9275d15a8fff4eca08d52bab71", 7248023552, Shape(32, 8, 4096, 32768, 32768)
    ),
    "mistralai/Mixtral-8x7B-Instruct-v0.1": Known(
        "41bd4c9e7e4fb318ca40e721131d4933966c2cc1", 46702792704, Shape(32, 8, 4096, 32000, 32768),
        {EXPERTS: 45097156608},
    ),
    "Qwen/Qwen2.5-72B-Instruct": Known(
        "495f39366efef23836d0cfae4fbe635880d2be31", 72706203648, Shape(80, 8, 8192, 152064, 32768)
    ),
    "Qwen/Qwen2.5-7B-Instruct": Known(
        "a09a35458c702b33eeacc393d103063234e8bc28", 7615616512, Shape(28, 4, 3584, 152064, 32768)
    ),
    "Qwen/Qwen3-235B-A22B": Known(
        "8efa61729e24bd65b1d152b5ab5409052aa80e65", 235093634560, QWEN3_235B, {EXPERTS: 227096395776}
    ),
    "Qwen/Qwen3-235B-A22B-FP8": Known(
        "39eb2b067ea6b8e3e1dd97d3cd0c7ffeaf3e1a35", 235093634560, QWEN3_235B, {EXPERTS: 227096395776, **FP8}
    ),
    "Qwen/Qwen3-30B-A3B": Known(
        "ad44e777bcd18fa416d9da3bd8f70d33ebb85d39", 30532122624, QWEN3_30B, {EXPERTS: 28991029248}
    ),
    "Qwen/Qwen3-32B": Known(
        "9216db5781bf21249d130ec9da846c4624c16137", 32762123264, Shape(64, 8, 5120, 151936, 40960)
    ),
    "Qwen/Qwen3-4B": Known(
        "1cfa9a7208912126459214e8b04321603b3df60c", 4022468096, Shape(36, 8, 2560, 151936, 40960), TIED
    ),
    "Qwen/Qwen3-8B": Known(
        "b968826d9c46dd6066d109eabc6255188de91218", 8190735360, Shape(36, 8, 4096, 151936, 40960)
    ),
}  # fmt: skip
"""By the name of the repository. All have heads of 128 elements, and weights in bfloat16 but for what `more` says."""


@lru_cache(maxsize=64)
def known_model(name: str) -> ModelFacts | None:
    """The facts of a model by the name of its repository; None for one that is not in the table."""
    known = MODELS.get(name)
    if known is None:
        return None
    shape = known.shape
    config = {
        PARAMETERS: known.parameters, LAYERS: shape.layers, KV_HEADS: shape.kv_heads, HEAD_DIM: 128,
        HIDDEN: shape.hidden, VOCABULARY: shape.vocabulary, LENGTH: shape.length, "dtype": "bfloat16", **known.more,
    }  # fmt: skip
    return facts_of(config, f"config.json of {name} at {known.revision[:8]}")
