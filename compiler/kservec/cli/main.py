"""The group of commands. A command's module is imported when the command is run."""

from __future__ import annotations

import importlib
import sys

import click

from kservec._version import KSERVE_PROFILE, __version__

COMMANDS = {
    "build": "Compile and write plain Kubernetes YAML.",
    "lint": "Report what is wrong, and write nothing.",
    "runtimes": "List the catalog in the order in which runtimes are chosen.",
    "schema": "Print the JSON Schema of a kind.",
    "completion": "Print the completion script of a shell.",
}
USAGE = 2


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
        command: click.Command = getattr(importlib.import_module(f"kservec.cli.{cmd_name}"), cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message=f"kservec %(version)s (KServe {KSERVE_PROFILE})")
def cli() -> None:
    """Compile KServe's InferenceServices to plain Kubernetes YAML, ahead of time.

    Exit status: 0 fine, 1 errors in the input, 2 wrong usage, 3 a difference was found, 70 a bug in kservec.
    """


def run(arguments: list[str]) -> int:
    """Run the command line; wrong usage is 2, an interrupt 130."""
    try:
        status = cli.main(args=arguments, prog_name="kservec", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    return status if isinstance(status, int) else 0
