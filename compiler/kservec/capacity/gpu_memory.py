"""GPU memory: what the weights of a model and its KV cache take of each GPU, as formulas that can be followed.

Decides nothing that is not known: a figure whose facts are missing has no value, and says which fact it lacks. What a
server needs beside weights and cache (activations, CUDA graphs, adapters) is not estimated, so that what does not fit
here does not fit at all, and what fits may still be short.
vLLM: vllm/v1/core/kv_cache_utils.py; vllm/v1/kv_cache_interface.py
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.nodes import shown_bytes
from kservec.core.records import record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.capacity.model_facts import ModelFacts

UNKNOWN: Final = "unknown"
UNSPREAD: Final = "how the model is spread over GPUs is unknown"
BYTES_OF: Final[Mapping[str, int]] = {"bfloat16": 2, "float16": 2, "half": 2, "float32": 4, "float": 4}
CACHE_BYTES_OF: Final[Mapping[str, int]] = {**BYTES_OF, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1}
GROUP_BITS: Final = Fraction(20, 128)
"""Of 4-bit weights each group of 128 has a scale of 16 bits and a zero point of 4."""
BITS_OF: Final[Mapping[str, Fraction]] = {
    "fp8": Fraction(8), "int8": Fraction(8), "w8a8": Fraction(8), "gptq-8": Fraction(8), "gptq_marlin-8": Fraction(8),
    "awq": 4 + GROUP_BITS, "awq-4": 4 + GROUP_BITS, "awq_marlin": 4 + GROUP_BITS, "awq_marlin-4": 4 + GROUP_BITS,
    "gptq-4": 4 + GROUP_BITS, "gptq_marlin-4": 4 + GROUP_BITS, "bitsandbytes": 4 + GROUP_BITS,
}  # fmt: skip
"""Bits of a quantised weight. A method that leaves the bits open is not among them."""


class Figure(NamedTuple):
    """A number and how it comes about; without a value the text says what is missing."""

    value: int | None
    formula: str

    def __str__(self) -> str:
        return f"{UNKNOWN} ({self.formula})" if self.value is None else f"{shown_bytes(self.value)} = {self.formula}"


class Split(NamedTuple):
    """Over how many ranks a model is spread: by tensors, by layers, and how many copies share its experts."""

    tensor: int = 1
    pipeline: int = 1
    data: int = 1

    def __str__(self) -> str:
        return f"(tensor {self.tensor} x pipeline {self.pipeline})" if self.pipeline > 1 else f"tensor {self.tensor}"


@record
class Serving:
    """How a model is served: what the server is told, None where that cannot be told from outside.

    `doubt` says why there is no `split`. `gpu_memory` is that of one GPU in bytes, `offload` what is kept in the node's
    memory instead, for each GPU. `dtype`, `quantization` and `cache_dtype` are empty where the model decides; so is it
    with the length of the context, unless `is_told_length`.
    """

    split: Split | None
    doubt: str = UNSPREAD
    gpu_memory: int | None = None
    utilisation: Fraction | None = Fraction(9, 10)
    length: int | None = None
    sequences: int | None = None
    dtype: str = ""
    quantization: str = ""
    cache_dtype: str = ""
    offload: int | None = 0
    is_told_length: bool = False
    is_told_utilisation: bool = False


@record
class Estimate:
    """The memory that one GPU needs and has.

    `weights` and `token` are those of one GPU; `sequence` is one sequence of full length, `usable` what the server may
    use, `rest` what that leaves for the cache. `tokens` is how many tokens it holds.
    """

    weights: Figure
    token: Figure
    sequence: Figure
    usable: Figure
    rest: Figure
    tokens: Figure
    length: int | None
    sequences: int | None

    @property
    def fits(self) -> bool | None:
        """Whether weights and one sequence of full length find room; None where that is unknown."""
        if self.weights.value is None or self.usable.value is None:
            return None
        if self.rest.value is not None and self.rest.value <= 0:
            return False
        if self.sequence.value is None or self.rest.value is None:
            return None
        return self.sequence.value <= self.rest.value


def estimate(facts: ModelFacts, serving: Serving) -> Estimate:
    """What a model takes of each GPU that serves it."""
    weights, token = weights_of(facts, serving), token_of(facts, serving)
    length = serving.length if serving.is_told_length else facts.length
    sequence = product(token, length, "tokens", "the length of the context")
    usable = usable_of(serving)
    rest = difference(usable, weights)
    tokens = Figure(None, "the memory left or that of a token is unknown")
    if rest.value is not None and token.value is not None:
        count = max(0, rest.value) // token.value
        tokens = Figure(count, f"{shown_bytes(max(0, rest.value))} / {token.value:,} B")
    return Estimate(
        weights=weights,
        token=token,
        sequence=sequence,
        usable=usable,
        rest=rest,
        tokens=tokens,
        length=length,
        sequences=serving.sequences,
    )


def weights_of(facts: ModelFacts, serving: Serving) -> Figure:
    """The weights on one GPU."""
    if serving.split is None:
        return Figure(None, serving.doubt)
    whole, formula = checkpoint_of(facts, serving)
    if whole is None:
        return Figure(None, formula)
    share, how = shared(whole, facts, serving.split)
    if share is None:
        return Figure(None, how)
    if serving.offload is None:
        return Figure(None, "how much is kept in the memory of the node is unknown")
    kept = max(0, ceil(share) - serving.offload)
    less = f" - {shown_bytes(serving.offload)} offloaded" if serving.offload else ""
    return Figure(kept, f"{formula}{how}{less}")


def checkpoint_of(facts: ModelFacts, serving: Serving) -> tuple[Fraction | None, str]:
    """The bytes of all weights, and how they come about."""
    method = serving.quantization or facts.quantization
    if facts.weight_bytes is not None and not serving.dtype and serving.quantization in ("", facts.quantization):
        return Fraction(facts.weight_bytes), f"{facts.weight_bytes:,} B of the checkpoint"
    if facts.parameters is None:
        return None, "the number of parameters is unknown"
    dtype = serving.dtype or facts.dtype
    size = BYTES_OF.get(dtype)
    if size is None:
        return None, f"the size of data type {dtype} is unknown" if dtype else "the data type is unknown"
    if not method:
        return Fraction(facts.parameters * size), f"{facts.parameters:,} x {size} B ({dtype})"
    bits = BITS_OF.get(method)
    if bits is None:
        return None, f"how many bits {method} takes is unknown"
    if facts.embeddings is None:
        return None, "how many parameters the embeddings have is unknown, and they are not quantised"
    quantised = facts.parameters - facts.embeddings
    if quantised < 0:
        return None, "the embeddings have more parameters than the model"
    text = f"({quantised:,} x {float(bits):g} bit ({method}) + embeddings {facts.embeddings:,} x {size} B)"
    return quantised * bits / 8 + facts.embeddings * size, text


def shared(whole: Fraction, facts: ModelFacts, split: Split) -> tuple[Fraction | None, str]:
    """The share of one GPU in the weights: of experts all copies of the model hold a part, of the others each all."""
    ranks = split.tensor * split.pipeline
    by = f" / {split}" if ranks > 1 else ""
    if split.data == 1 or not facts.has_experts:
        return whole / ranks, by
    if facts.expert_parameters is None or facts.parameters is None:
        return None, "how many parameters the experts have is unknown, and data parallel ranks share them"
    experts = whole * facts.expert_parameters / facts.parameters
    part = float(Fraction(facts.expert_parameters, facts.parameters))
    return (whole - experts) / ranks + experts / (ranks * split.data), f"{by}, of which {part:.1%} / data {split.data}"


def token_of(facts: ModelFacts, serving: Serving) -> Figure:
    """What a token takes of the KV cache of one GPU."""
    if serving.split is None:
        return Figure(None, serving.doubt)
    if not facts.is_uniform:
        return Figure(None, "not every layer keeps the same for each token")
    dtype = serving.cache_dtype or serving.dtype or facts.dtype
    size = CACHE_BYTES_OF.get(dtype)
    if size is None:
        return Figure(None, f"the size of data type {dtype} is unknown" if dtype else "the data type is unknown")
    if facts.layers is None:
        return Figure(None, "the number of layers is unknown")
    layers = ceil(facts.layers / serving.split.pipeline)
    spread = f" / pipeline {serving.split.pipeline}" if serving.split.pipeline > 1 else ""
    if facts.latent is not None:
        # Each tensor parallel rank keeps the whole of it. vLLM: vllm/v1/attention/backends/mla/common.py
        return Figure(layers * facts.latent * size, f"{facts.layers} layers{spread} x {facts.latent} (MLA) x {size} B")
    if facts.kv_heads is None or facts.head_dim is None:
        return Figure(None, "the number of KV heads, or their size, is unknown")
    # A head is never divided: with more ranks than heads several ranks keep the same one.
    heads = max(1, facts.kv_heads // serving.split.tensor)
    divided = f" / tensor {serving.split.tensor}" if serving.split.tensor > 1 else ""
    formula = f"2 x {facts.layers} layers{spread} x {facts.kv_heads} KV heads{divided} x {facts.head_dim} x {size} B"
    return Figure(2 * layers * heads * facts.head_dim * size, formula)


def usable_of(serving: Serving) -> Figure:
    """What the server may use of one GPU."""
    if serving.gpu_memory is None:
        return Figure(None, "the memory of the GPU is unknown")
    if serving.utilisation is None:
        return Figure(None, "the share of the GPU is no number above 0 and at most 1")
    share = f"{float(serving.utilisation):g}" + ("" if serving.is_told_utilisation else " (vLLM's default)")
    return Figure(int(serving.gpu_memory * serving.utilisation), f"{shown_bytes(serving.gpu_memory)} x {share}")


def product(figure: Figure, count: int | None, noun: str, what: str) -> Figure:
    """So many of a figure."""
    if figure.value is None or count is None:
        return Figure(None, f"{what} is unknown" if count is None else figure.formula)
    return Figure(figure.value * count, f"{figure.value:,} B x {count:,} {noun}")


def difference(left: Figure, right: Figure) -> Figure:
    """What one figure leaves of another."""
    if left.value is None or right.value is None:
        return Figure(None, left.formula if left.value is None else right.formula)
    return Figure(left.value - right.value, f"{shown_bytes(left.value)} - {shown_bytes(right.value)}")
