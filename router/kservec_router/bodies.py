"""Looking into bodies: the few places where the router parses what it passes on.

Pure functions on bytes. KServe: cmd/router/main.go (pickupRouteByCondition, sequenceReqRes, EnsembleStepOutput)
"""

from __future__ import annotations

import orjson

from kservec_router.gjson import Condition, Document, get, valid
from kservec_router.gjson.scan import members, unquote, value_at
from kservec_router.messages import Body, Reply, decoded
from kservec_router.plan import Node, Step


def decoded_reply(body: Body, coding: bytes | None, limit: int) -> bytes | None:
    """A body as it was before its content coding; None when it is still arriving or cannot be decoded."""
    if not isinstance(body, bytes):
        return None
    return body if coding is None else decoded(body, coding, limit)


def has_match(condition: Condition, body: bytes) -> bool | None:
    """Whether a condition holds for a body; None when the body is not JSON."""
    document = Document(body)
    return condition.holds(document) if document.is_json else None


def matching_step(node: Node, body: bytes) -> Step | bool | None:
    """The first step whose condition holds for a body; False when none does, None when the body is not JSON."""
    document = Document(body)
    if node.tests and document.is_testable(node.keys):
        value = document.value
        for test, step in node.tests:
            if test(value):
                return step
        return False
    if not document.is_json:
        return None
    for step in node.steps:
        if step.condition is not None and step.condition.holds(document):
            return step
    return False


def is_mergeable(body: bytes) -> bool:
    """Whether a body can be a member of a JSON object as it is."""
    try:
        orjson.loads(body)
    except ValueError:
        return valid(body) and _is_utf8(body)
    return True


def _is_utf8(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def merged_failure(reply: Reply) -> bytes:
    """What stands in an Ensemble's result for a step that failed without JSON."""
    text = reply.body.decode("utf-8", "replace") if isinstance(reply.body, bytes) else ""
    return orjson.dumps({"error": text, "status": reply.status})


def part_of(body: bytes, path: bytes) -> bytes | None:
    """The part of a JSON body that a path finds; None when it finds nothing."""
    if not valid(body):
        return None
    part = get(body, path)
    return part.raw if part.exists else None


def mapped_predictions(body: bytes) -> bytes:
    """`{"instances": ...}` with the predictions of a body; the body as it is when it has none.

    As Go decodes: the key's case does not matter, the last of several counts, and both keys must hold arrays if they
    are there. The predictions are taken as bytes, so that their numbers stay what they are.
    """
    if not valid(body) or body.lstrip()[:1] != b"{":
        return body
    found = {b"predictions": b"", b"instances": b""}
    for key, start in members(body, body.index(b"{") + 1):
        name = unquote(key).lower()
        if name in found:
            found[name] = value_at(body, start).raw
    if any(raw[:1] not in (b"[", b"n", b"") for raw in found.values()):
        return body
    predictions = found[b"predictions"]
    if predictions[:1] != b"[" or not predictions[1:-1].strip():
        return body
    return b'{"instances":' + predictions + b"}"
