"""Mutants in place of the functions that they come from, in this process."""

from __future__ import annotations

import functools
import importlib
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mutants import ROOMS, Mutant, marked, module_name, modules, mutated

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FunctionType

CACHING = (*(f"kservec.{room}" for room in ROOMS), "kservec.api")
"""Modules that keep what changed functions made: their own, and the one that keeps the built-in documents."""
MARK = "__called__"
"""What the modules of watched functions call a set's `add`."""


def watch(found: set[str]) -> None:
    """From now on, note in *found* every function that is called, as `module:function`."""
    for path in modules():
        module = module_name(path)
        setattr(importlib.import_module(module), MARK, found.add)
        for name, code in marked(path, MARK).items():
            function_of(module, name).__code__ = code
    forget()


@contextmanager
def applied(mutant: Mutant) -> Iterator[None]:
    """Have everybody run a mutant: whoever holds the function holds the same object, with other code in it."""
    function = function_of(mutant.module, mutant.function)
    before = function.__code__
    function.__code__ = mutated(mutant)
    forget()
    try:
        yield
    finally:
        function.__code__ = before
        forget()


def function_of(module: str, name: str) -> FunctionType:
    """A function of a module by its name there, below what decorates it."""
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = vars(found)[part]
    if isinstance(found, property | functools.cached_property):
        found = found.fget if isinstance(found, property) else found.func
    found = getattr(found, "__func__", found)
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    function: FunctionType = found
    return function


def forget() -> None:
    """Empty the caches of what changed functions made."""
    for name in [name for name in sys.modules if name.startswith(CACHING)]:
        for value in vars(sys.modules[name]).values():
            if hasattr(value, "cache_clear"):
                value.cache_clear()
