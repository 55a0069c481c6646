"""Profiles: the document of a version of KServe becomes a Profile.

Profiles come with the package, as the catalog does, so they are trusted; what is misspelt in one is a bug.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kservec.core.profile import Missing, MissingScheme, Profile
from kservec.core.text.source import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

RULES = {"canaryTraffic": "splits_canaries", "tokenizer": "tokenizes_apart"}
"""The rules that differ between versions: their names in documents, and the fields that hold them."""
VALUES = {"routes": True, "none": False, "workload": True, "sidecar": False}


def read_profile(content: bytes, name: str) -> Profile:
    """The profile of a document.

    Args:
        content: the text of the file.
        name: what the file is called.

    Raises:
        ValueError: the document is none of ours, or says what no profile can say.
    """
    documents, found = parse(content, name)
    if found or len(documents) != 1:
        raise ValueError(f"{name}: not one document")
    body: Mapping[str, Any] = documents[0].value
    unknown = set(body) - {"apiVersion", "kind", "kserve", "release", "apiVersions", "fields", "uriSchemes", "rules"}
    if unknown or body.get("kind") != "Profile":
        raise ValueError(f"{name}: unknown fields {sorted(unknown)}")
    rules = {RULES[rule]: VALUES[value] for rule, value in (body.get("rules") or {}).items()}
    return Profile(
        version=body["kserve"],
        release=body["release"],
        api_versions=tuple(body.get("apiVersions") or ()),
        fields=tuple(missing(field) for field in body.get("fields") or ()),
        schemes=tuple(MissingScheme(s["prefix"], s["since"]) for s in body.get("uriSchemes") or ()),
        **rules,
    )


def missing(field: Mapping[str, Any]) -> Missing:
    """A field that a version does not have, or that it treats otherwise."""
    return Missing(tuple(field["kinds"]), tuple(field["path"].split(".")), field.get("since", ""), field.get("why", ""))
