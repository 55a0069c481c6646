"""What is wrong with a Go template. Must not know how templates are read or executed: many runs have none."""

from __future__ import annotations

from enum import Enum

from kservec.core.tree import Path


class Reach(Enum):
    """What an error of one text may need of others, where a template goes over several."""

    WITHIN = 1
    ONWARD = 2
    BACK = 3


class TemplateError(Exception):
    """A template that cannot be read or executed.

    Attributes:
        message: what is wrong, for a person.
        offset: where in the template, in code points from 0.
        where: the path of the string that holds the template, where it was taken out of a larger value.
        unsupported: Go could do it, and this compiler does not.
        reach: `ONWARD`: a block does not end, which it may behind the text; `BACK`: the block or variable that is
            missing may stand before the text.
    """

    def __init__(
        self,
        message: str,
        offset: int = 0,
        where: Path = (),
        *,
        unsupported: bool = False,
        reach: Reach = Reach.WITHIN,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset
        self.where = where
        self.unsupported = unsupported
        self.reach = reach
