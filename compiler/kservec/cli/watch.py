"""kservec watch: an environment is rendered again whenever its files change, with what is new and what was fixed."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import os
import signal
import time
from functools import partial
from typing import TYPE_CHECKING, NoReturn

import click

from kservec.cli.environments import today_option
from kservec.cli.findings import TEXT, Findings
from kservec.cli.looks import Look, again, first, is_outdated, waited
from kservec.cli.report import NEEDED, NO_TEMPLATES
from kservec.cli.selection import environment_names
from kservec.cli.streams import complain
from kservec.io.page_server import PageServer
from kservec.recall import Memory
from kservec.report.news import fixed_lines, news_of
from kservec.report.words import plural, printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from types import FrameType

    from click.shell_completion import CompletionItem

    from kservec.core.diagnostics import ObjectRef
    from kservec.report.news import News

MOST_NAMED, MOST_OBJECTS = 3, 10
PAGES_BETWEEN_LOOKS = 50
"""How many pages of a report are made before it is seen whether they are still of use."""
STALE = "this is the one before."
UNUSABLE = f"The project cannot be used; {STALE}"


def completions(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The environments that a shell may offer."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only shells ask

    del ctx, parameter
    return [CompletionItem(name) for name in environment_names() if name.startswith(incomplete)]


@click.command()
@click.argument("environment", metavar="ENV", shell_complete=completions)
@today_option
@click.option(
    "--report/--no-report", "with_report", default=True, show_default=True, help="Serve the report of the environment."
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    metavar="PORT",
    help="Where it is served, on 127.0.0.1. Default: any port that is free.",
)
@click.option("--notes/--no-notes", default=False, show_default=True, help="Show notes, too.")  # fmt: skip
def watch(*, environment: str, with_report: bool, port: int, notes: bool) -> int:
    """Render the environment ENV again whenever one of its files changes, and its report, until Ctrl-C.

    Shown are the findings that are new, a line about each that is fixed, and which objects have changed. The files are
    all that the environment is made of: sources, platform, overlay, patches, plain manifests, kservec.yaml, the lock.
    Nothing is written. The report is at an address of this machine alone, and browsers load it again by themselves.

    \b
      kservec watch dev
      kservec watch prod --port 8080
    """  # noqa: D301
    signal.signal(signal.SIGTERM, interrupt)
    findings = Findings(layout=TEXT, notes=notes)
    with contextlib.suppress(KeyboardInterrupt):
        memory = Memory()
        is_wanted = with_report and can_report()
        look = first(environment, memory)
        with serving(port, is_wanted=is_wanted) as server:
            keep_looking(partial(again, environment, memory=memory), look, findings, server)
    complain("stopped\n")
    return 0


def keep_looking(again: Callable[[Look], Look], look: Look, findings: Findings, server: PageServer | None) -> NoReturn:
    """Show a first look and all that follow, and serve their reports, for ever."""
    news, good = news_of((), look.found, look.view), look
    show(findings, look, news, Look())
    while True:
        publish(server, look)
        paths = waited(look)
        complain(f"\n{printable(named(paths))} changed\n")
        look = again(look)
        news = news_of(news.told, look.found, look.view)
        show(findings, look, news, good)
        good = look if look.ok else good


def interrupt(number: int, frame: FrameType | None) -> None:
    """End as after Ctrl-C."""
    del number, frame
    raise KeyboardInterrupt


def can_report() -> bool:
    """Whether a report can be made; if not, it is said why."""
    if importlib.util.find_spec(NEEDED) is not None:
        # CPython ends with the status of a signal if Ctrl-C comes while a module makes named tuples, though it is met.
        # So modules are loaded before anything is shown.
        importlib.import_module("kservec.reporting")
        return True
    complain(f"{NO_TEMPLATES}; findings are shown without it\n")
    return False


@contextlib.contextmanager
def serving(port: int, *, is_wanted: bool) -> Iterator[PageServer | None]:
    """A server of pages, if one is wanted.

    Raises:
        click.UsageError: the port is not to be had.
    """
    if not is_wanted:
        yield None
        return
    try:
        server = PageServer(port)
    except OSError as error:
        raise click.UsageError(f"--port {port}: {error.strerror}", click.get_current_context()) from None
    with server:
        complain(f"the report is at {server.url}\n")
        yield server


def publish(server: PageServer | None, look: Look) -> None:
    """Serve the report of a look, or say what is wrong beside the one before."""
    if server is None:
        return
    if not look.ok:
        errors = sum(1 for finding in look.found if finding.is_error)
        server.complain(f"The last build has {plural(errors, 'error')}; {STALE}" if errors else UNUSABLE)
        return
    start = time.monotonic()
    pages = report_of(look)
    if pages is not None:
        server.publish(pages)
        complain(f"report: {plural(len(pages), 'page')}, {time.monotonic() - start:.1f} s\n")


def report_of(look: Look) -> dict[str, bytes] | None:
    """The pages of the report of a look without errors; None if files change while they are made."""
    from kservec.reporting import Witnessed, report_pages  # noqa: PLC0415 - only with Jinja2

    assert look.workspace is not None
    assert look.rendering is not None
    pages: dict[str, bytes] = {}
    for page in report_pages(look.workspace, Witnessed(look.rendering, look.units), look.found):
        pages[page.path] = page.content
        if len(pages) % PAGES_BETWEEN_LOOKS == 0 and is_outdated(look):
            return None
    return pages


def named(paths: Sequence[str]) -> str:
    """The first of some paths, and how many more there are."""
    shown = [os.path.relpath(path) for path in paths[:MOST_NAMED]]
    rest = len(paths) - len(shown)
    return ", ".join(shown) + (f" and {rest:,} more" if rest else "")


def show(findings: Findings, look: Look, news: News, good: Look) -> None:
    """Show what is new and what was fixed since the look before, and which objects changed since the last good one."""
    complain(fixed_lines(news.fixed))
    still = f"{plural(len(news.known), 'finding')} as before" if news.known else ""
    hidden = f"{plural(len(news.hidden), 'finding')} not looked for again" if news.hidden else ""
    findings.show(news.new, look.sources, outcome="; ".join(filter(None, (still, hidden, *outcome(look, good)))))


def outcome(look: Look, good: Look) -> Iterator[str]:
    """What came of a look."""
    if look.rendering is None:
        yield "nothing could be rendered"
        return
    compiled = f"{plural(look.again, 'service')} compiled, " if look.again else ""
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
