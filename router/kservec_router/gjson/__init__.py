"""GJSON paths over JSON text: the conditions of an InferenceGraph.

Behaviour: tidwall/gjson 1.18, which KServe's router uses. `get` follows a path in bytes as they are.
"""

from __future__ import annotations

from kservec_router.gjson.condition import DEEPEST, Condition, Document, Test, compile_condition
from kservec_router.gjson.lookup import get
from kservec_router.gjson.result import Kind, Result
from kservec_router.gjson.valid import valid

__all__ = [
    "DEEPEST",
    "Condition",
    "Document",
    "Kind",
    "Result",
    "Test",
    "compile_condition",
    "get",
    "valid",
]
