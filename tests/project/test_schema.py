"""The JSON Schema of the project file, as editors use it."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
from tests import libyaml

from kservec.cli.schema import own_schema

GOLDEN = Path(__file__).parents[2] / "golden"
PROJECTS = sorted(GOLDEN.glob("*/input/kservec.yaml"))
FAULTY = {"err-project-additions", "err-project-field", "err-project-none", "err-project-policy", "err-project-texts"}
"""Golden projects whose fault is in the structure of the file."""


@pytest.mark.parametrize("path", PROJECTS, ids=lambda path: path.parts[-3])
def test_the_schema_takes_what_is_taken(path: Path) -> None:
    """An editor finds fault with a project exactly where the structure of its file is refused."""
    schema = own_schema("project")
    assert schema is not None
    validator = jsonschema.Draft202012Validator(schema)
    assert validator.is_valid(libyaml.load(path.read_text())) == (path.parts[-3] not in FAULTY)


@pytest.mark.parametrize("name", ["Project", "project", "cluster", "kservec.dev/v1alpha1/Cluster"])
def test_own_kinds_have_a_schema(name: str) -> None:
    """Whichever way they are spelt; the schema says what each part is for."""
    schema = own_schema(name)
    assert schema is not None
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["description"]
