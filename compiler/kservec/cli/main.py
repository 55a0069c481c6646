"""The group of commands. A command's module is imported when the command is run."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from typing import TYPE_CHECKING

import click

from kservec._version import KSERVE_PROFILE, __version__
from kservec.cli.status import INTERRUPTED, USAGE
from kservec.cli.streams import ReaderGoneError, StoppedError, complain, discard_rest, finish, is_held_back
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.cli.writing import Begun

COMMANDS = {
    "init": "Lay down a repository that builds.",
    "build": "Compile and write plain Kubernetes YAML.",
    "check": "Say whether the rendered tree is what a build would write.",
    "diff": "Show what changes against a commit, and which pods restart.",
    "affected": "List the environments and services that changed files concern.",
    "lint": "Report what is wrong, and write nothing.",
    "watch": "Render an environment again whenever its files change.",
    "explain": "Say where a value comes from, and why a service got its runtime.",
    "capacity": "Say whether workloads fit onto the nodes, and models into GPUs.",
    "report": "Write a static site that shows an environment.",
    "urls": "List where services are reached, and how they are asked.",
    "canary": "Roll a new version out, step by step.",
    "promote": "Let an environment serve what another one serves.",
    "import": "Turn a cluster that runs KServe into a project.",
    "lock": "Check or update the digests of images and revisions of models.",
    "graph": "Draw the way of requests, or the steps of InferenceGraphs, as Mermaid, DOT or SVG.",
    "runtimes": "List the catalog in the order in which runtimes are chosen.",
    "schema": "Print the JSON Schema of a kind.",
    "completion": "Print the completion script of a shell.",
}
MODULES = {"import": "import_dump"}
"""Commands that are called otherwise than their modules and functions."""
NO_PLUGINS = ("PYDANTIC_DISABLE_PLUGINS", "__all__")
"""Makes pydantic look for no plugins: it would read the metadata of every package that is installed."""
AFTER_INTERRUPT = ("git status shows whether something was written", "nothing was written")
WRITERS = frozenset({"canary", "import", "init", "lock", "promote"})
"""Commands that write several files, one after the other."""
FOLDER_GONE = "the current folder was deleted; change to one that is there"
OF_THE_SYSTEM = frozenset({
    errno.EIO, errno.EAGAIN, errno.ENXIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EDQUOT, errno.EFBIG,
})  # fmt: skip
"""Errors that name no file and are no bug: a terminal or disk that is gone, and what a system has no more of."""
LONGEST = 600
PATIENT_STREAM = "PacifyFlushWrapper"
"""What click puts in the place of a stream that nobody reads any more."""


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports them one by one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of their use."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of a name, or None."""
        del ctx
        if cmd_name not in COMMANDS:
            return None
        name = MODULES.get(cmd_name, cmd_name)
        command: click.Command = getattr(importlib.import_module(f"kservec.cli.{name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the arguments name.

        Raises:
            click.UsageError: there is no such command; the nearest name is suggested.
        """
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            near = closest(args[0], COMMANDS)
            raise click.UsageError(f"there is no command {args[0]}" + (f"; did you mean {near}?" if near else ""), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "--version", "-V", message=f"kservec %(version)s (KServe {KSERVE_PROFILE})")
@click.option("--debug", is_flag=True, help="Show the whole traceback of a bug in kservec; it may quote your files.")
def cli(debug: bool) -> None:
    """Compile KServe's InferenceServices to plain Kubernetes YAML, ahead of time.

    Exit status: 0 fine, 1 errors in the input, 2 wrong usage, 3 a difference was found, 70 a bug in kservec.
    """
    del debug  # read by the report of a bug, from the arguments


def run(arguments: list[str]) -> int:
    """Run the command line; wrong usage is 2, an interrupt 130. A reader that goes away early is no error."""
    os.environ.setdefault(*NO_PLUGINS)
    begun: list[Begun] = []
    try:
        status = cli.main(args=arguments, prog_name="kservec", standalone_mode=False, obj=begun)
    except ReaderGoneError:
        return 0
    except click.exceptions.NoArgsIsHelpError as error:
        complain(f"{error.format_message()}\n")
        return USAGE
    except click.ClickException as error:
        refuse(arguments, *(sentence(error) if has_folder() else (FOLDER_GONE, "")))
        return USAGE
    except (click.Abort, KeyboardInterrupt):
        written = ", ".join(dict.fromkeys(str(each.place) for each in begun if each.is_written))
        rest = f"written whole: {written}" if written else AFTER_INTERRUPT[WRITERS.isdisjoint(arguments)]
        complain(f"interrupted; {rest}\n")
        return INTERRUPTED
    except StoppedError as stop:
        if str(stop):
            refuse(arguments, str(stop), lines=stop.lines)
            return USAGE
        complain("\n".join(("interrupted", *stop.lines, "")))
        return INTERRUPTED
    except SystemExit as stop:
        return ended(stop)
    except OSError as error:
        if is_held_back(error) and finished():  # a help, which click writes itself, to a terminal that is slow
            return 0
        refuse(arguments, of_the_world(error))
        return USAGE
    finally:
        discard_rest()
    return status if isinstance(status, int) else 0


def of_the_world(error: OSError) -> str:
    """What is wrong outside of kservec, in a sentence.

    Raises:
        OSError: this one, for which no file, disk or folder is to blame.
    """
    if error.errno == errno.ENOSPC:
        return "cannot write: no space left"
    if error.filename is None and error.errno in OF_THE_SYSTEM:
        return f"the system refuses to read, write or start something: {error.strerror}"
    if not has_folder():
        return FOLDER_GONE
    if error.filename is None or error.strerror is None:
        raise error
    return f"cannot read or write {os.fsdecode(error.filename)}: {error.strerror}"


def finished() -> bool:
    """Whether what was written to standard output has got there."""
    try:
        finish(sys.stdout)
    except OSError:
        return False
    return True


def has_folder() -> bool:
    """Whether the current folder is still there."""
    try:
        os.getcwd()
    except OSError:
        return False
    return True


def ended(stop: SystemExit) -> int:
    """The exit status where click ends the program: 0 where the reader of a help went away, which click calls 1."""
    if type(sys.stdout).__name__.endswith(PATIENT_STREAM):
        return 0
    return stop.code if isinstance(stop.code, int) else 0


def shortened(text: str) -> str:
    """A text that fits onto a screen."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}...{text[-LONGEST // 2 :]}"


def refuse(arguments: list[str], message: str, remedy: str = "", lines: Sequence[str] = ()) -> None:
    """Tell why something was not done, and what was of it line by line, in the form that the arguments ask for."""
    from kservec.cli.refusals import refuse as told  # noqa: PLC0415 - most runs have nothing of the kind to tell

    name = next((argument for argument in arguments if argument in COMMANDS), "")
    told(message, (remedy, *lines), (cli.get_command(click.Context(cli), name) if name else None, arguments))


def sentence(error: click.ClickException) -> tuple[str, str]:
    """What is wrong, and where to read how it is done."""
    message = shortened(" ".join(error.format_message().split()).rstrip("."))
    ctx = error.ctx if isinstance(error, click.UsageError) else None
    return message, f"see {ctx.command_path} --help" if ctx is not None else ""
