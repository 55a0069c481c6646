"""Families of inputs: how each of them is made by chance out of the stock, and how large its share is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TypeAlias

from fuzz.changed import (
    as_bytes,
    large,
    mutated,
    published,
    quantities,
    scalars,
    spliced,
    templates,
    uris,
    yaml_text,
)
from fuzz.described import grown_objects, platform
from fuzz.graphs import graphs, router
from fuzz.inputs import Input, chance_of
from fuzz.repositories import projects
from fuzz.stock import Stock

Family: TypeAlias = Callable[[Random, Stock], Input]

FAMILIES: dict[str, tuple[int, Family]] = {
    "grown": (120, grown_objects),
    "mutated": (160, mutated),
    "published": (100, published),
    "scalars": (80, scalars),
    "spliced": (50, spliced),
    "yaml": (120, yaml_text),
    "bytes": (120, as_bytes),
    "templates": (50, templates),
    "uris": (50, uris),
    "quantities": (50, quantities),
    "platform": (50, platform),
    "graphs": (50, graphs),
    "router": (70, router),
    "projects": (30, projects),
    "large": (3, large),
}
"""Every family with its share of the inputs."""
_NAMES = tuple(FAMILIES)
_SHARES = tuple(share for share, _ in FAMILIES.values())


def make(seed: int, number: int, stock: Stock, family: str = "") -> Input:
    """The input of a number. It is of one family where a family is named."""
    chance = chance_of(seed, number)
    (drawn,) = chance.choices(_NAMES, _SHARES)
    return made_by(family or drawn, chance, stock)


def made_by(family: str, chance: Random, stock: Stock) -> Input:
    """An input of a family."""
    return replace(FAMILIES[family][1](chance, stock), family=family)
