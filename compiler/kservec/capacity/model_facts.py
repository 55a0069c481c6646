"""Model facts: what the memory of a language model follows from, in the words of its config.json.

Decides what such a file says about weights and the KV cache, and what it leaves open. Must not know any server.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.records import record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.tree import Json

PARAMETERS, WEIGHT_BYTES, EXPERTS = "parameters", "weight_bytes", "expert_parameters"
"""What no config.json says: the number of parameters and bytes of the checkpoint, and how many are routed experts'."""
LAYERS, HEADS, KV_HEADS = "num_hidden_layers", "num_attention_heads", "num_key_value_heads"
HEAD_DIM, HIDDEN, VOCABULARY, LENGTH = "head_dim", "hidden_size", "vocab_size", "max_position_embeddings"
LATENT, ROPE = "kv_lora_rank", "qk_rope_head_dim"
NUMBERS: Final = (
    PARAMETERS, WEIGHT_BYTES, EXPERTS, LAYERS, HEADS, KV_HEADS, HEAD_DIM, HIDDEN, VOCABULARY, LENGTH, LATENT, ROPE,
)  # fmt: skip
"""The fields that are whole numbers above 0 where they are given."""
OTHERS = ("dtype", "torch_dtype", "tie_word_embeddings", "quantization_config", "sliding_window", "use_sliding_window")
"""Further fields that say something about weights or the cache."""
KINDS: Final = {
    "dtype": (str, "word"), "torch_dtype": (str, "word"),
    "tie_word_embeddings": (bool, "true or false"), "use_sliding_window": (bool, "true or false"),
    "text_config": (dict, "JSON object"), "quantization_config": (dict, "JSON object"),
}  # fmt: skip
"""What those of them are that would be misread as anything else."""
LARGEST: Final = 10**15
"""More than any model has of anything, bytes of weights included."""
STORED: Final = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "F8_E4M3": 1, "F8_E5M2": 1}
"""Bytes of the types whose elements are parameters; of others, several may be packed into one."""
PARTIAL = ("layer_types", "full_attention_interval", "sliding_window_pattern", "hybrid_override_pattern")
"""Fields of models some of whose layers keep less than a key and a value for each token."""


@record
class ModelFacts:
    """What is known of a model; None for what is not.

    `dtype` is that of its weights, `quantization` how most of them are stored instead, empty for neither. `latent` is
    what a layer keeps for a token instead of keys and values of heads (MLA), in elements. `is_uniform` tells that each
    layer keeps the same for each token. `source` says where the facts are from.
    """

    source: str
    parameters: int | None = None
    weight_bytes: int | None = None
    expert_parameters: int | None = None
    layers: int | None = None
    kv_heads: int | None = None
    head_dim: int | None = None
    latent: int | None = None
    embeddings: int | None = None
    dtype: str = ""
    quantization: str = ""
    length: int | None = None
    is_uniform: bool = True
    has_experts: bool = False


def facts_of(config: Mapping[str, Json], source: str) -> ModelFacts:
    """The facts in a config.json, with `parameters`, `weight_bytes` and `expert_parameters` beside it.

    That of a model which reads more than text has the facts of its language model under `text_config`.
    """
    flat = {**config, **(config.get("text_config") or {})}
    heads, hidden, vocabulary = flat.get(HEADS), flat.get(HIDDEN), flat.get(VOCABULARY)
    latent = flat.get(LATENT)
    copies = 1 if flat.get("tie_word_embeddings") else 2
    return ModelFacts(
        source=source,
        parameters=flat.get(PARAMETERS),
        weight_bytes=flat.get(WEIGHT_BYTES),
        expert_parameters=flat.get(EXPERTS),
        layers=flat.get(LAYERS),
        kv_heads=flat.get(KV_HEADS) or heads,
        head_dim=flat.get(HEAD_DIM) or (hidden // heads if hidden and heads else None),
        latent=latent + (flat.get(ROPE) or 0) if latent else None,
        embeddings=vocabulary * hidden * copies if vocabulary and hidden else None,
        dtype=str(flat.get("dtype") or flat.get("torch_dtype") or ""),
        quantization=quantization_of(flat.get("quantization_config") or {}),
        length=flat.get(LENGTH),
        is_uniform=is_uniform(flat),
        has_experts=EXPERTS in flat or any("experts" in key for key in flat),
    )


def quantization_of(config: Mapping[str, Json]) -> str:
    """How the weights of a checkpoint are stored, as vLLM calls it, with the bits where the method leaves them open."""
    method = str(config.get("quant_method") or "")
    bits = config.get("bits") or config.get("w_bit")
    return f"{method}-{bits}" if method and bits else method


def kept(config: Json, counts: Json) -> dict[str, Json]:
    """What a lock file keeps of a model: the fields of its config.json that are read here, and sizes of its files.

    Args:
        config: the config.json.
        counts: how many elements of each type the files have, as a hub counts them. Where some are of a type that may
            hold several parameters, nothing follows from them.
    """
    facts: dict[str, Json] = {}
    if isinstance(config, dict):
        read = (*NUMBERS, *OTHERS, *PARTIAL)
        facts = {key: value for key, value in config.items() if key in read or "experts" in key}
        inner = kept(config.get("text_config"), None)
        facts |= {"text_config": inner} if inner else {}
    if (
        isinstance(counts, dict)
        and counts
        and counts.keys() <= STORED.keys()
        and all(map(is_positive, counts.values()))
    ):
        facts[PARAMETERS] = sum(counts.values())
        facts[WEIGHT_BYTES] = sum(count * STORED[name] for name, count in counts.items())
    return facts


def is_uniform(config: Mapping[str, Json]) -> bool:
    """Whether each layer keeps the same for each token, as far as the file tells."""
    slides = config.get("sliding_window") and config.get("use_sliding_window", True)
    return not slides and not any(config.get(field) for field in PARTIAL)


def misfits(config: Json) -> Iterator[str]:
    """What is wrong with facts that somebody wrote down."""
    if not isinstance(config, dict):
        yield "is no JSON object"
        return
    flat = {**config, **(config["text_config"] if isinstance(config.get("text_config"), dict) else {})}
    given = {field: flat[field] for field in NUMBERS if flat.get(field) is not None}
    odd = {field: value for field, value in given.items() if isinstance(value, bool) or not is_positive(value)}
    vast = [field for field, value in given.items() if field not in odd and value > LARGEST]
    for field, value in odd.items():
        yield f"has {field}: {value!r}, which is no whole number above 0"
    for field in vast:
        yield f"has {field} of {len(str(given[field]))} digits, more than any model has"
    if not odd and not vast:
        yield from contradictions(given)
    for field, (kind, name) in KINDS.items():
        if flat.get(field) is not None and not isinstance(flat[field], kind):
            yield f"has {field}, which is no {name}"


def contradictions(given: Mapping[str, int]) -> Iterator[str]:
    """Numbers that cannot be those of one model."""
    pairs = {
        f"more {EXPERTS} than {PARAMETERS}": (given.get(EXPERTS), given.get(PARAMETERS)),
        f"more {KV_HEADS} than {HEADS}": (given.get(KV_HEADS), given.get(HEADS)),
        f"more {HEADS} than elements in {HIDDEN}": (given.get(HEADS), given.get(HIDDEN)),
        f"fewer {PARAMETERS} than its embeddings alone, {VOCABULARY} x {HIDDEN}": (
            given.get(VOCABULARY, 0) * given.get(HIDDEN, 0),
            given.get(PARAMETERS),
        ),
        f"less than a bit of {WEIGHT_BYTES} for each of its {PARAMETERS}": (
            given.get(PARAMETERS),
            8 * given[WEIGHT_BYTES] if WEIGHT_BYTES in given else None,
        ),
    }
    for what, (less, more) in pairs.items():
        if less is not None and more is not None and less > more:
            yield f"has {what}"


def is_positive(value: Json) -> bool:
    """Whether a value is a whole number above 0."""
    return isinstance(value, int) and value > 0
