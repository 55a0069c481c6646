"""kservec graph: pictures of the way of requests, as graphs are written and as services are deployed."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

import click

from kservec.api import compile_files, front_of
from kservec.cli.findings import TEXT, Findings
from kservec.cli.inputs import inputs_of
from kservec.cli.labour import few_collections
from kservec.cli.options import paths_argument, revision_options, target_options
from kservec.cli.selection import selected
from kservec.cli.status import FAILED
from kservec.cli.streams import write
from kservec.compilation import in_order, steps_of
from kservec.core.diagnostics import has_errors
from kservec.core.graphs.endpoints import GRAPH
from kservec.core.spelling import meant_name
from kservec.drawing.dot import dot
from kservec.drawing.mermaid import mermaid
from kservec.drawing.svg import is_link, svg
from kservec.explain.naming import names_of
from kservec.topology.environment import Fold, environment_topology
from kservec.topology.inventory import inventory_of, items_of, rendered_items
from kservec.topology.steps import graph_topologies
from kservec.topology.units import unit_topology

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kservec.api import Target
    from kservec.cli.inputs import Inputs
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.unit import Step
    from kservec.frontend import Front
    from kservec.topology.inventory import Inventory
    from kservec.topology.values import Node, Topology

MERMAID, DOT, SVG = "mermaid", "dot", "svg"
LANGUAGES: Mapping[str, Callable[[Sequence[Topology]], str]] = {MERMAID: mermaid, DOT: dot, SVG: svg}
STEPS, DEPLOYED = VIEWS = ("steps", "deployed")
FILES = "files"


class Wanted(NamedTuple):
    """The picture that is wanted: its language, what it shows, what is one node, and what nodes are linked to."""

    language: str
    view: str | None
    fold: Fold
    link: str


def picture_options(command: Callable[..., int]) -> Callable[..., int]:
    """The options of pictures; the command is handed them as one `wanted`."""

    @functools.wraps(command)
    def with_wanted(*, language: str, view: str | None, fold: str, link: str, **rest: Any) -> int:
        refuse_link(link, language)
        return command(wanted=Wanted(language, view, Fold(fold), link), **rest)

    options = (
        click.option("--format", "language", type=click.Choice(tuple(LANGUAGES)), default=MERMAID, show_default=True,
                     help="The language of the picture."),
        click.option("--view", type=click.Choice(VIEWS),
                     help="The steps of InferenceGraphs as they are written, or the way of requests through what is "
                          "deployed. Default: the steps, of files with an InferenceGraph."),
        click.option("--fold", type=click.Choice(tuple(map(str, Fold))), default=str(Fold.AUTO), show_default=True,
                     help="What is one node of what is deployed: an object, a service, or a namespace."),
        click.option("--link", metavar="URL", default="",
                     help="What SVG links nodes to: URL/FILE#L12, where they were written."),
    )  # fmt: skip
    return functools.reduce(lambda done, option: option(done), reversed(options), with_wanted)


def refuse_link(link: str, language: str) -> None:
    """Refuse an address that a picture would leave out without a word.

    Raises:
        click.UsageError: the picture is none with links, or browsers would not follow the address from one.
    """
    if not link:
        return
    ctx = click.get_current_context()
    if language != SVG:
        raise click.UsageError(f"--link is for --format {SVG}: {language} has no links", ctx)
    if not is_link(below(link, "")):
        raise click.UsageError(f"--link {link}: it must begin with https:// or http://, or be a relative path", ctx)


@click.command()
@paths_argument
@target_options
@revision_options
@picture_options
def graph(*, paths: tuple[str, ...], target: Target, wanted: Wanted) -> int:
    """Draw the way of requests: client, gateway, route, service, workload, model; or the steps of InferenceGraphs.

    PATHS are files, folders, - for standard input, or an environment, and after that the names of its services to draw
    them alone. The picture goes to standard output: Mermaid for Markdown, dot for Graphviz, or SVG. What is wrong goes
    to standard error.

    \b
      kservec graph pipeline.yaml
      kservec graph prod --format svg > prod.svg
      kservec graph prod payments/fraud-detector
    """  # noqa: D301
    if not paths:
        hint = "nothing to draw: name files or folders, an environment, or - for standard input"
        raise click.UsageError(hint, click.get_current_context())
    names = paths[1:] if selected(paths[:1], target.limits.max_bytes) is not None else ()
    inputs = inputs_of(paths[: len(paths) - len(names)], target)
    front, compilation = front_of(inputs.files, target=inputs.target)
    view = wanted.view or fitting(inputs, front)
    with few_collections():
        steps = list(steps_of(front)) if compilation.ok and view == DEPLOYED else []
    found = in_order((*compilation.diagnostics, *(d for step in steps for d in step.diagnostics if d.is_error)))
    if has_errors(found) and view == DEPLOYED:
        compilation = compile_files(inputs.files, target=inputs.target)
        found = tuple(d for d in compilation.diagnostics if d.is_error or d in found)
    drawn = () if has_errors(found) else pictures(inputs, front, steps, names, wanted.fold)
    if not drawn and not has_errors(found):
        raise click.UsageError("there is nothing that requests come to", click.get_current_context())
    Findings(layout=TEXT, notes=False).show(found, compilation.sources)
    if has_errors(found):
        return FAILED
    write(svg(drawn, link=lambda n: address(n, wanted.link)) if wanted.link else LANGUAGES[wanted.language](drawn))
    return 0


def fitting(inputs: Inputs, front: Front) -> str:
    """What is drawn if nobody says it."""
    has_graphs = any(unit.ref.kind == GRAPH for unit in front.units)
    return STEPS if has_graphs and inputs.workspace is None else DEPLOYED


def pictures(
    inputs: Inputs, front: Front, steps: Sequence[Step], names: Sequence[str], fold: Fold
) -> tuple[Topology, ...]:
    """What is drawn. Without steps of a build it is the graphs as they are written.

    Raises:
        click.UsageError: there is no service of a name.
        click.exceptions.Exit: the environment does not render; what was found has been shown.
    """
    wanted = [unit.ref for unit in front.units] if not names else named(names, [unit.ref for unit in front.units])
    if not steps:
        return graph_topologies([unit for unit in front.units if unit.ref in wanted], front.env)
    inventory = deployed(inputs, steps)
    if names:
        return tuple(unit_topology(inventory, ref) for ref in wanted)
    return environment_topology(inventory, inputs.environment or FILES, fold)


def deployed(inputs: Inputs, steps: Sequence[Step]) -> Inventory:
    """What is deployed: what was compiled, in an environment with its patches and plain manifests.

    Raises:
        click.exceptions.Exit: the environment does not render; what was found has been shown.
    """
    sources = {step.unit.ref: step.unit.source for step in steps}
    compiled = [item for step in steps for item in items_of(step.unit)]
    settings = inputs.settings
    if inputs.workspace is None or settings is None or not (settings.patches or settings.include):
        return inventory_of(compiled, sources)
    from kservec.environments import render  # noqa: PLC0415 - few environments have patches

    rendering = render(inputs.workspace, inputs.environment)
    if not rendering.ok:
        Findings(layout=TEXT, notes=False).show(rendering.diagnostics, rendering.texts)
        click.get_current_context().exit(FAILED)
    patched = bool(settings.patches)
    return inventory_of(rendered_items(rendering.objects, compiled, patched=patched), sources)


def named(names: Sequence[str], refs: Sequence[ObjectRef]) -> list[ObjectRef]:
    """The users' objects that are called so: by name, `namespace/name`, or with their kind.

    Raises:
        click.UsageError: there is none of a name.
    """
    called = {ref: {ref.name, f"{ref.namespace}/{ref.name}", *names_of(ref)} for ref in refs}
    every = {name for known in called.values() for name in known}
    for name in names:
        if name not in every:
            near = meant_name(name, every)
            hint = f"; did you mean {near}?" if near else ""
            raise click.UsageError(f"there is no service {name}{hint}", click.get_current_context())
    return [ref for ref in sorted(refs) if not called[ref].isdisjoint(names)]


def address(node: Node, base: str) -> str:
    """Where a node was written, below an address; nowhere without one."""
    if not base or node.span is None or not node.span.line:
        return ""
    return below(base, f"{quote(node.span.file)}#L{node.span.line}")


def below(base: str, path: str) -> str:
    """An address below another one."""
    return f"{base.rstrip('/')}/{path}"
