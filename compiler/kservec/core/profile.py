"""Profiles: in what one version of KServe differs from the one that the compiler is written after.

Decides nothing. The defaults are that version's; a folder of the catalog says where another one differs. Rules that
differ are looked up here, so that no pass compares versions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec._version import KSERVE_PROFILE
from kservec.core.records import record

if TYPE_CHECKING:
    from kservec.core.paths import Path


class Missing(NamedTuple):
    """A field of some kinds that a version does not have, or that it treats as kservec does not.

    `since` is the version of KServe that brought it; empty where the version has it, and `why` says what is not built.
    """

    kinds: tuple[str, ...]
    path: Path
    since: str = ""
    why: str = ""


class MissingScheme(NamedTuple):
    """A kind of URI that a version does not have, and the version of KServe that brought it."""

    prefix: str
    since: str


@record
class Profile:
    """A version of KServe, as far as it differs.

    `release` is the tag of its source. `api_versions` are those of the kinds that its controllers make. `fields` and
    `schemes`: what it does not have. `splits_canaries`: routes of the Gateway API give canaries their share, and keep
    their names when a canary is promoted. `tokenizes_apart`: prompts become tokens in a workload of their own, instead
    of in a container beside the scheduler.
    """

    version: str = KSERVE_PROFILE
    release: str = ""
    api_versions: tuple[str, ...] = ()
    fields: tuple[Missing, ...] = ()
    schemes: tuple[MissingScheme, ...] = ()
    splits_canaries: bool = True
    tokenizes_apart: bool = True


CURRENT = Profile()
"""The version that the compiler is written after."""
