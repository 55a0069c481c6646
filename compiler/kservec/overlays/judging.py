"""What is wrong with a kustomization before it is run: what kustomize would fetch, start, or not find.

Kustomize words its own errors for those who know its insides, and names no lines. So what can be told from the files
alone is told here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.spelling import closest
from kservec.overlays.kustomization import FIELDS, KINDS, KUSTOMIZATION_GROUP, PROGRAMS

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.paths import Json
    from kservec.overlays.kustomization import Kustomization, Reference

REMOTE = Code(
    "overlay/remote",
    Severity.ERROR,
    "an overlay that fetches something",
    "A build depends on the files of the repository alone, so that it gives the same tomorrow. Copy the base into the "
    "repository (a submodule or a vendoring tool keeps it current), and name its folder.",
)
PROGRAM = Code(
    "overlay/needs-program",
    Severity.ERROR,
    "an overlay that starts other programs",
    "Helm charts, functions that are run in containers or as programs, and plugins are code from elsewhere whose "
    "result can differ from run to run. Run them beforehand, and commit what they make.",
)
OUTSIDE = Code(
    "overlay/outside",
    Severity.ERROR,
    "an overlay that reads files outside of its folder",
    "A kustomization reads files of its own folder and below, and refers to other folders as a whole, by the "
    "kustomization that they hold. All of them are in the folder of kservec.yaml, also where links lead.",
)
NOT_FOUND = Code(
    "overlay/not-found",
    Severity.ERROR,
    "an overlay that refers to something that is not there",
    "A kustomization names a file that does not exist, or a folder without a kustomization.yaml.",
)
CIRCLE = Code(
    "overlay/circle",
    Severity.ERROR,
    "kustomizations that refer to each other",
    "A kustomization is made of those that it names, so none of them can be made of it.",
)
UNKNOWN_FIELD = Code(
    "overlay/unknown-field",
    Severity.ERROR,
    "a field that kustomizations do not have",
    "Kustomize refuses a kustomization with a field that it does not know.",
)
NO_MAP = Code(
    "overlay/not-a-kustomization",
    Severity.ERROR,
    "a kustomization.yaml that holds something else",
    "The file of a kustomization holds one document of kind Kustomization or Component.",
)

_is_url = re.compile(
    r"[a-z][a-z0-9+.-]*://|git::|git@|[^/]+@[^/:]+:|.*[?&](ref|version|timeout|submodules)=", re.I
).match
_is_host = re.compile(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::[0-9]+)?/", re.I).match
PATCH_FIELDS = ("options", "patch", "path", "target")
TARGET_FIELDS = ("annotationSelector", "group", "kind", "labelSelector", "name", "namespace", "version")
"""What an entry of patches has, and its target."""
FUNCTION = "config.kubernetes.io/function"
BUILTIN = "builtin"
HELM_KINDS = ("HelmChartInflationGenerator",)


def is_remote(text: str, *, exists: bool) -> bool:
    """Whether a path of a kustomization is an address. `exists`: there is a file or folder of that name."""
    return _is_url(text) is not None or (not exists and (_is_host(text) is not None or ".git/" in f"{text}/"))


def remote(reference: Reference, span: Span) -> Diagnostic:
    """The error about something that would be fetched."""
    message = f"{reference.text} would be fetched from the network"
    hint = "copy it into the repository, and name the folder"
    return Diagnostic(code=REMOTE, message=message, span=span, label="not in the repository", help=hint)


def field_findings(kustomization: Kustomization) -> Iterator[Diagnostic]:
    """Fields that kustomizations do not have, and those for which programs are started."""
    for field in kustomization.value:
        span = kustomization.document.key_span((field,))
        if field in PROGRAMS:
            message = f"{field} starts helm, and may fetch a chart"
            hint = "run `helm template` beforehand, commit its output, and name that file under resources"
            yield Diagnostic(code=PROGRAM, message=message, span=span, help=hint)
        elif field not in FIELDS:
            near = closest(field, FIELDS)
            hint = f"did you mean {near}?" if near else "remove it"
            yield Diagnostic(code=UNKNOWN_FIELD, message=f"a kustomization has no {field}", span=span, help=hint)
    yield from patch_field_findings(kustomization)


def patch_field_findings(kustomization: Kustomization) -> Iterator[Diagnostic]:
    """Fields that entries of patches do not have, nor their targets. Letter case is nothing to kustomize there."""
    for field in ("patches", "patchesJson6902"):
        for i, item in kustomization.items(field):
            target = item.get("target") if isinstance(item, dict) else None
            for what, at, value, known in (
                ("an entry of patches", (field, i), item, PATCH_FIELDS),
                ("a target", (field, i, "target"), target, TARGET_FIELDS),
            ):
                for key in value if isinstance(value, dict) else ():
                    if str(key).casefold() not in {name.casefold() for name in known}:
                        near = closest(str(key), known)
                        hint = f"did you mean {near}?" if near else f"one of {', '.join(known)}"
                        span = kustomization.document.key_span((*at, key))
                        yield Diagnostic(code=UNKNOWN_FIELD, message=f"{what} has no {key}", span=span, help=hint)


def kind_findings(kustomization: Kustomization) -> Iterator[Diagnostic]:
    """A document that is of another kind than a kustomization."""
    kind, version = (
        kustomization.value.get("kind", KINDS[0]),
        kustomization.value.get("apiVersion", KUSTOMIZATION_GROUP),
    )
    at = ("kind",) if kind not in KINDS else ("apiVersion",)
    if kind not in KINDS or not str(version).startswith(KUSTOMIZATION_GROUP):
        message = f"this is no kustomization: its kind is {kind}, of {version}"
        hint = "name the file otherwise, and list it under resources of a kustomization"
        yield Diagnostic(code=NO_MAP, message=message, span=kustomization.span(*at), help=hint)


def plugin_finding(configuration: Json, span: Span) -> Diagnostic | None:
    """The error about a generator or transformer that is not built into kustomize; None for those that are."""
    value = configuration if isinstance(configuration, dict) else {}
    kind = str(value.get("kind", ""))
    annotations = (
        (value.get("metadata") or {}).get("annotations") or {} if isinstance(value.get("metadata"), dict) else {}
    )
    if FUNCTION in annotations:
        what = f"{kind} is a function that would be run in a container or as a program"
    elif kind in HELM_KINDS:
        what = f"{kind} starts helm"
    elif value.get("apiVersion") != BUILTIN:
        what = f"{kind} is not built into kustomize, so it would be run as a plugin"
    else:
        return None
    return Diagnostic(code=PROGRAM, message=what, span=span, help="run it beforehand, and commit what it makes")
