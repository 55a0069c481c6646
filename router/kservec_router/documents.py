"""Reading a graph: from JSON as KServe passes it, or from a manifest as people write it."""

from __future__ import annotations

from typing import Any

import orjson
import yaml
from pydantic import ValidationError

from kservec.spec.inferencegraph import InferenceGraphSpec
from kservec_router.errors import GraphError


def read_graph(text: bytes) -> InferenceGraphSpec:
    """The graph in a document: its spec alone, as KServe passes it, or a whole InferenceGraph; JSON, or YAML.

    Raises:
        GraphError: The text is neither, or no graph.
    """
    document = _parse(text)
    if not isinstance(document, dict):
        raise GraphError(["the graph must be a JSON object"])
    if document.get("kind") == "InferenceGraph":
        document = document.get("spec")
    try:
        return InferenceGraphSpec.model_validate(document)
    except ValidationError as error:
        raise GraphError([_sentence(problem) for problem in error.errors(include_url=False)]) from None


def _parse(text: bytes) -> Any:
    try:
        return orjson.loads(text)
    except ValueError as error:
        if text.lstrip()[:1] in (b"{", b"["):
            raise GraphError([f"the graph is not JSON: {error}"]) from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise GraphError([f"the graph is neither JSON nor YAML: {error}"]) from None
    except (ValueError, OverflowError, RecursionError, LookupError, AttributeError):
        # PyYAML lets these out where a date or a number is none, and where too much is nested.
        raise GraphError(
            ["the graph is YAML that cannot be read: a date, a number or the nesting is at fault"]
        ) from None


def _sentence(problem: Any) -> str:
    place = ".".join(str(part) for part in problem["loc"])
    return f"{place or 'the graph'}: {problem['msg']}"
