"""The rules for `metadata` that the API server has in code, and so no schema states.

Decides whether names, labels and annotations are well formed, for input documents and for emitted objects alike.
Types are the schema's business: what has the wrong one is passed over here.

Kubernetes: apimachinery/pkg/api/validation/objectmeta.go, apimachinery/pkg/util/validation/validation.go
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.patterns import Pattern
from kservec.core.schemas.faults import Fault, field_path

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path

MAX_NAME = 253
MAX_LABEL = 63
MAX_ANNOTATIONS = 256 * 1024
LONGEST_CHARACTER = 4
"""Bytes of a character in UTF-8, at most."""
SURELY_SMALL = 128 * 1024 // LONGEST_CHARACTER
"""An object that is written in fewer characters has nothing that is too large for a cluster, whatever they are."""

WORD_OF_NAME = "lower-case letters, digits and dashes"
TRAINED_MODEL = "TrainedModel"
NAMED_AS_SERVICES = frozenset({"InferenceService", "InferenceGraph", "LLMInferenceService"})
"""Kinds whose names are those of Services, or stand at their beginning."""
SURELY_SHORT = 40
"""Characters of a name that labels have room for, whatever KServe puts around it."""

MISSING_NAME = Code(
    "metadata/missing-name",
    Severity.ERROR,
    "an object has no name",
    "Every object needs metadata.name. metadata.generateName does not do: the API server would make the name up when "
    "the object is created, and objects that are compiled ahead of time refer to each other by name.",
)
INVALID_NAME = Code(
    "metadata/invalid-name",
    Severity.ERROR,
    "a name that the API server refuses",
    "metadata.name takes lower-case letters, digits, dashes and dots, at most 253 characters, and begins and ends with "
    "a letter or digit. Those of KServe's services, graphs and models take less, which is then what is said to be "
    "allowed.",
)
INVALID_NAMESPACE = Code(
    "metadata/invalid-namespace",
    Severity.ERROR,
    "a namespace that the API server refuses",
    "metadata.namespace takes lower-case letters, digits and dashes, at most 63 characters. Something like "
    "`$NAMESPACE` or `<your-namespace>` is a place-holder that was not filled in.",
)
INVALID_KEY = Code(
    "metadata/invalid-key",
    Severity.ERROR,
    "a label or annotation key that the API server refuses",
    "A key is a name of at most 63 letters, digits, dashes, underscores and dots, which begins and ends with a letter "
    "or digit; before it may stand a DNS name and a slash, as in example.com/team.",
)
INVALID_LABEL = Code(
    "metadata/invalid-label",
    Severity.ERROR,
    "a label value that the API server refuses",
    "A label value is empty or has at most 63 letters, digits, dashes, underscores and dots, and begins and ends with "
    "a letter or digit. Free text belongs into an annotation.",
)
ANNOTATIONS_TOO_LARGE = Code(
    "metadata/annotations-too-large",
    Severity.ERROR,
    "annotations of more than 256 KiB",
    "The API server limits the keys and values of all annotations of an object to 262144 bytes in total.",
)

_SUBDOMAIN = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
_WORD = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
_is_subdomain = Pattern(_SUBDOMAIN).fullmatch
# An API server takes control characters, too; no file can be called so.
_is_path_segment = Pattern(r"(?!\.{1,2}\Z)[^/%\x00-\x1f\x7f]+").fullmatch
_is_label_name = Pattern(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?").fullmatch
_is_key = Pattern(f"({_SUBDOMAIN}/)?{_WORD}").fullmatch
_is_label_value = Pattern(f"({_WORD})?").fullmatch
_is_placeholder = Pattern(r".*(\{\{.*\}\}|\$\{?\w+|<[^<>]+>).*", re.DOTALL).fullmatch

PLAIN_LABEL = "[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
PLAIN_SUBDOMAIN = rf"{PLAIN_LABEL}(?:\.{PLAIN_LABEL})*"
PLAIN_WORD = "[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
PLAIN_KEY = f"(?:{PLAIN_SUBDOMAIN}/)?{PLAIN_WORD}"
"""Regular expressions of names, values and keys that are well formed if they are short, as nearly all are."""


def plain(pattern: str) -> Json:
    """The JSON Schema of short texts that match a regular expression as a whole."""
    return {"pattern": f"^(?:{pattern})$", "maxLength": MAX_LABEL}


_MOST_ANNOTATIONS = 50
_LONGEST_ANNOTATION = 800
"""So many annotations of so many characters stay below the limit, whatever the characters."""

PLAIN_OBJECT = {
    "required": ["metadata"],
    "properties": {
        "metadata": {
            "required": ["name"],
            "properties": {
                "name": {"type": "string", **plain(PLAIN_SUBDOMAIN)},
                "namespace": plain(PLAIN_LABEL),
                "labels": {
                    "propertyNames": plain(PLAIN_KEY),
                    "additionalProperties": plain(f"(?:{PLAIN_WORD})?"),
                },
                "annotations": {
                    "propertyNames": plain(PLAIN_KEY),
                    "maxProperties": _MOST_ANNOTATIONS,
                    "additionalProperties": {"maxLength": _LONGEST_ANNOTATION},
                },
            },
        }
    },
}
"""The JSON Schema of objects in whose metadata nothing can be wrong: one look by a validator is much the faster way."""


def allowed_in_name(kind: str, name: str) -> str:
    """What the name of an object of a kind may have, by all who look at it: the API server, KServe, and its objects."""
    if kind == TRAINED_MODEL:
        return f"{WORD_OF_NAME}, a letter or digit at both ends"
    if kind in NAMED_AS_SERVICES:
        short = f", and so short that what is made of it has at most {MAX_LABEL}" if len(name) > SURELY_SHORT else ""
        return f"{WORD_OF_NAME}, a letter first, no dash last{short}"
    return f"lower-case letters, digits, dashes and dots, a letter or digit at both ends, at most {MAX_NAME}"


def metadata_faults(
    metadata: Json, path: Path = ("metadata",), *, kind: str = "", takes_any_name: bool = False
) -> list[Fault]:
    """What the API server refuses in the `metadata` of an object.

    Args:
        metadata: the value of the field; {} where it is missing.
        path: where it stands in its document.
        kind: the kind of KServe's that the object has, for what is said to be allowed; empty for all others.
        takes_any_name: whether the kind takes names with colons, capitals and the like, as those of RBAC do.
    """
    if not isinstance(metadata, dict):
        return []
    faults = _name_faults(metadata, path, _is_path_segment if takes_any_name else is_subdomain, kind)
    namespace = metadata.get("namespace")
    if isinstance(namespace, str) and namespace and not is_label_name(namespace):
        hint = "lower-case letters, digits and dashes, a letter or digit at both ends, at most 63"
        faults.append(_malformed(INVALID_NAMESPACE, (*path, "namespace"), namespace, hint))
    return faults + label_faults(metadata, path)


def label_faults(metadata: dict[str, Json], path: Path) -> list[Fault]:
    """What the API server refuses in `labels` and `annotations`, which pod templates have too."""
    faults: list[Fault] = []
    labels = metadata.get("labels")
    for key, value in labels.items() if isinstance(labels, dict) else ():
        if not is_key(key):
            faults.append(_bad_key((*path, "labels", key), key))
        if isinstance(value, str) and not is_label_value(value):
            hint = "at most 63 letters, digits, dashes, underscores and dots; free text belongs into an annotation"
            fault = _malformed(INVALID_LABEL, (*path, "labels", key), value, hint)
            faults.append(fault._replace(over=max(0, len(value) - MAX_LABEL)))
    annotations = metadata.get("annotations")
    if isinstance(annotations, dict):
        faults += _annotation_faults(annotations, (*path, "annotations"))
    return faults


# The objects of a fleet have few keys and values, and all objects of a service share its name: each is judged once.
@lru_cache(maxsize=1024)
def is_key(key: str) -> bool:
    """Whether the text may be the key of a label."""
    return _is_key(key) is not None and len(key.rpartition("/")[0]) <= MAX_NAME


@lru_cache(maxsize=1024)
def is_subdomain(text: str) -> bool:
    """Whether the text may be the name of most objects."""
    return len(text) <= MAX_NAME and _is_subdomain(text) is not None


@lru_cache(maxsize=1024)
def is_label_name(text: str) -> bool:
    """Whether the text may be one part of a DNS name, as namespaces and containers are."""
    return _is_label_name(text) is not None


@lru_cache(maxsize=1024)
def is_label_value(text: str) -> bool:
    """Whether the text may be the value of a label."""
    return _is_label_value(text) is not None


def _name_faults(metadata: dict[str, Json], path: Path, is_name: Callable[[str], object], kind: str) -> list[Fault]:
    name = metadata.get("name")
    if isinstance(name, str) and name:
        if len(name) <= MAX_NAME and is_name(name):
            return []
        return [_malformed(INVALID_NAME, (*path, "name"), name, allowed_in_name(kind, name))]
    if name:
        return []
    generated = metadata.get("generateName")
    return [
        Fault(
            code=MISSING_NAME,
            path=(*path, "generateName") if generated else path,
            message="generateName cannot stand for a name"
            if generated
            else f"{field_path((*path, 'name'))} is missing",
            label="the cluster would make this name up" if generated else "no name",
            help="write metadata.name: what is compiled ahead of time refers to objects by name" if generated else "",
            at_key=True,
        )
    ]


def _annotation_faults(annotations: dict[str, Json], path: Path) -> list[Fault]:
    # Kubernetes: ValidateAnnotations lowers the key first, for annotations may differ from labels in case only.
    faults = [_bad_key((*path, key), key) for key in annotations if not is_key(key) and not is_key(key.lower())]
    return faults + annotation_size_faults(annotations, path)


def annotation_size_faults(annotations: dict[str, Json], path: Path) -> list[Fault]:
    """Annotations that are too large together; `path` is where they stand."""
    if len(repr(annotations)) * LONGEST_CHARACTER <= MAX_ANNOTATIONS:  # nearly always, and quickly told
        return []
    texts = [*annotations, *(value for value in annotations.values() if isinstance(value, str))]
    size = sum(len(text.encode()) for text in texts)
    if size <= MAX_ANNOTATIONS:
        return []
    message = f"{field_path(path)} holds {size} bytes, more than the {MAX_ANNOTATIONS} that are allowed"
    # The objects of a component share its annotations and have further ones each; the longest text is the same.
    longest = max(texts, key=len)
    fault = Fault(code=ANNOTATIONS_TOO_LARGE, path=path, message=message, help="shorten them", at_key=True)
    return [fault._replace(once=longest)]


def _malformed(code: Code, path: Path, text: str, allowed: str) -> Fault:
    hint = "this looks like a placeholder that was never filled in" if _is_placeholder(text) else f"allowed: {allowed}"
    odd = next((character for character in text if not character.isascii()), "")
    if odd:
        hint += f"; U+{ord(odd):04X} is not one of them, whatever it looks like"
    return Fault(code=code, path=path, message=f'{field_path(path)} cannot be "{text}"', help=hint, once=text)


def _bad_key(path: Path, key: str) -> Fault:
    return Fault(
        code=INVALID_KEY,
        path=path,
        message=f'"{key}" is no valid key in {field_path(path[:-1])}',
        help="a key is a name of at most 63 characters, before it optionally a DNS name and a slash: example.com/team",
        at_key=True,
        once=key,
    )
