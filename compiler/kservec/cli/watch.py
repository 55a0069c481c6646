"""kservec watch: an environment is rendered again whenever its files change, with what is new and what was fixed."""

from __future__ import annotations

import contextlib
import os
import signal
from typing import TYPE_CHECKING

import click

from kservec.cli.environments import environment_names, today_option
from kservec.cli.findings import TEXT, Findings
from kservec.cli.looks import Look, again, first, waited
from kservec.cli.streams import complain
from kservec.report.news import fixed_lines, news_of
from kservec.report.words import plural, printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from types import FrameType

    from click.shell_completion import CompletionItem

    from kservec.core.diagnostics import ObjectRef
    from kservec.report.news import News

MOST_NAMED, MOST_OBJECTS = 3, 10


def completions(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The environments that a shell may offer."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only shells ask

    del ctx, parameter
    return [CompletionItem(name) for name in environment_names() if name.startswith(incomplete)]


@click.command()
@click.argument("environment", metavar="ENV", shell_complete=completions)
@today_option
@click.option("--notes/--no-notes", default=False, show_default=True, help="Show notes, too.")
def watch(*, environment: str, notes: bool) -> int:
    """Render the environment ENV again whenever one of its files changes, until Ctrl-C. Nothing is written.

    Shown are the findings that are new, a line about each that is fixed, and which objects have changed. The files are
    all that the environment is made of: sources, platform, overlay, patches, plain manifests, kservec.yaml, the lock.

    \b
      kservec watch dev
    """  # noqa: D301
    signal.signal(signal.SIGTERM, interrupt)
    findings = Findings(layout=TEXT, notes=notes)
    with contextlib.suppress(KeyboardInterrupt):
        look = first(environment)
        news, good = news_of((), look.found), look
        show(findings, look, news, Look())
        while True:
            paths = waited(look)
            complain(f"\n{printable(named(paths))} changed\n")
            look = again(environment, look)
            news = news_of(news.told, look.found)
            show(findings, look, news, good)
            good = look if look.ok else good
    complain("stopped\n")
    return 0


def interrupt(number: int, frame: FrameType | None) -> None:
    """End as after Ctrl-C."""
    del number, frame
    raise KeyboardInterrupt


def named(paths: Sequence[str]) -> str:
    """The first of some paths, and how many more there are."""
    shown = [os.path.relpath(path) for path in paths[:MOST_NAMED]]
    rest = len(paths) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")


def show(findings: Findings, look: Look, news: News, good: Look) -> None:
    """Show what is new and what was fixed since the look before, and which objects changed since the last good one."""
    complain(fixed_lines(news.fixed))
    still = f"{plural(len(news.known), 'finding')} as before" if news.known else ""
    findings.show(news.new, look.sources, outcome="; ".join(filter(None, (still, *outcome(look, good)))))


def outcome(look: Look, good: Look) -> Iterator[str]:
    """What came of a look."""
    if look.rendering is None:
        yield "nothing could be rendered"
        return
    compiled = f"{plural(look.again, 'InferenceService')} compiled, " if look.again else ""
    took = f"{compiled}{look.seconds:.1f} s"
    if not look.ok:
        yield from ("nothing to write", took)
        return
    yield f"no errors: {plural(len(look.objects), 'object')}"
    yield took
    yield told_changes(good.objects, look.objects) if good.objects else f"{plural(len(look.seen), 'file')} watched"


def told_changes(old: Mapping[ObjectRef, str], new: Mapping[ObjectRef, str]) -> str:
    """Which objects are new, changed or gone."""
    touched = sorted(ref for ref in old.keys() | new.keys() if old.get(ref) != new.get(ref))
    if not touched:
        return "none changed"
    verbs = {(True, False): "new", (True, True): "changed", (False, True): "gone"}
    lines = (f"\n  {verbs[ref in new, ref in old]}: {ref}" for ref in touched[:MOST_OBJECTS])
    rest = len(touched) - MOST_OBJECTS
    whole = f"{plural(len(touched), 'object')} not as before"
    return whole + "".join(lines) + (f"\n  and {rest:,} more" if rest > 0 else "")
