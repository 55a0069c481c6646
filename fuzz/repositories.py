"""The family of whole repositories with a kservec.yaml."""

from __future__ import annotations

import json
from random import Random

from fuzz.cases import as_input, plain
from fuzz.damaging import BYTE_DAMAGES, TEXT_DAMAGES
from fuzz.growing import grown_own
from fuzz.inputs import PROJECT, Input
from fuzz.mutating import TIMES, mutate
from fuzz.stock import Case, Stock
from fuzz.writing import encoded, written


def projects(chance: Random, stock: Stock) -> Input:
    """Repositories: their kservec.yaml with its policy and tools, their specs, platforms and included manifests."""
    case = chance.choice(stock.projects)
    if chance.random() < 0.4:
        project = project_text(case, chance, stock)
        return plain(case, {**case.files, PROJECT: project})
    values = case.values()
    mutate(list(values.values()), chance.choice(TIMES), chance, stock)
    made = as_input(case, values)
    if chance.random() < 0.3:
        return made.with_files({**made.files, PROJECT: project_text(case, chance, stock)})
    return made


def project_text(case: Case, chance: Random, stock: Stock) -> bytes:
    """A project file, changed as a value or as a text, or with sections that are grown."""
    text = case.files[PROJECT]
    way = chance.random()
    if way < 0.15:
        return chance.choice(BYTE_DAMAGES)(text, chance)
    if way < 0.3:
        return encoded(chance.choice(TEXT_DAMAGES)(text.decode(), chance))
    value = json.loads(chance.choice(case.documents.get(PROJECT) or ("{}",)))
    if way < 0.65:
        more = grown_own("project", chance, stock)
        value |= {key: more[key] for key in more if key not in ("sources", "environments", "apiVersion", "kind")}
    else:
        mutate([value], chance.choice(TIMES), chance, stock)
    return encoded(written([value]))
