"""The texts of a graph: the compiler refuses what the router refuses, and the two read the same fields."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import libyaml

from kservec.spec import graph, inferencegraph
from kservec.spec.graph_texts import condition_problem, input_problem, url_problem
from kservec_router.gjson.paths import Query, array_part, selectors
from kservec_router.targets import parse_target

VECTORS = libyaml.load((Path(__file__).parents[1] / "router" / "gjson.yaml").read_text())


def paths(value: object) -> list[str]:
    """Every text in a value: more than its paths, which does no harm."""
    if isinstance(value, dict):
        return [p for part in value.values() for p in paths(part)]
    if isinstance(value, list):
        return [p for part in value for p in paths(part)]
    return [value] if isinstance(value, str) else []


PATHS = set(paths(VECTORS))
OPEN_QUERY, OPEN_BRACKETS = "a query `#(...)` is not closed", "its brackets are not closed"
JSONPATH = "it looks like JSONPath; conditions are GJSON paths, such as `[@this].#(userId==1)`"
PIECES = ["a", "b.c", "#", "(", ")", "[", "]", "{", "}", '"', "\\", "|", "@this", ":", ",", "==", " ", ".", "$", "#("]


@pytest.mark.parametrize("path", sorted(PATHS))
def test_conditions_of_the_vectors(path: str) -> None:
    """Recorded paths are read as the router reads them: brackets that it finds closed are closed."""
    assert_read_alike(path)


@settings(max_examples=400)
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_any_condition(text: str) -> None:
    """So is anything else."""
    assert_read_alike(text)
    assert_read_alike(f"[{text}")
    if "#(" not in text and "#[" not in text:
        closes = array_part(f"#(a{text}".encode()).query != Query()
        assert (condition_problem(f"#(a{text}") != OPEN_QUERY) == closes


def assert_read_alike(text: str) -> None:
    """Hold the brackets that a text begins with against the router's reading of them."""
    problem = condition_problem(text)
    if text[:1] in ("[", "{") and problem != OPEN_QUERY and not text.lstrip().startswith("$"):
        chosen, _ = selectors(text.encode())
        assert (problem == OPEN_BRACKETS) == (chosen is None)
        assert chosen is None or (problem == JSONPATH) == any(s.path.lstrip()[:1] == b"." for s in chosen)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("instances", None),
        ('[@this].#(tier=="gold")', None),
        ("predictions.#(score>0.5)#", None),
        (r"a.\#(b", None),
        ('#(a=="(")', None),
        ("{a,b}.a", None),
        (" $.a", "it looks like JSONPath; conditions are GJSON paths, which have no `$`"),
        ("{ .a == 'b' }", JSONPATH),
        ("{x:.a}", JSONPATH),
        ("[a,b", OPEN_BRACKETS),
        ('[a,"]', OPEN_BRACKETS),
        ("a.#(b", OPEN_QUERY),
        ("a.#(b}", OPEN_QUERY),
        ("a.#(b]", None),
        ("a|#[b==(1]", OPEN_QUERY),
        ("a" * 4097, "it is too long"),
        ("@this|" * 26, "it is too long"),
    ],
)
def test_conditions(text: str, problem: str | None) -> None:
    """What cannot have been meant as a path is told; everything else is one."""
    assert condition_problem(text) == problem


@given(
    st.one_of(
        st.lists(st.sampled_from(["http", "https", "://", "a", ".b", ":80", ":x", "@", "[", "]", "/", "?", " ", "é"]))
        .map("".join)
        .map(str),
        st.text(max_size=12),
    )
)
def test_any_url(url: str) -> None:
    """A URL that is not refused can be called by the router."""
    try:
        parse_target(url)
    except (ValueError, UnicodeError):
        assert url_problem(url) is not None
    else:
        assert url_problem(url) is None


@pytest.mark.parametrize(
    ("text", "is_known"),
    [
        ("", True),
        ("$request", True),
        ("$response", True),
        ("$response.a.0", True),
        ("$response.", False),
        ("$x", False),
    ],
)
def test_inputs(text: str, is_known: bool) -> None:
    """`data` is the request, the response or a part of it."""
    assert (input_problem(text) is None) == is_known


@pytest.mark.parametrize("name", ["InferenceStep", "InferenceRouter", "RouterTimeouts", "InferenceGraphSpec"])
def test_both_models_have_the_same_fields(name: str) -> None:
    """The view that the compiler reads and the model that checks what the router is handed do not drift apart."""
    view, model = getattr(graph, name), getattr(inferencegraph, name)
    assert set(view.keys) == {field.alias for field in model.model_fields.values()}


@pytest.mark.parametrize("kind", ["nodes", "steps"])
def test_the_schema_has_the_same_fields(kind: str) -> None:
    """The views know every field that the schema of the kind has."""
    schemas = Path(__file__).parents[2] / "schemas" / "input"
    schema = json.loads((schemas / "serving.kserve.io_v1alpha1_inferencegraph.json").read_text())
    spec = schema["properties"]["spec"]["properties"]
    step = spec["nodes"]["additionalProperties"]["properties"]["steps"]["items"]["properties"]
    views = {"nodes": (graph.InferenceGraphSpec, spec), "steps": (graph.InferenceStep, step)}
    view, properties = views[kind]
    assert view.keys == properties.keys()
