"""Explanations as text for people and as JSON for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kservec.core.diagnostics import NOT_SHOWN
from kservec.core.schemas.faults import field_path
from kservec.core.text.confidential import names_credential, showable
from kservec.explain.smoke_test import curl
from kservec.report.json import identity, location
from kservec.report.words import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kservec.core.diagnostics import ObjectRef, Span
    from kservec.core.paths import Json
    from kservec.explain.addresses import Address
    from kservec.explain.choice import Choice
    from kservec.explain.values import Explained

WIDEST = 60


def values_text(ref: ObjectRef, values: Sequence[Explained]) -> str:
    """The values of an object, a line each: what it is, and where it comes from."""
    rows = [(f"{field_path(e.path)}: {shown(e)}", source_of(e)) for e in values]
    width = min(max((len(left) for left, _ in rows), default=0), WIDEST)
    return f"{ref}\n" + "".join(f"  {left:<{width}}  {right}\n" for left, right in rows)


def source_of(found: Explained) -> str:
    """Where one value comes from, in words."""
    place = place_of(found.span)
    return " ".join(part for part in (found.layer, f"by {found.by}" if found.by else "", place) if part)


def place_of(span: Span | None) -> str:
    """A place in a file."""
    return f"({span.file}:{span.line}:{span.column})" if span is not None else ""


def shown(found: Explained) -> str:
    """A value in one line, without what may be secret."""
    text = NOT_SHOWN if is_confidential(found) else printable(json.dumps(found.value, ensure_ascii=False))
    return text if len(text) <= WIDEST else f"{text[: WIDEST - 3]}..."


def is_confidential(found: Explained) -> bool:
    """Whether a value may be a secret, by its name or its look."""
    if not isinstance(found.value, str):
        return False
    *above, last = [str(step) for step in found.path]
    named = names_credential(last) or (last == "value" and any(map(names_credential, above)))
    return named or showable(found.value) != found.value


def choices_text(choices: Iterable[Choice]) -> str:
    """Runtimes in the order in which they are tried."""
    lines: list[str] = []
    for choice in choices:
        lines.append(f"{choice.component}: a runtime for {choice.wanted}")
        lines += [
            f"  {'*' if judged.chosen else ' '} {judged.name} ({judged.scope}): {judged.reason}"
            for judged in choice.runtimes
        ]
    return "".join(f"{line}\n" for line in lines)


def values_json(ref: ObjectRef, values: Iterable[Explained]) -> Json:
    """The values of an object with their sources."""
    return {
        "object": identity(ref),
        "values": [
            {
                "path": field_path(e.path),
                "value": NOT_SHOWN if is_confidential(e) else e.value,
                "layer": e.layer,
                "by": e.by,
                "location": location(e.span) if e.span is not None else None,
            }
            for e in values
        ],
    }


def addresses_text(addresses: Iterable[Address]) -> str:
    """Where services are reached, and a command that asks each of them."""
    return "".join(address_text(address) for address in addresses)


def address_text(address: Address) -> str:
    """Where one service is reached."""
    url = address.external or address.internal
    lines = [str(address.ref)]
    lines += [f"  outside   {address.external}"] if address.external else []
    lines += [f"  inside    {address.internal}"] if address.internal else []
    lines += [f"  paths     {' '.join(address.paths)}"] if address.paths else []
    for question in address.questions:
        lines.append(f"  protocol  {question.protocol or 'its own'}")
        lines += [f"            {curl(url, question.ask, question.body)}"] if question.ask and url else []
    return "".join(f"{line}\n" for line in lines)


def addresses_json(addresses: Iterable[Address]) -> Json:
    """Where services are reached."""
    return {"urls": [address_json(address) for address in addresses]}


def address_json(address: Address) -> Json:
    """Where one service is reached."""
    return {
        "object": identity(address.ref),
        "external": address.external,
        "internal": address.internal,
        "questions": [question._asdict() for question in address.questions],
        "paths": list(address.paths),
    }


def choices_json(choices: Iterable[Choice]) -> Json:
    """The choices of runtimes."""
    return [{**c._asdict(), "runtimes": [judged._asdict() for judged in c.runtimes]} for c in choices]
