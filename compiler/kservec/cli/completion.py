"""kservec completion: print the script that teaches a shell to complete kservec's commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> int:
    """Print the completion script of SHELL.

    \b
      bash   eval "$(kservec completion bash)"
      zsh    eval "$(kservec completion zsh)"
      fish   kservec completion fish | source
    """  # noqa: D301
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    root = ctx.find_root()
    click.echo(kind(root.command, {}, "kservec", "_KSERVEC_COMPLETE").source())
    return 0
