"""kservec lock: whether the lock file covers what is rendered; with --update the lock file anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from kservec.cli.environments import all_findings, all_sources, rendered
from kservec.cli.options import findings_options
from kservec.cli.selection import selected
from kservec.cli.status import DIFFERENT, FAILED
from kservec.cli.streams import complain
from kservec.core.diagnostics import Diagnostic, Span
from kservec.core.lock import LOCK_FILE, Lock
from kservec.core.records import evolve
from kservec.core.text.source import Limits
from kservec.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kservec.cli.findings import Findings
    from kservec.core.paths import Json
    from kservec.environments import Rendering
    from kservec.io.workspace import Workspace
    from kservec.policy.coverage import References


@click.command()
@click.argument("environments", nargs=-1)
@click.option("--update", is_flag=True, help="Ask registries and hubs, and write the lock file. Uses the network.")
@click.option("--only-missing", is_flag=True, help="With --update: ask only for what the lock file does not have.")
@click.option("--facts", is_flag=True, help="With --update: note what models need of GPUs, for kservec capacity.")
@findings_options(notes=False)
def lock(*, environments: tuple[str, ...], update: bool, only_missing: bool, facts: bool, findings: Findings) -> int:
    """Check that kservec.lock.json covers what ENVIRONMENTS render, all of them if there are none: images and models.

    Builds write the digests and commits of the lock into the tree. They never use the network; `lock --update` is the
    only command that does. Exit status 3: the lock file lacks something, or has something that nothing refers to.
    Exit status 1: the project has errors, or a digest or commit could not be had; the lock file is as it was.

    \b
      kservec lock
      kservec lock --update
    """  # noqa: D301
    ctx = click.get_current_context()
    selection = selected(environments)
    if selection is None:
        raise click.UsageError("this needs a project file (kservec.yaml) and names of its environments", ctx)
    if (only_missing or facts) and not update:
        raise click.UsageError(f"{'--only-missing' if only_missing else '--facts'} goes with --update", ctx)
    if selection.workspace is None:
        findings.show(selection.diagnostics, selection.sources, outcome="nothing was written", alone=not update)
        return FAILED
    bare = evolve(selection, workspace=selection.workspace._replace(lock=None))
    renderings = rendered(bare, Limits())
    if any(has_faults(rendering) for rendering in renderings):
        found, sources = all_findings(selection, renderings), all_sources(selection, renderings)
        findings.show(found, sources, outcome="not locked", alone=not update)
        return FAILED
    task = Task(selection.workspace, references(renderings), len(renderings) == len(selection.workspace.environments))
    if update:
        return updated(task, findings, Wish(only_missing=only_missing, facts=facts))
    return checked(task, findings)


def has_faults(rendering: Rendering) -> bool:
    """Whether an environment does not compile. What its policy finds may be what a lock is wanted for."""
    return any(d.is_error and not d.code.slug.startswith("policy/") for d in rendering.diagnostics)


class Task(NamedTuple):
    """A project, and what is to be locked of it. `whole`: all of its environments are looked at."""

    workspace: Workspace
    wanted: References
    whole: bool

    @property
    def name(self) -> str:
        """What the lock file is called in messages."""
        return self.workspace.at(LOCK_FILE).as_posix()


def references(renderings: list[Rendering]) -> References:
    """What all environments refer to."""
    from kservec.api import plugs  # noqa: PLC0415 - not to be loaded for a help text
    from kservec.policy.coverage import references_of  # noqa: PLC0415 - as above

    return references_of((rendered for rendering in renderings for rendered in rendering.objects), plugs())


def checked(task: Task, findings: Findings) -> int:
    """Say what the lock file lacks, and what it has too much."""
    found = [*gaps(task)]
    count = plural(len(task.wanted.images), "image"), plural(len(task.wanted.models), "model")
    findings.show(found, {}, outcome="" if found else f"{task.name} covers {' and '.join(count)}", alone=True)
    return DIFFERENT if found else 0


def gaps(task: Task) -> Iterator[Diagnostic]:
    """Findings about the lock file."""
    from kservec.io.packaged import packaged_versions  # noqa: PLC0415 - not to be loaded for a help text
    from kservec.policy.coverage import coverage  # noqa: PLC0415 - as above
    from kservec.policy.images import LOCK_MISSING  # noqa: PLC0415 - as above
    from kservec.project.lock import LOCK_STALE, outdated  # noqa: PLC0415 - as above

    own = task.workspace.lock or Lock()
    covered, hint = coverage(task.wanted, own), "run kservec lock --update, and commit the file"
    for name, ref in covered.missing:
        message = f"{name} of {ref} is not in the lock file"
        yield Diagnostic(code=LOCK_MISSING, message=message, span=Span(task.name), help=hint)
    for name in covered.stale if task.whole else ():
        message = f"nothing refers to {name} any more"
        yield Diagnostic(code=LOCK_STALE, message=message, span=Span(task.name), help=hint)
    yield from outdated(own, packaged_versions(task.workspace.kserve), task.name)


class Wish(NamedTuple):
    """What is asked for: only what the lock file does not have, and facts about models too."""

    only_missing: bool
    facts: bool


def updated(task: Task, findings: Findings, wish: Wish) -> int:
    """Ask for every digest and commit, and write the lock file if all were given.

    Raises:
        click.ClickException: the file cannot be written.
    """
    from kservec.io.packaged import packaged_versions  # noqa: PLC0415 - not to be loaded for a help text

    old = task.workspace.lock or Lock()
    images = resolved(task.wanted.images, old.images if wish.only_missing else {}, digest_asker())
    models = resolved(task.wanted.models, old.models if wish.only_missing else {}, commit_asker())
    facts = described(models.found) if wish.facts and not models.failures else Resolved({}, ())
    failures = dict.fromkeys((*images.failures, *models.failures, *facts.failures))
    if failures:
        for failure in failures:
            complain(f"error: {failure}\n")
        complain("the lock file is as it was; this is the one command that needs the network\n")
        return FAILED
    kept = Lock() if task.whole else old
    new = Lock(
        images={**kept.images, **images.found},
        models={**kept.models, **models.found},
        versions=packaged_versions(task.workspace.kserve),
        facts=laid_over(old.facts, facts.found),
    )
    write_lock(task, new)
    changed = len(differing(old, new))
    count = f"{plural(len(new.images), 'image')}, {plural(len(new.models), 'model')}"
    findings.show((), {}, outcome=f"{task.name}: {count}; {changed or 'nothing'} changed")
    return 0


class Resolved(NamedTuple):
    """What names stand for, and why of some it could not be found."""

    found: Mapping[str, Json]
    failures: tuple[str, ...]


def laid_over(old: Mapping[str, Json], found: Mapping[str, Json]) -> dict[str, Json]:
    """Facts about models with those that were found; what somebody has added to them stays."""
    return {**old, **{uri: {**old.get(uri, {}), **facts} for uri, facts in found.items()}}


def described(commits: Mapping[str, str]) -> Resolved:
    """What hubs say about the memory of models, given their commits by their URIs; nothing of those that cannot be."""
    from kservec.api import plugs  # noqa: PLC0415 - not to be loaded for a help text
    from kservec.capacity.model_facts import kept, misfits  # noqa: PLC0415 - as above
    from kservec.io.remote.hub import Hubs  # noqa: PLC0415 - loads what speaks HTTP

    hubs, known = Hubs(), plugs()

    def facts_of(uri: str) -> Json:
        scheme = known.scheme(uri)
        assert scheme is not None
        name = scheme.revision_of(uri)[0].partition("://")[2]
        facts = kept(*hubs.described(scheme.hub, scheme.hub_config, name, commits[uri]))
        return {} if any(misfits(facts)) else facts

    made = resolved(commits, {}, facts_of)
    return Resolved({uri: facts for uri, facts in made.found.items() if facts}, made.failures)


def resolved(names: Mapping[str, object], known: Mapping[str, str], ask: Callable[[str], Json]) -> Resolved:
    """What names stand for. Whoever does not answer at all is asked once only."""
    from kservec.io.remote.requests import RemoteError  # noqa: PLC0415 - loads what speaks HTTP

    found: dict[str, Json] = {}
    failures: dict[str, None] = {}
    for name in names:
        try:
            found[name] = known[name] if name in known else ask(name)
        except RemoteError as error:
            failures[str(error)] = None
    return Resolved(found, tuple(failures))


def digest_asker() -> Callable[[str], str]:
    """What asks registries for digests."""
    from kservec.io.remote.registry import Registries  # noqa: PLC0415 - loads what speaks HTTP

    return Registries().digest


def commit_asker() -> Callable[[str], str]:
    """What asks hubs for commits."""
    from kservec.api import plugs  # noqa: PLC0415 - not to be loaded for a help text
    from kservec.io.remote.hub import Hubs  # noqa: PLC0415 - loads what speaks HTTP

    hubs, known = Hubs(), plugs()

    def ask(uri: str) -> str:
        scheme = known.scheme(uri)
        assert scheme is not None
        model, revision = scheme.revision_of(uri)
        return hubs.commit(scheme.hub, model.partition("://")[2], revision)

    return ask


def write_lock(task: Task, new: Lock) -> None:
    """Write the lock file.

    Raises:
        click.ClickException: it cannot be written.
    """
    from kservec.io.file_writer import replace_file  # noqa: PLC0415 - not needed to check
    from kservec.project.lock import lock_text  # noqa: PLC0415 - not needed to check

    try:
        replace_file(task.workspace.at(LOCK_FILE), lock_text(new).encode())
    except OSError as error:
        raise click.ClickException(f"cannot write {task.name}: {error.strerror}") from None


def differing(old: Lock, new: Lock) -> list[str]:
    """The entries of two locks that differ."""
    before, after = {**old.images, **old.models}, {**new.images, **new.models}
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))
