"""Kinds of text in kservec's own documents, each with the rule of whoever reads it in the end.

Decides which texts a field may hold, for the models and for their JSON Schemas. Must not know any field.

Kubernetes: apimachinery/pkg/util/validation/validation.go; git: check-ref-format; OCI images: distribution's reference
grammar. `{env}` is the only place-holder of a project; where a text may have it, the rest is judged around it.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import AfterValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from kservec.spec.placeholder import PLACE
from kservec.spec.selection import selection_of

ANY_TEXT = r"[^\u0000-\u001f\u007f]+"
"""Some text on one line. Control characters among it would break files, paths or YAML."""
LOWER = "lower-case letters, digits and dashes, a letter or digit at both ends, at most 63"

DNS_LABEL = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
SUBDOMAIN = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*"
WORD = "[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
RELEASE = r"[0-9]{1,3}\.[0-9]{1,3}"
MAX_NAME = 253

_PART = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_HOST = "[A-Za-z0-9](?:[-A-Za-z0-9]*[A-Za-z0-9])?"
_PORT = ":[0-9]+"
_REGISTRY = rf"(?:localhost|{_HOST}(?:\.{_HOST})+|\[[A-Fa-f0-9:]+\])(?:{_PORT})?|{_HOST}{_PORT}"
_VERSION = "(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(?:@sha256:[0-9a-f]{64})?"
IMAGE = f"(?:{_REGISTRY}|{_PART})(?:/{_PART})*(?:/|{_VERSION})"

is_label_name = re.compile(DNS_LABEL).fullmatch
is_label_value = re.compile(f"(?:{WORD})?").fullmatch
_is_subdomain = re.compile(SUBDOMAIN).fullmatch
_is_key = re.compile(f"(?:{SUBDOMAIN}/)?{WORD}").fullmatch
_is_text = re.compile(ANY_TEXT).fullmatch
_is_image = re.compile(IMAGE).fullmatch
_is_kind = re.compile("[A-Z][A-Za-z0-9]*").fullmatch
_is_secret_key = re.compile(r"(?!\.\.?\Z|\.\.)[-._a-zA-Z0-9]{1,253}").fullmatch
_is_sync_option = re.compile("[A-Za-z]+=[-A-Za-z0-9,._]+").fullmatch
_is_variable = re.compile("[_A-Za-z][_A-Za-z0-9]*").fullmatch
_has_scheme = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/]|/").match
_is_short_ssh = re.compile(r"(?:[^\s@/:]+@)?[^\s@/:]+:[^/\s]\S*").fullmatch
_breaks_a_ref = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|\Z)|\A[./-]|[./]\Z|\A@\Z").search
_is_release = re.compile(RELEASE).fullmatch
_is_digest = re.compile("sha256:[0-9a-f]+").fullmatch
_places = re.compile(r"\{[A-Za-z_][A-Za-z0-9_.-]*\}|\{\}").findall


def text(
    is_fine: Callable[[str], object], what: str, remedy: str, *, pattern: str = "", has_place: bool = False
) -> Any:
    """A type of texts.

    Args:
        is_fine: whether a text is one of them.
        what: what a wrong one is not.
        remedy: what to write.
        pattern: a regular expression for its JSON Schema that all of them match; keys of mappings have none.
        has_place: whether `{env}` may stand in it.
    """

    def checked(value: str) -> str:
        if not is_fine(value.replace(PLACE, "env") if has_place else value):
            raise PydanticCustomError("kservec_text", "{what}", {"what": what, "remedy": remedy})
        if has_place and (unknown := [place for place in _places(value) if place != PLACE]):
            said = {"place": unknown[0], "remedy": f"{PLACE}, the name of the environment, is the only one"}
            raise PydanticCustomError("kservec_text", "unknown place-holder {place}", said)
        return value

    schema = {"type": "string", "pattern": f"^(?:{pattern})$"} if pattern else {"type": "string"}
    return Annotated[str, AfterValidator(checked), WithJsonSchema(schema)]


def is_subdomain(value: str) -> bool:
    """Whether a text may be the name of most objects."""
    return len(value) <= MAX_NAME and _is_subdomain(value) is not None


def is_key(value: str) -> bool:
    """Whether a text may be the key of a label."""
    return len(value.rpartition("/")[0]) <= MAX_NAME and _is_key(value) is not None


def is_range(value: str) -> bool:
    """Whether a text is a range of addresses, such as 10.0.0.0/8."""
    address, slash, length = value.partition("/")
    try:
        ipaddress.ip_interface(value)
    except ValueError:
        return False
    return bool(slash) and length.isdecimal() and "%" not in address


def is_inside(small: str, large: str) -> bool:
    """Whether one range of addresses is a part of another, and not all of it."""
    inner, outer = (ipaddress.ip_network(each, strict=False) for each in (small, large))
    return inner.version == outer.version and inner != outer and outer.supernet_of(inner)  # type: ignore[arg-type]


def has_version(image: str) -> bool:
    """Whether the name of an image ends with a tag or a digest."""
    _, slash, last = image.rpartition("/")
    return "@" in image or (bool(slash) and ":" in last)


def is_repository(value: str) -> bool:
    """Whether a text may be the URL of a repository: with a scheme, as `git@host:path`, or a path of the machine."""
    if not _is_text(value) or re.search(r"\s", value) or ".." in value.split("/"):
        return False
    return bool(_has_scheme(value) or _is_short_ssh(value))


def is_revision(value: str) -> bool:
    """Whether a text may be the name of a branch or tag, a commit, or a digest."""
    return bool(_is_digest(value) or (value and not _breaks_a_ref(value)))


ONE_LINE = "not a text on one line", "write some text without control characters"
PATH = "not a path on one line", "name a path without control characters, such as NUL and line feeds"
NAME = "not a name that Kubernetes takes", "lower-case letters, digits, dashes and dots, a letter or digit at both ends"
KEY = (
    "not a label that Kubernetes takes",
    "a name of at most 63 letters, digits, dashes, underscores and dots, before it maybe a DNS name and a slash",
)
NAMES_IMAGES = "not the name of an image, nor its beginning", "lower-case parts with slashes between, as ghcr.io/team/"
REVISION = (
    "not a name that git takes",
    "name a branch, a tag, a commit or a digest; spaces, .. and ~^:?*[\\ are in none",
)

Line = text(_is_text, *ONE_LINE, pattern=ANY_TEXT)
LineWithPlace = text(_is_text, *ONE_LINE, pattern=ANY_TEXT, has_place=True)
Path = text(_is_text, *PATH, pattern=ANY_TEXT)
"""A path below the folder of the project file, with slashes."""
PathWithPlace = text(_is_text, *PATH, pattern=ANY_TEXT, has_place=True)
Namespace = text(is_label_name, "not a name that a namespace can have", LOWER, pattern=DNS_LABEL)
NamespaceKey = text(is_label_name, "not a name that a namespace can have", LOWER)
ObjectName = text(is_subdomain, *NAME, pattern=r"[-a-z0-9.]{1,253}")
ObjectNameWithPlace = text(is_subdomain, *NAME, pattern=r"[-a-z0-9.{}]+", has_place=True)
ObjectNameKey = text(is_subdomain, *NAME, has_place=True)
LabelKey = text(is_key, *KEY)
LabelName = text(is_key, *KEY, pattern=r"[-A-Za-z0-9_./]{1,317}")
LabelValue = text(
    is_label_value,
    "not a label value that Kubernetes takes",
    "at most 63 letters, digits, dashes, underscores and dots, a letter or digit at both ends",
    pattern=r"[-A-Za-z0-9_.]{0,63}",
)
SecretEntry = text(
    _is_secret_key,
    "not a key that a Secret can have",
    "letters, digits, dashes, underscores and dots",
    pattern=r"[-._a-zA-Z0-9]{1,253}",
)
ImageKey = text(_is_image, *NAMES_IMAGES)
ImageName = text(_is_image, *NAMES_IMAGES, pattern=IMAGE)
AddressRange = text(
    is_range,
    "not a range of addresses",
    "write an address and a length, as 10.0.0.0/8",
    pattern=r"[0-9A-Fa-f.:]+/[0-9]+",
)
Kind = text(
    _is_kind, "not a kind", "name a kind as Kubernetes writes it, such as Namespace", pattern="[A-Z][A-Za-z0-9]*"
)
SyncOption = text(
    _is_sync_option,
    "not an option of Argo CD's syncs",
    "write a name, = and a value, as PruneLast=true",
    pattern="[A-Za-z]+=[-A-Za-z0-9,._]+",
)
VariableKey = text(_is_variable, "not the name of a variable", "letters, digits and underscores, no digit in front")
RepositoryUrl = text(
    is_repository,
    "not the URL of a repository",
    "write https://..., ssh://..., oci://... or git@host:path, without spaces and ..",
    pattern=r"\S+",
)
Release = text(_is_release, "not a version of KServe", 'write its first two numbers, as "0.21"', pattern=RELEASE)
"""A version of KServe, by its first two numbers."""
Selected = text(
    selection_of,
    "not a selection of services",
    "write a namespace, a label as tier=dev, or a service as payments/InferenceService/fraud",
    pattern=ANY_TEXT,
)
"""Services by namespace, by label, or one of them."""
Revision = text(is_revision, *REVISION, pattern=r"\S+", has_place=True)
