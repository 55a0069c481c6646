"""Why a command did not do its work: wrong usage, and what cannot be read or written, in the form that was asked for.

Whatever reads the report of a command that fails meets one document, as it does where the input has errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.cli.findings import FORMATS, TEXT, machine_readable
from kservec.cli.streams import ReaderGoneError, complain, write
from kservec.core.diagnostics import Code, Diagnostic, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

REFUSED = Code(
    "command/refused",
    Severity.ERROR,
    "a command that did not do what it was asked for",
    "Wrong usage, such as a name that nothing has, or something that cannot be read or written. The exit status is 2, "
    "and the report has nothing but this. As text it is one line on standard error, which has no code.",
)
OPTION, END = "--format", "--"
ELSEWHERE = {"build": "", "lock": "--update"}
"""Commands whose standard output is for something else, where they are given the option."""


def refuse(message: str, more: Sequence[str], asked: tuple[click.Command | None, Sequence[str]]) -> None:
    """Write why a command did not do its work, to standard error unless the arguments ask for a form for programs.

    Args:
        message: what is wrong.
        more: what to do about it, which may be empty, and what was done of the work, line by line.
        asked: the command, if it is known, and all arguments.
    """
    remedy, *lines = more
    command, arguments = asked
    layout = asked_layout(command, arguments)
    if command is not None and layout != TEXT:
        found = Diagnostic(code=REFUSED, message=message, span=None, help="; ".join(filter(None, more)))
        text = machine_readable(layout, (found,), {})
        option = ELSEWHERE.get(command.name or "")
        try:
            write(text, err=option is not None and (not option or option in arguments))
        except ReaderGoneError:
            return
        except click.ClickException:  # nothing can be written there, which a line of text still can tell
            pass
        else:
            return
    complain("\n".join((f"error: {message}{f' ({remedy})' if remedy else ''}", *lines, "")))


def asked_layout(command: click.Command | None, arguments: Sequence[str]) -> str:
    """The form for programs that the arguments ask a command for, the last one counts; text where it has no such form.

    The arguments may be such that the command cannot read them.
    """
    given = list(arguments[: arguments.index(END)] if END in arguments else arguments)
    pairs = [argument.partition("=") for argument in given]
    values = [
        value if sign else after
        for (name, sign, value), after in zip(pairs, [*given[1:], ""], strict=True)
        if name == OPTION
    ]
    options = [option for option in (command.params if command is not None else ()) if OPTION in option.opts]
    choices = {choice for option in options for choice in getattr(option.type, "choices", ())}
    layout = values[-1] if values else TEXT
    return layout if layout in choices and layout in FORMATS else TEXT
