"""kservec init: lay down a repository that builds."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kservec._version import __version__
from kservec.cli.streams import write
from kservec.io.packaged import packaged_own_schema, packaged_template
from kservec.project.reading import PROJECT_FILE
from kservec.report.words import plural
from kservec.scaffold.choices import CI_SYSTEMS, MODES, TOOLS, Choices

if TYPE_CHECKING:
    from kservec.io.laying import Laid

DOCUMENTS = ("project", "cluster")
ATTRIBUTES = ".gitattributes"
TOP_ONLY = (".github/", ".gitlab", ".pre-commit")


def folder_of(ctx: click.Context, parameter: click.Parameter, value: str) -> Path:
    """The folder that an argument names.

    Raises:
        click.UsageError: it is empty, which a variable of the shell that is not set becomes.
    """
    del parameter
    if not value:
        raise click.UsageError("DIR is empty; name a folder, or leave it out for this one", ctx)
    return Path(value)


@click.command()
@click.argument("folder", metavar="[DIR]", default=".", type=click.Path(file_okay=False), callback=folder_of)
@click.option("--gitops", "tool", type=click.Choice(TOOLS), default=TOOLS[0], show_default=True,
              help="For which tool objects are rendered.")  # fmt: skip
@click.option("--ci", type=click.Choice(CI_SYSTEMS), default=CI_SYSTEMS[0], show_default=True,
              help="For which CI system there is a workflow.")  # fmt: skip
@click.option("--mode", type=click.Choice(MODES), default=MODES[0], show_default=True,
              help="How services are deployed: as plain Deployments, or by Knative.")  # fmt: skip
@click.option("--overlays", is_flag=True, help="Make environments kustomize overlays; building them needs kustomize.")
@click.option("--repo-url", default=None, metavar="URL", help="Where Argo CD or Flux find the repository. Default: "
              "git's remote origin.")  # fmt: skip
def init(*, folder: Path, tool: str, ci: str, mode: str, overlays: bool, repo_url: str | None) -> int:  # noqa: PLR0913
    """Lay down a repository that builds: a project file with every option, services, a platform, CI.

    What is in DIR already stays as it is.

    \b
      kservec init demo && cd demo && kservec build
      kservec init --gitops flux --ci gitlab
    """  # noqa: D301
    from kservec.io.laying import lay  # noqa: PLC0415 - `--help` needs none of it
    from kservec.io.repository import origin_url  # noqa: PLC0415 - as above
    from kservec.scaffold.repository import planned_repository  # noqa: PLC0415 - as above

    url = origin_url(folder.absolute()) if repo_url is None else repo_url
    choices = Choices(
        name=folder.resolve().name, version=__version__, repo_url=url, tool=tool, ci=ci, mode=mode, overlays=overlays,
        below=folder_below_top(folder),
    )  # fmt: skip
    texts = {name: packaged_own_schema(name).decode() for name in DOCUMENTS}
    schemas = {name: (json.loads(text), text) for name, text in texts.items()}
    try:
        laid = lay(folder, planned_repository(choices, packaged_template, schemas))
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from None
    write("".join(f"{line}\n" for line in told(laid, folder, url)), err=True)
    return 0


def folder_below_top(folder: Path) -> str:
    """The path of a folder below the top of its repository; empty at the top."""
    from kservec.io.repository import repository_top  # noqa: PLC0415 - `--help` needs none of it

    absolute = folder.resolve()
    below = absolute.relative_to(repository_top(absolute))
    return "" if below == Path() else below.as_posix()


def told(laid: Laid, folder: Path, url: str) -> list[str]:
    """What was done, and what to do next."""
    lines = [f"{plural(len(laid.written), 'file')} written to {folder}" if laid.written else f"{folder}: up to date"]
    lines += [f"  kept as it is: {path}" for path in laid.kept]
    if laid.passed_over:
        lines.append(f"  no samples where there is something already: {', '.join(laid.passed_over)}")
    if ATTRIBUTES in laid.kept:
        lines.append(f"  {ATTRIBUTES} should have the line: rendered/** -text linguist-generated")
    if (above := folder_below_top(folder)) and any(path.startswith(TOP_ONLY) for path in laid.written):
        what = ".github, .gitlab* and .pre-commit-config.yaml count at the top of a repository alone"
        lines.append(f"  {what}: move them there, and let them work in {above}")
    if laid.written:
        move = "" if folder == Path() else f"cd {shlex.quote(str(folder))} && "
        lines += ["next:", f"  {move}kservec build", "  README.md says how it goes on"]
        if PROJECT_FILE in laid.written and not url:
            lines.append(f"  gitops.repoURL in {PROJECT_FILE} is a place-holder; put in where the repository is")
    return lines
