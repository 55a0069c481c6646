"""LoRA adapters of which a route cannot hold all matches.

Where models are chosen by a header, each adapter adds a match for every one that names the model. KServe only finds out
when the API server refuses the route.
KServe: pkg/controller/v1alpha2/llmisvc/config_merge.go, addLoRAAdapterMatches
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.names import MODEL_ROUTING
from kservec.core.llm.rules.http_rules import MOST_MATCHES, RULES
from kservec.core.llm.rules.lora import LORA
from kservec.core.llm.settings import model_header

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json

MOST_IN_A_RULE: Final = 64

TOO_MANY = Code(
    "llm/lora-too-many",
    Severity.ERROR,
    "more LoRA adapters than a route can choose from",
    "An HTTPRoute takes 64 matches in a rule and 128 in all. The route of KServe's presets has eight matches by the "
    "header that names the model, and as many for each adapter: seven adapters fit. Switch the choice by header off "
    'with the annotation serving.kserve.io/model-based-routing-enabled: "false" in spec.annotations, or spread the '
    "adapters over several services.",
)


def check_adapters(subject: Subject) -> Iterator[Diagnostic]:
    """The matches that adapters will add to the route."""
    adapters = [a for a in subject.at(*LORA, "adapters") or () if a.get("name")]
    rules = subject.at(*RULES) or ()
    if not adapters or not is_chosen_by_header(subject):
        return
    header = model_header(subject.platform)
    named = [sum(names_model(match, header) for match in rule.get("matches") or ()) for rule in rules]
    plain = [len(rule.get("matches") or ()) for rule in rules]
    counts = [own + count * len(adapters) for own, count in zip(plain, named, strict=True)]
    path = (*LORA, "adapters")
    help_text = "spread the adapters over several services, or switch the choice by header off"
    if max(counts, default=0) > MOST_IN_A_RULE:
        message = f"{len(adapters)} adapters make {max(counts)} matches in a rule, {MOST_IN_A_RULE} are allowed"
        yield subject.finding(TOO_MANY, message, path, help_text)
    elif sum(counts) > MOST_MATCHES:
        message = f"{len(adapters)} adapters make {sum(counts)} matches in the route, {MOST_MATCHES} are allowed"
        yield subject.finding(TOO_MANY, message, path, help_text)


def is_chosen_by_header(subject: Subject) -> bool:
    """Whether models are surely chosen by a header; a Gateway that a service names may opt out, which is not seen."""
    if subject.at("spec", "annotations", MODEL_ROUTING) != "true":
        return False
    mode = subject.platform.ingress.model_based_routing_mode.lower()
    return mode == "forced" or (mode != "disabled" and not subject.at("spec", "router", "gateway", "refs"))


def names_model(match: Json, header: str) -> bool:
    """Whether a match asks for the header that names the model."""
    return any(entry.get("name") == header for entry in match.get("headers") or ())
