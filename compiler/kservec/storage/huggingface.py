"""huggingface: the Hugging Face hub; Secrets with a token; how every download container tunes its client.

KServe: pkg/credentials/hf/hf_secret.go; pkg/utils/storage.go, AddDefaultHuggingFaceEnvVars
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.models.credentials import secret_variable
from kservec.core.models.storage_scheme import Delivery, Scheme, SchemeTrait, lacking_owner_or_model
from kservec.core.registry import Credential, Grant

if TYPE_CHECKING:
    from kservec.core.cluster import Secret
    from kservec.core.registry import Env

TOKEN = "HF_TOKEN"  # noqa: S105 - the name of a variable


def grant(secret: Secret, _env: Env) -> Grant:
    """The token by reference."""
    return Grant((secret_variable(TOKEN, secret, TOKEN),))


SCHEME = Scheme(
    name="hf",
    prefixes=("hf://",),
    delivery=Delivery.DOWNLOAD,
    lacking=lacking_owner_or_model,
    most_parts=2,
    traits=frozenset((SchemeTrait.LLM, SchemeTrait.LORA)),
    download_env=(
        ("HF_HUB_ENABLE_HF_TRANSFER", "1"),
        ("HF_XET_HIGH_PERFORMANCE", "1"),
        ("HF_XET_NUM_CONCURRENT_RANGE_GETS", "8"),
    ),
    aliases=("huggingface", "hugging-face", "hfhub"),
    revision_mark=":",
    hub="https://huggingface.co/api/models/{repository}/revision/{revision}",
    hub_config="https://huggingface.co/{repository}/resolve/{revision}/config.json",
)
CREDENTIAL = Credential(name="hf", rank=70, keys=lambda _env: (TOKEN,), grant=grant)
