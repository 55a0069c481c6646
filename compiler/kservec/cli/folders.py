"""Folders that commands write into, as options and arguments name them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from click import Context, Parameter

DASH = "-"


class Folder(click.Path):
    """A folder to write into. A dash is none: to many tools it means standard output."""

    def convert(self, value: Any, param: Parameter | None, ctx: Context | None) -> Any:
        """The folder.

        Raises:
            click.BadParameter: it is a dash, or a file.
        """
        if os.fspath(value) == DASH:
            streams = ctx is not None and any(option.name == "to_stdout" for option in ctx.command.params)
            hint = "for standard output there is --stdout" if streams else "standard output takes no folder"
            self.fail(f"- is no folder: {hint}", param, ctx)
        return super().convert(value, param, ctx)
