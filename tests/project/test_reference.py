"""What the schema of the project file says: every field with a description, and the defaults that really hold."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kservec.io.packaged import packaged_own_schema
from kservec.project.reference import Option, options_of
from kservec.scaffold.options import flow, option_lines

SCHEMA: dict[str, Any] = json.loads(packaged_own_schema("project"))
OPTIONS = options_of(SCHEMA)


def all_options(options: tuple[Option, ...] = OPTIONS) -> list[Option]:
    """Every field, those in others too."""
    return [o for option in options for o in (option, *all_options((*option.inner, *option.values)))]


@pytest.mark.parametrize("name", ["project", "cluster"])
def test_every_field_is_described(name: str) -> None:
    """By a sentence: the schema, the docs and the file that `kservec init` writes show it."""
    options = all_options(options_of(json.loads(packaged_own_schema(name))))
    assert [".".join(o.path) for o in options if not o.description.endswith(".")] == []


def test_the_kinds_of_fields() -> None:
    """As people call them."""
    kinds = {".".join(o.path): o.kind for o in all_options()}
    assert kinds["sources"] == "a list of texts"
    assert kinds["layout"] == "`tree` or `single`"
    assert kinds["images.rewrite"] == "a mapping of texts"
    assert kinds["environments"] == "a mapping of mappings"
    assert kinds["environments.*.gitops.repoURL"] == "text"


def test_examples_and_defaults_fit_the_schema() -> None:
    """What the docs show can be written."""
    import jsonschema  # noqa: PLC0415 - a reference for tests alone

    types = SCHEMA["$defs"]
    for part in (SCHEMA, *types.values()):
        for field in part.get("properties", {}).values():
            for value in (*field.get("examples", ()), *([field["default"]] if "default" in field else ())):
                jsonschema.Draft202012Validator({**field, "$defs": types}).validate(value)


def test_options_are_written_with_what_they_mean() -> None:
    """What is set stands as it is, all else is commented out at its default."""
    gitops = next(o for o in OPTIONS if o.name == "gitops")
    lines = list(option_lines([gitops], {"gitops": {"tool": "flux"}}))
    assert lines[:4] == [
        "# Objects for Argo CD or Flux.",
        "gitops:",
        "  # For which tool objects are rendered.",
        "  tool: flux",
    ]
    assert "#  shard: namespace" in lines


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain/path-1", "plain/path-1"), ("yes", '"yes"'), ("0.21", '"0.21"'), ("a: b", '"a: b"'), ("", '""'),
        (None, "null"), (True, "true"), (["a", 1], "[a, 1]"), ({"a": {"b": "c d"}}, '{a: {b: "c d"}}'),
        ("{env}", '"{env}"'),
    ],
)  # fmt: skip
def test_values_on_one_line(value: object, text: str) -> None:
    """Texts are quoted where YAML would read something else."""
    assert flow(value) == text
