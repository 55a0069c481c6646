"""Settings: what holds for one environment, once it has taken from the project what it leaves out.

Lists of an environment come after those of the project, since later ones override; maps are laid over the project's;
of everything else the environment's own value counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec._version import KSERVE_PROFILE
from kservec.core.policy import Policy
from kservec.core.records import fresh, record
from kservec.project.additions import additions_of, first
from kservec.project.gitops import GitOpsSettings, gitops_of
from kservec.project.policy import policy_of
from kservec.project.upgrade import upgrade_of
from kservec.spec.placeholder import PLACE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.core.additions import Additions
    from kservec.project.upgrade import UpgradeSettings
    from kservec.spec.project import Environment, Project

ALONE = "default"
"""The name of the environment of a project that lists none."""


@record
class Settings:
    """One environment. All paths are below the folder of the project file, with slashes.

    `sources` and `overlay`: what is compiled; an overlay stands for the sources. `platform`: what describes the
    cluster, later ones override. `include`: manifests that are rendered as they are. `namespaces`: those that objects
    may be in, any if empty. `additions`: what is wanted of objects beyond what KServe makes. `kserve`: the version of
    KServe that is compiled for. `upgrade`: what comes next, and who has it already.
    """

    name: str
    sources: Sequence[str]
    output: str
    overlay: str = ""
    patches: str = ""
    layout: str = "tree"
    platform: Sequence[str] = ()
    catalog: str = "builtin"
    absent: Sequence[str] = ()
    include: Sequence[str] = ()
    namespaces: Sequence[str] = ()
    kserve: str = KSERVE_PROFILE
    upgrade: UpgradeSettings | None = None
    names_revisions: bool = True
    additions: Additions
    policy: Policy = fresh(factory=Policy)
    gitops: GitOpsSettings

    @property
    def image_rewrites(self) -> Mapping[str, str]:
        """Beginnings of image names and what stands there instead."""
        return self.additions.image_rewrites

    @property
    def pod_security(self) -> str:
        """The level of the Pod Security Standards that is written where a spec says nothing."""
        return self.additions.pod_security


def environments_of(project: Project) -> dict[str, Settings]:
    """The settings of every environment by its name; of a project without any, those of one that is called default."""
    from kservec.spec.project import Environment  # noqa: PLC0415 - loads pydantic

    given = project.environments or {ALONE: None}
    return {name: settings_of(project, name, own or Environment()) for name, own in given.items()}


def settings_of(project: Project, name: str, own: Environment) -> Settings:
    """The settings of one environment."""
    output = (own.output or project.output).replace(PLACE, name)
    gitops = gitops_of(project.gitops, own.gitops, name, (output, project.layout))
    revisions = first(own.knative.revision_names, project.knative.revision_names, default="hash")
    kserve = first(own.kserve, project.kserve, default=KSERVE_PROFILE)
    return Settings(
        name=name,
        sources=tuple(project.sources),
        output=output,
        overlay=own.overlay or "",
        patches=own.patches or "",
        layout=project.layout,
        platform=(*project.platform, *own.platform),
        catalog=first(own.catalog, project.catalog, default="builtin"),
        absent=(*project.absent, *own.absent),
        include=(*project.include, *own.include),
        namespaces=tuple(own.namespaces),
        kserve=kserve,
        upgrade=upgrade_of(project, name, own, kserve),
        names_revisions=revisions == "hash",
        additions=additions_of(project, own, gitops),
        policy=policy_of(project, name, own, gitops),
        gitops=gitops,
    )
