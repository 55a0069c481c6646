"""The versions of KServe that a project names: there must be a profile of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.paths import lookup
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.core.text.source import Document
    from kservec.core.tree import Path
    from kservec.project.settings import Settings

UNKNOWN_PROFILE = Code(
    "project/unknown-profile",
    Severity.ERROR,
    "a version of KServe that there is no profile of",
    "`kserve` names the version whose behaviour, runtimes and images are compiled. Each version that kservec knows has "
    "a profile; a later kservec may know more.",
)


def profile_findings(
    environments: Mapping[str, Settings], document: Document, known: Sequence[str]
) -> Iterator[Diagnostic]:
    """Errors about versions of KServe that there is no profile of, each once.

    Args:
        environments: the settings of all environments.
        document: the project's document.
        known: the versions that there is a profile of.
    """
    places = (place for name, settings in environments.items() for place in named_versions(name, settings, document))
    for at, version in dict.fromkeys(places):
        if version not in known:
            yield Diagnostic(
                code=UNKNOWN_PROFILE,
                message=f"there is no profile of KServe {version}",
                span=document.span(at),
                help=meant(version, known),
            )


def named_versions(name: str, settings: Settings, document: Document) -> Iterator[tuple[Path, str]]:
    """Where an environment, or the project for it, names a version, and which."""
    versions: list[tuple[Path, str]] = [(("kserve",), settings.kserve)]
    if settings.upgrade is not None:
        versions.append((("upgrade", "kserve"), settings.upgrade.kserve))
    for path, version in versions:
        for at in (("environments", name, *path), path):
            if lookup(document.value, at) == version:
                yield at, version
                break


def meant(version: str, known: Sequence[str]) -> str:
    """What a version was most likely meant to be."""
    near = closest(version, known)
    return f"did you mean {near}?" if near else f"there are profiles of {', '.join(known)}"
