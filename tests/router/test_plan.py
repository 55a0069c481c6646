"""What graphs are refused, and what is made of those that are not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kservec_router.documents import read_graph
from kservec_router.errors import GraphError
from kservec_router.messages import Origin
from kservec_router.targets import parse_target

from .graphs import node, plan_of, step

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no root": ({"other": node("Sequence", step("a"))}, 'there is no node "root"'),
    "an unknown node": ({"root": node("Sequence", {"nodeName": "x"})}, 'there is no node "x"'),
    "a node within itself": ({"root": node("Sequence", {"nodeName": "root"})}, "root -> root"),
    "a circle": (
        {
            "root": node("Sequence", {"nodeName": "b"}),
            "b": node("Switch", {"nodeName": "c", "condition": "x"}),
            "c": node("Sequence", {"nodeName": "b"}),
        },
        "b -> c -> b",
    ),
    "too many calls for one request": (
        {
            "root": node("Sequence", *[{"nodeName": "a"}] * 11),
            "a": node("Sequence", *[{"nodeName": "b"}] * 10),
            "b": node("Sequence", *[step("s")] * 10),
        },
        "one request leads to 1100 calls; at most 1000 are made",
    ),
    "no steps": ({"root": node("Sequence")}, 'node "root" has no steps'),
    "weights below 100": ({"root": node("Splitter", step("a", weight=60))}, "sum to 60, not to 100"),
    "a negative weight": (
        {"root": node("Splitter", step("a", weight=-10), step("b", weight=110))},
        "needs a weight of 0 to 100",
    ),
    "no weight": ({"root": node("Splitter", step("a", weight=100), step("b"))}, "needs a weight of 0 to 100"),
    "two results of one name": (
        {"root": node("Ensemble", step("a", name="x"), step("b", name="x"))},
        'two results would be called "x"',
    ),
    "a name that is a position": (
        {"root": node("Ensemble", step("a", name="1"), step("b"))},
        'two results would be called "1"',
    ),
    "a condition on the first step": ({"root": node("Sequence", step("a", condition="x"))}, "has no response"),
    "JSONPath with braces": (
        {"root": node("Switch", step("a", condition="{ .input.userId == 1 }"))},
        "looks like JSONPath",
    ),
    "JSONPath with a dollar": ({"root": node("Switch", step("a", condition="$.input"))}, "looks like JSONPath"),
    "an open query": ({"root": node("Switch", step("a", condition="a.#(b==1"))}, "is not closed"),
    "open brackets": ({"root": node("Switch", step("a", condition="[a,b"))}, "are not closed"),
    "other data": (
        {"root": node("Sequence", step("a"), step("b", data="$.response"))},
        "it can be $request, $response",
    ),
    "a name of a service": ({"root": node("Sequence", {"serviceName": "iris"})}, "needs a serviceUrl"),
    "no target": ({"root": node("Sequence", {"name": "a"})}, "no nodeName or serviceUrl"),
    "another scheme": ({"root": node("Sequence", {"serviceUrl": "ftp://a/"})}, "http:// or https://"),
    "a space in a URL": ({"root": node("Sequence", {"serviceUrl": "http://a/b c"})}, "spaces"),
    "a port that is none": ({"root": node("Sequence", {"serviceUrl": "http://a:x/"})}, "Port could not be cast"),
    "a lower-case type": ({"root": node("sequence", step("a"))}, "nodes.root.routerType"),
    "a misspelt dependency": ({"root": node("Sequence", step("a", dependency="hard"))}, "dependency"),
    "a weight in quotes": ({"root": node("Splitter", step("a", weight="100"))}, "weight"),
    "steps that are no list": ({"root": {"routerType": "Sequence", "steps": {"a": 1}}}, "steps"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_graph_that_cannot_work_is_refused(name: str) -> None:
    """The graph is refused at start-up, with a message that names what is wrong."""
    nodes, message = REFUSED[name]
    with pytest.raises(GraphError) as caught:
        plan_of(nodes)
    assert any(message in problem for problem in caught.value.problems), caught.value.problems


def test_all_problems_are_named_at_once() -> None:
    """Mistakes in several places are all reported."""
    nodes = {
        "root": node("Sequence", {"nodeName": "x"}, step("a", data="?")),
    }
    with pytest.raises(GraphError) as caught:
        plan_of(nodes)
    assert len(caught.value.problems) == 2


@pytest.mark.parametrize("text", ["", "[]", "null", "5", "{nodes: ", '{"nodes": ', "{}", '{"nodes": null}'])
def test_a_text_that_is_no_graph_is_refused(text: str) -> None:
    """Neither empty text, nor other JSON, nor broken JSON or YAML is taken for a graph."""
    with pytest.raises(GraphError):
        read_graph(text.encode())


@pytest.mark.parametrize(
    "value", ["2026-13-45", "0b_", "9" * 5000, "!!timestamp x", "!!bool x", "!!int ''", "[" * 3000]
)
def test_yaml_that_no_value_is_made_of_is_refused(value: str) -> None:
    """Dates and numbers that are none, and what is nested too deeply, are told apart from a good graph."""
    with pytest.raises(GraphError, match="a date, a number or the nesting is at fault"):
        read_graph(f"nodes: {value}".encode())


def test_a_manifest_is_read_as_its_spec() -> None:
    """A whole InferenceGraph, in YAML, is the same as its spec in JSON."""
    spec = {"nodes": {"root": node("Sequence", step("a"))}, "timeout": 9}
    manifest = "kind: InferenceGraph\nmetadata: {name: g}\nspec: " + json.dumps(spec)
    assert read_graph(manifest.encode()) == read_graph(json.dumps(spec).encode())


def test_what_is_odd_but_harmless_is_noted() -> None:
    """An unreachable node, a Switch step without a condition, a condition without effect, a policy for nothing."""
    nodes = {
        "root": node("Switch", step("a"), {"nodeName": "both", "condition": "x"}),
        "both": node("Ensemble", step("b", condition="y")),
        "lonely": node("Sequence", step("c")),
    }
    notes = "\n".join(plan_of(nodes, "x/*=retries:1").notes)
    assert "never chosen" in notes
    assert "no effect" in notes
    assert '"lonely" is never reached' in notes
    assert '"x/*"' in notes


def test_only_targets_that_can_be_reached_count() -> None:
    """The targets of a plan are those of nodes that a request can get to."""
    nodes = {"root": node("Sequence", step("a:81")), "lonely": node("Sequence", step("b"))}
    assert [target.origin for target in plan_of(nodes).targets] == [Origin("a", 81, False)]


@pytest.mark.parametrize(
    ("given", "limits"),
    [
        ({}, (60, 60, 180, 0, 60)),
        ({"routerTimeouts": {"serverRead": 1, "serverWrite": 2, "serverIdle": 3, "serviceClient": 4}}, (1, 2, 3, 4, 2)),
        ({"routerTimeouts": {"serverWrite": 0}}, (60, 0, 180, 0, 0)),
        ({"timeout": 30}, (60, 60, 180, 0, 30)),
        ({"timeout": 90, "routerTimeouts": {"serverWrite": 100}}, (60, 100, 180, 0, 90)),
    ],
)
def test_time_limits_have_kserves_defaults(given: dict[str, Any], limits: tuple[float, ...]) -> None:
    """60, 60 and 180 seconds where the graph says nothing, none for calls; an answer is due within the shorter."""
    timeouts = plan_of({"root": node("Sequence", step("a"))}, **given).timeouts
    assert (timeouts.read, timeouts.write, timeouts.idle, timeouts.client, timeouts.answer) == limits


@pytest.mark.parametrize(
    ("nodes", "streams"),
    [
        ({"root": node("Sequence", step("a"))}, True),
        ({"root": node("Sequence", step("a"), step("b", data="$response"))}, False),
        ({"root": node("Sequence", step("a", mapPredictionsToInstances=True))}, False),
        ({"root": node("Splitter", step("a", weight=100))}, True),
        ({"root": node("Switch", step("a", condition="x"))}, False),
        ({"root": node("Ensemble", step("a"))}, False),
        ({"root": node("Sequence", {"nodeName": "x"}), "x": node("Splitter", step("a", weight=100))}, True),
        ({"root": node("Sequence", {"nodeName": "x"}), "x": node("Ensemble", step("a"))}, False),
    ],
)
def test_a_request_is_passed_on_while_it_arrives_only_where_nobody_needs_all_of_it(
    nodes: dict[str, Any], streams: bool
) -> None:
    """One step that takes the body as it is, once: else the body is held."""
    assert plan_of(nodes).root.streams is streams


def test_a_step_that_may_be_repeated_needs_its_body_as_a_whole() -> None:
    """With retries, a request is not passed on while it arrives."""
    assert not plan_of({"root": node("Sequence", step("a"))}, "root/0=retries:1").root.streams


@pytest.mark.parametrize(
    ("url", "head"),
    [
        ("http://h", b"POST / HTTP/1.1\r\nhost: h\r\n"),
        ("http://h:81/p/x%20y?q=1&r=%2F#frag", b"POST /p/x%20y?q=1&r=%2F HTTP/1.1\r\nhost: h:81\r\n"),
        ("https://h/v1/models/m:predict", b"POST /v1/models/m:predict HTTP/1.1\r\nhost: h\r\n"),
        ("http://h/gr\u00fc\u00dfe", b"POST /gr%C3%BC%C3%9Fe HTTP/1.1\r\nhost: h\r\n"),
        (
            "http://user:pa%20ss@h/p",
            b"POST /p HTTP/1.1\r\nhost: h\r\nauthorization: Basic dXNlcjpwYSBzcw==\r\n",
        ),
        ("http://[::1]:81/", b"POST / HTTP/1.1\r\nhost: [::1]:81\r\n"),
    ],
)
def test_a_url_becomes_the_first_lines_of_requests(url: str, head: bytes) -> None:
    """Path and query as they are written, the fragment dropped, credentials as a header."""
    assert parse_target(url).head == head


def test_credentials_are_not_shown() -> None:
    """The URL for people has no user and no password."""
    assert parse_target("http://user:secret@h/p").url == "http://h/p"
