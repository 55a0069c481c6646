"""Families of inputs: how each of them is made by chance out of the stock, and how large its share is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TypeAlias

from fuzz.changed import (
    as_bytes,
    dumps,
    enriched_case,
    large,
    mutated,
    published,
    quantities,
    recombined,
    scalars,
    spliced,
    templates,
    updates,
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
    "grown": (50, grown_objects),
    "enriched": (80, enriched_case),
    "mutated": (110, mutated),
    "recombined": (100, recombined),
    "published": (70, published),
    "scalars": (70, scalars),
    "spliced": (30, spliced),
    "yaml": (140, yaml_text),
    "bytes": (160, as_bytes),
    "templates": (40, templates),
    "uris": (40, uris),
    "quantities": (40, quantities),
    "platform": (40, platform),
    "graphs": (40, graphs),
    "router": (100, router),
    "projects": (25, projects),
    "dumps": (10, dumps),
    "updates": (15, updates),
    "large": (2, large),
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
