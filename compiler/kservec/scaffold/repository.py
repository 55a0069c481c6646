"""The files of a new repository: which there are for which choices, and their texts.

Texts are templates among `files/`; `<<name>>` stands for what follows from the choices. The project file lists every
option that there is, from the schema of its kind, so that it cannot miss one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kservec.project.reference import options_of
from kservec.scaffold.choices import ARGOCD, BOTH, FLUX, GITHUB, GITLAB, KNATIVE, NO_CI, NO_TOOL, STANDARD, Choices
from kservec.scaffold.options import option_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kservec.project.reference import Option, Schema

ENVIRONMENTS = {"dev": "dev.models.example.com", "prod": "models.example.com"}
"""The environments and the domains of their services."""
HEAD = ("apiVersion", "kind", "metadata", "environments")
"""Fields that the template of the project file writes itself."""
MODE_NAMES = {STANDARD: "Standard", KNATIVE: "Knative"}
METRICS = {STANDARD: ("cpu", "80"), KNATIVE: ("concurrency", "10")}
"""What a service is scaled by, and the target."""
REVIEWED = {
    GITHUB: "The workflow lints it, checks that the rendered files are what a build would write, and comments on "
    "what it changes.",
    GITLAB: "The pipeline lints it, checks that the rendered files are what a build would write, and keeps a report of "
    "what it changes.",
    NO_CI: "Let your CI run `kservec lint` and `kservec check`.",
}
OVERLAY_ROW = "| `overlays/` | what is different in an environment: kustomize overlays over `services/` |\n"

_places = re.compile(r"<<([a-z]+)>>")
OUTPUT = "rendered/{env}"
"""Where trees are rendered to."""


class Planned(NamedTuple):
    """A file of the new repository. `sample`: it is an example, for a folder that has nothing of the user's yet."""

    path: str
    text: str
    sample: bool = False


def planned_repository(
    choices: Choices, template: Callable[[str], str], schemas: Mapping[str, tuple[Schema, str]]
) -> tuple[Planned, ...]:
    """Every file of a new repository, in the order of their paths.

    Args:
        choices: what the user chose.
        template: gives the text of a template by its path below `files/`.
        schemas: the schemas of our own documents, `project` and `cluster`, and their texts.
    """
    files = [
        Planned("kservec.yaml", project_file(choices, template("project.yaml"), schemas["project"][0])),
        Planned("README.md", readme(choices, template)),
        Planned(".gitattributes", template("gitattributes")),
        Planned(".pre-commit-config.yaml", filled(template("pre-commit.yaml"), version=choices.version)),
        *(Planned(f".schemas/{name}.json", text) for name, (_, text) in schemas.items()),
        *ci_files(choices, template),
        *services(choices, template),
        *platform(choices, template),
    ]
    return tuple(sorted(files))


def filled(template: str, **values: str) -> str:
    """A template with its places filled.

    Raises:
        KeyError: there is no value for a place.
    """
    return _places.sub(lambda place: values[place[1]], template)


def project_file(choices: Choices, template: str, schema: Schema) -> str:
    """The text of kservec.yaml."""
    options = {option.name: option for option in options_of(schema)}
    own = {option.name for option in options["environments"].values}
    fixed = [o for name, o in options.items() if name not in HEAD and (name not in own or name == "output")]
    shared = [o for name, o in options.items() if name in own and name != "output"]
    return filled(
        template,
        fixed=paragraphs(fixed, {"sources": ["services"], "output": OUTPUT}),
        shared=paragraphs(shared, {"platform": ["platform/common"]} | gitops(choices)),
        environments="\n".join(f"  {name}:\n{own_settings(choices, name)}" for name in ENVIRONMENTS),
    )


def gitops(choices: Choices) -> dict[str, object]:
    """What the project file says about Argo CD and Flux."""
    if choices.tool == NO_TOOL:
        return {}
    path = {"path": f"{choices.below}/{OUTPUT}"} if choices.below else {}
    return {"gitops": {"tool": choices.tool, "repoURL": choices.url, **path}}


def paragraphs(options: list[Option], written: Mapping[str, object]) -> str:
    """Fields with an empty line between them."""
    return "\n\n".join("\n".join(option_lines([option], written)) for option in options)


def own_settings(choices: Choices, environment: str) -> str:
    """What the project file says about one environment."""
    overlay = f"    overlay: overlays/{environment}\n" if choices.overlays else ""
    cluster = f"\n    gitops: {{cluster: {environment}}}" if choices.tool != NO_TOOL else ""
    return f"{overlay}    platform: [platform/{environment}]{cluster}"


def readme(choices: Choices, template: Callable[[str], str]) -> str:
    """The text of README.md: what to do next."""
    tools = {BOTH: (ARGOCD, FLUX)}.get(choices.tool, (choices.tool,))
    return filled(
        template("readme.md"),
        title=choices.title,
        overlays=OVERLAY_ROW if choices.overlays else "",
        gitops="".join(filled(template(f"gitops-{tool}.md"), url=choices.url) for tool in tools),
        ci=REVIEWED[choices.ci],
    )


def ci_files(choices: Choices, template: Callable[[str], str]) -> Iterator[Planned]:
    """What the CI system reads."""
    if choices.ci == GITHUB:
        text = filled(template("github.yaml"), version=choices.version)
        yield Planned(".github/workflows/kservec.yaml", text)
        yield Planned(".github/CODEOWNERS", template("codeowners"))
    if choices.ci == GITLAB:
        yield Planned(".gitlab-ci.yml", filled(template("gitlab-ci.yml"), version=choices.version))
        yield Planned(".gitlab/CODEOWNERS", template("codeowners"))


def services(choices: Choices, template: Callable[[str], str]) -> Iterator[Planned]:
    """Services to begin with, and the overlays over them."""
    metric, target = METRICS[choices.mode]
    yield Planned(
        "services/iris.yaml", filled(template("services/iris.yaml"), metric=metric, target=target), sample=True
    )
    yield Planned("services/assistant.yaml", template("services/assistant.yaml"), sample=True)
    if choices.overlays:
        yield Planned("services/kustomization.yaml", template("overlays/services.yaml"), sample=True)
        for number, name in enumerate(ENVIRONMENTS, start=1):
            text = filled(template("overlays/kustomization.yaml"), env=name, replicas=str(number))
            yield Planned(f"overlays/{name}/kustomization.yaml", text, sample=True)


def platform(choices: Choices, template: Callable[[str], str]) -> Iterator[Planned]:
    """What describes the cluster: what is common to all environments, and what is different in each."""
    mode = choices.mode
    configuration = filled(
        template("platform/common/inferenceservice-config.yaml"),
        mode=MODE_NAMES[mode],
        ingress=template(f"{mode}/ingress.json").rstrip("\n"),
    )
    yield Planned("platform/common/inferenceservice-config.yaml", configuration, sample=True)
    yield Planned("platform/common/cluster.yaml", template(f"{mode}/cluster.yaml"), sample=True)
    if mode == STANDARD:
        yield Planned("platform/common/gateway.yaml", template("platform/common/gateway.yaml"), sample=True)
    for name, domain in ENVIRONMENTS.items():
        text = filled(template("platform/environment.yaml"), env=name, domain=domain)
        yield Planned(f"platform/{name}/cluster.yaml", text, sample=True)
