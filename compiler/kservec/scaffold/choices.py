"""What a user chooses for a new repository, and what follows from it for the texts of its files."""

from __future__ import annotations

import re

from kservec.core.records import record

ARGOCD, FLUX, BOTH, NO_TOOL = TOOLS = ("argocd", "flux", "both", "none")
GITHUB, GITLAB, NO_CI = CI_SYSTEMS = ("github", "gitlab", "none")
STANDARD, KNATIVE = MODES = ("standard", "knative")
FALLBACK = "models"

_is_short = re.compile(r"([\w.-]+@[\w.-]+):(?!//)(.+)").fullmatch
_is_plain = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*").fullmatch


@record
class Choices:
    """The choices for a repository, each one of the tuples above.

    `name` is that of its folder, `repo_url` where Argo CD or Flux find it; `overlays`: whether environments are
    kustomize overlays; `version` is that of kservec, which CI installs; `below` is the path of the folder from the
    top of a repository that is there already, empty at the top.
    """

    name: str
    version: str
    repo_url: str = ""
    tool: str = ARGOCD
    ci: str = GITHUB
    mode: str = STANDARD
    overlays: bool = False
    below: str = ""

    @property
    def title(self) -> str:
        """The name of the repository, where it is one that can stand anywhere."""
        return self.name if _is_plain(self.name) else FALLBACK

    @property
    def url(self) -> str:
        """Where the repository is, or a place-holder that says what belongs there.

        Flux takes no short forms of SSH (`git@host:path`).
        """
        short = _is_short(self.repo_url)
        if short and self.tool in (FLUX, BOTH):
            return f"ssh://{short[1]}/{short[2]}"
        return self.repo_url or f"https://git.example.com/{self.title}.git"
