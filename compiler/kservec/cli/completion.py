"""kservec completion: print the script that teaches a shell to complete kservec's commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from kservec.cli.streams import write

PROGRAM = "kservec"
VARIABLE = "_KSERVEC_COMPLETE"
"""The environment variable by which the script asks; click derives it from the name of the program."""


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(*, shell: str) -> int:
    """Print the completion script of SHELL.

    \b
      bash   eval "$(kservec completion bash)"
      zsh    eval "$(kservec completion zsh)"
      fish   kservec completion fish | source
    """  # noqa: D301
    script = get_completion_class(shell)
    assert script is not None
    root = click.get_current_context().find_root()
    write(script(root.command, {}, PROGRAM, VARIABLE).source())
    return 0
