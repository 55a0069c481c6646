"""The lock file: its text becomes a lock, and a lock its text. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Reject, Severity, Span
from kservec.core.lock import Lock
from kservec.core.text.reading import TOO_LARGE
from kservec.core.text.source import parse
from kservec.core.unit import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.paths import Json
    from kservec.core.text.document import Document
    from kservec.core.text.source import Limits

API_VERSION, KIND = "kservec.dev/v1alpha1", "Lock"

LOCK_STALE = Code(
    "policy/lock-stale",
    Severity.WARNING,
    "a lock file that is not of this build",
    "The lock was made with another version of KServe's behaviour, of the built-in catalog or of the schemas, so the "
    "tree may differ from what was reviewed with it; or it has entries that no environment refers to any more. "
    "`kservec lock --update` brings it up to date.",
)
UNREADABLE = Code(
    "project/lock-unreadable",
    Severity.ERROR,
    "a lock file that cannot be used",
    "kservec.lock.json holds the digests and commits that builds write, so a build without it would be another one. "
    "After a merge conflict take either side, or remove the file, and run `kservec lock --update`.",
)


def read_lock(content: bytes, name: str, limits: Limits) -> tuple[Lock | None, tuple[Diagnostic, ...]]:
    """The lock of a file, and what is wrong with it; None where it cannot be used.

    Args:
        content: the text of the file.
        name: what findings call it.
        limits: how large it may be.
    """
    from kservec.documents.models import Spot, read_model  # noqa: PLC0415 - loads pydantic
    from kservec.spec.lock import Lock as Model  # noqa: PLC0415 - loads pydantic

    documents, found = parse(content, name, limits)
    if any(finding.code is TOO_LARGE for finding in found):
        return None, found
    if found or len(documents) != 1 or not isinstance(documents[0].value, dict):
        span = found[0].span if found else Span(name)
        hint = "take either side of a merge conflict, or remove the file, then run kservec lock --update"
        return None, (Diagnostic(code=UNREADABLE, message=f"{name} is no lock file", span=span, help=hint),)
    spot = Spot(ObjectRef(API_VERSION, KIND, "", ""), Source(document=documents[0]))
    try:
        model = read_model(Model, documents[0].value, spot)
    except Reject as reject:
        return None, reject.diagnostics
    versions = model.versions.model_dump() if model.versions is not None else {}
    if found := tuple(fact_findings(model.model_facts, documents[0])):
        return None, found
    facts = dict(model.model_facts)
    return Lock(images=dict(model.images), models=dict(model.models), versions=versions, facts=facts), ()


def fact_findings(facts: Mapping[str, Json], document: Document) -> Iterator[Diagnostic]:
    """What is wrong with the facts about models that a lock states."""
    if not facts:
        return
    from kservec.capacity.model_facts import misfits  # noqa: PLC0415 - most locks have none

    for uri, config in facts.items():
        for misfit in misfits(config):
            message = f"modelFacts of {uri} {misfit}"
            span = document.span(("modelFacts", uri))
            yield Diagnostic(code=UNREADABLE, message=message, span=span, help="write what its config.json says")


def lock_text(lock: Lock) -> str:
    """The text of a lock: one line an entry, sorted, so that entries of two branches merge."""
    listing = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "versions": dict(lock.versions),
        "images": dict(sorted(lock.images.items())),
        "models": dict(sorted(lock.models.items())),
        **({"modelFacts": dict(sorted(lock.facts.items()))} if lock.facts else {}),
    }
    return json.dumps(listing, indent=1, ensure_ascii=False) + "\n"


def outdated(lock: Lock, current: Mapping[str, str], name: str) -> tuple[Diagnostic, ...]:
    """The warning that a lock was made with another KServe, catalog or schemas, if it was; `name` is its file's."""
    others = [what for what, version in sorted(current.items()) if lock.versions.get(what, version) != version]
    if not others:
        return ()
    message = f"the lock was made with another version of {' and '.join(others)} than this kservec has"
    hint = "look at what changes in the tree, then run kservec lock --update"
    return (Diagnostic(code=LOCK_STALE, message=message, span=Span(name), help=hint),)
