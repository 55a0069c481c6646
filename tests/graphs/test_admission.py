"""Graphs that cannot work are refused, and what has no effect is said."""

from __future__ import annotations

from typing import Any

import pytest

from .writing import GROUP, URL, built, called, graph, node, slugs

LEAF = node(called())
TO_LEAF = {"nodeName": "leaf"}


def within(kind: str, *steps: dict[str, Any]) -> dict[str, Any]:
    """Nodes whose root has the steps, and a leaf."""
    return {"root": node(*steps, kind=kind), "leaf": LEAF}


REFUSED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "no root": ({"first": LEAF}, ["graph/no-root"]),
    "no nodes": ({}, ["graph/no-root"]),
    "node that is not there": ({"root": node({"nodeName": "no"})}, ["graph/unknown-node"]),
    "node of itself": ({"root": node({"nodeName": "root"})}, ["graph/cycle"]),
    "circle": ({"root": node(TO_LEAF), "leaf": node(called(), {"nodeName": "root"})}, ["graph/cycle"]),
    "empty": ({"root": node()}, ["graph/empty-node"]),
    "empty Splitter": ({"root": node(kind="Splitter")}, ["graph/weights"]),
    "weights": ({"root": node(called(weight=60), called(weight=60), kind="Splitter")}, ["graph/weights"]),
    "no weight": ({"root": node(called(), called(weight=100), kind="Splitter")}, ["graph/weights"]),
    "negative": ({"root": node(called(weight=-1), called(weight=101), kind="Splitter")}, ["graph/weights"]),
    "names": ({"root": node(called(name="a"), called(name="a"))}, ["graph/step-name-twice"]),
    "names of results": ({"root": node(called(name="1"), called(), kind="Ensemble")}, ["graph/step-name-twice"]),
    "no target": ({"root": node({"name": "a"})}, ["graph/no-target"]),
    "empty target": ({"root": node({"serviceUrl": ""})}, ["graph/no-target"]),
    "two targets": ({"root": node(called(nodeName="root"))}, ["graph/several-targets", "graph/cycle"]),
    "no URL": ({"root": node({"serviceUrl": "scorer/v1"})}, ["graph/invalid-url"]),
    "space in a URL": ({"root": node({"serviceUrl": "http://a b/"})}, ["graph/invalid-url"]),
    "no host": ({"root": node({"serviceUrl": "http:///v1"})}, ["graph/invalid-url"]),
    "port": ({"root": node({"serviceUrl": "http://a:port/"})}, ["graph/invalid-url"]),
    "first condition": ({"root": node(called(condition="a"))}, ["graph/condition-without-response"]),
    "JSONPath": ({"root": node(called(condition="$.a"), kind="Switch")}, ["graph/condition-syntax"]),
    "braces": ({"root": node(called(condition="{ .a == 1 }"), kind="Switch")}, ["graph/condition-syntax"]),
    "open query": ({"root": node(called(), called(condition="a.#(b"))}, ["graph/condition-syntax"]),
    "input": ({"root": node(called(), called(data="$reply"))}, ["graph/unknown-input"]),
}


@pytest.mark.parametrize(("nodes", "codes"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_work_is_refused(nodes: dict[str, Any], codes: list[str]) -> None:
    """Each fault has its code, every finding a place and something to do, and nothing is made."""
    document = {**graph(), "spec": {"nodes": nodes}}
    compilation = built(document)
    assert sorted(slugs(compilation)) == sorted(codes)
    assert not compilation.ok
    assert all(d.span is not None and d.span.line and d.help for d in compilation.diagnostics)


@pytest.mark.parametrize(
    "broken",
    [
        node(),
        node(called(condition="a")),
        node({"nodeName": "spare"}),
        node({"nodeName": "no"}),
        node({"serviceUrl": "no"}),
        node(called(data="$reply")),
        node(called(weight=5), kind="Ensemble"),
    ],
)
def test_what_no_request_comes_to_does_no_harm(broken: dict[str, Any]) -> None:
    """Mistakes in a node that is never reached are not looked for; that it is not reached is said."""
    assert slugs(built(graph({"root": LEAF, "spare": broken}))) == ["graph/unreachable-node"]


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (node(kind="Splitter"), "graph/weights"),
        (node({}), "graph/no-target"),
        (node(called(name="a"), called(name="a")), "graph/step-name-twice"),
    ],
)
def test_what_kserve_refuses_is_refused_in_any_node(broken: dict[str, Any], code: str) -> None:
    """KServe's own rules hold for nodes that are never reached as well."""
    assert sorted(slugs(built(graph({"root": LEAF, "spare": broken})))) == sorted([code, "graph/unreachable-node"])


WARNED: dict[str, tuple[dict[str, Any], list[str]]] = {
    "nothing odd": (within("Sequence", called(dependency="Hard"), {**TO_LEAF, "data": "$response.a"}), []),
    "what is done anyway": (within("Splitter", called(weight=100, data="$request", dependency="Soft")), []),
    "response of the first step": (within("Sequence", called(data="$response")), ["spec/without-effect"]),
    "data": (within("Ensemble", called(data="$response")), ["spec/without-effect"]),
    "mapping": (within("Splitter", called(weight=100, mapPredictionsToInstances=True)), ["spec/without-effect"]),
    "weight of nothing": (within("Sequence", called(weight=0)), ["spec/without-effect"]),
    "condition": (within("Ensemble", called(condition="a")), ["spec/without-effect"]),
    "dependency": (within("Switch", called(condition="a", dependency="Hard")), ["spec/without-effect"]),
    "no condition": (within("Switch", called()), ["graph/condition-missing"]),
    "condition twice": (
        within("Switch", called(condition="a"), called(condition="a")),
        ["graph/condition-repeated"],
    ),
    "password": (within("Sequence", {"serviceUrl": "http://me:hunter2@scorer/"}), ["graph/password-in-url"]),
}


@pytest.mark.parametrize(("nodes", "codes"), WARNED.values(), ids=WARNED)
def test_what_has_no_effect_is_said(nodes: dict[str, Any], codes: list[str]) -> None:
    """The graph is compiled, with a warning for each field that does nothing."""
    compilation = built(graph(nodes))
    assert compilation.ok
    assert [slug for slug in slugs(compilation) if slug != "graph/unreachable-node"] == codes


@pytest.mark.parametrize(
    ("condition", "is_doubtful"),
    [
        ("instances", False),
        ("[@this].#(tier==gold)", False),
        ('predictions.#(class=="a > b")', False),
        ('predictions.#(score>0.5)#|#(name%"a*")', False),
        (r"a\=\=b", False),
        ("a=b", False),
        ('"quoted==key"', False),
        ("kind==a", True),
        ("instances.0>3", True),
        ("[@this].#(a==1 && b==2)", True),
        ("[@this].#(a==1||b==2)", True),
        ("[@this].#(a=='b')", True),
    ],
)
def test_conditions_that_look_like_something_else(condition: str, is_doubtful: bool) -> None:
    """A comparison outside of a query, several in one, and single quotes are pointed out; strings may hold anything."""
    compilation = built(graph({"root": node(called(condition=condition), kind="Switch")}))
    assert slugs(compilation) == ["graph/condition-doubtful"] * is_doubtful


@pytest.mark.parametrize(
    ("mode", "limits", "codes"),
    [
        ("Standard", {}, []),
        ("Standard", {"routerTimeouts": {"serverWrite": 600, "serviceClient": 590}}, []),
        ("Standard", {"routerTimeouts": {"serviceClient": 59}}, []),
        ("Standard", {"routerTimeouts": {"serviceClient": 60}}, ["graph/timeouts"]),
        ("Standard", {"routerTimeouts": {"serverWrite": 5, "serviceClient": 9}}, ["graph/timeouts"]),
        ("Standard", {"routerTimeouts": {"serverWrite": 0, "serviceClient": 900}}, []),
        ("Standard", {"timeout": 30}, ["spec/without-effect"]),
        ("Knative", {"timeout": 30}, []),
        ("Knative", {"timeout": 61}, ["graph/timeouts"]),
        ("Knative", {"timeout": 61, "routerTimeouts": {"serverWrite": 61}}, []),
        ("Knative", {"timeout": 30, "routerTimeouts": {"serverWrite": 31}}, ["graph/timeouts"]),
    ],
)
def test_limits_of_time_agree(mode: str, limits: dict[str, Any], codes: list[str]) -> None:
    """A limit that another, shorter one keeps from ever counting is pointed out."""
    assert slugs(built(graph(mode=mode, **limits))) == codes


@pytest.mark.parametrize(
    ("annotations", "mode", "metric", "codes"),
    [
        ({}, "Knative", "rps", []),
        ({}, "Knative", "memory", ["scaling/metric"]),
        ({"autoscaling.knative.dev/class": "hpa.autoscaling.knative.dev"}, "Knative", "memory", []),
        ({}, "Standard", "rps", ["spec/without-effect"]),
        ({f"{GROUP}/autoscalerClass": "magic"}, "Standard", "cpu", ["scaling/unknown-class"]),
        ({f"{GROUP}/autoscalerClass": "keda"}, "Standard", "cpu", ["scaling/no-triggers"]),
    ],
)
def test_what_scales_a_graph(annotations: dict[str, str], mode: str, metric: str, codes: list[str]) -> None:
    """A metric fits the autoscaler, which is one that there is and that can scale by what a graph has to say."""
    assert slugs(built(graph(mode=mode, annotations=annotations, scaleMetric=metric))) == codes


@pytest.mark.parametrize(
    ("mode", "codes", "kinds"),
    [
        ("Standard", [], ["Deployment", "HorizontalPodAutoscaler", "Service"]),
        ("RawDeployment", [], ["Deployment", "HorizontalPodAutoscaler", "Service"]),
        ("Knative", [], ["Service"]),
        ("Serverless", [], ["Service"]),
        ("ModelMesh", ["mode/ignored"], ["Service"]),
        ("Magic", ["mode/unknown"], []),
    ],
)
def test_modes(mode: str, codes: list[str], kinds: list[str]) -> None:
    """A graph runs in Standard or Knative mode, as which ModelMesh counts; any other word is refused."""
    compilation = built(graph(mode=mode))
    assert slugs(compilation) == codes
    assert sorted(o.ref.kind for o in compilation.objects) == kinds


def test_knative_mode_needs_knative() -> None:
    """A graph in Knative mode is refused where there is no Knative."""
    assert slugs(built(graph(mode="Knative"), absent=["Service.serving.knative.dev"])) == ["knative/not-installed"]


@pytest.mark.parametrize("name", ["9lives", "a.b"])
def test_names(name: str) -> None:
    """KServe's pattern for names of graphs."""
    assert slugs(built(graph(name=name)))[0] == "name/invalid"


def test_nesting_has_an_end() -> None:
    """A hundred nodes may run inside the root, and no more; very many do no harm to the compiler."""

    def chain(length: int) -> dict[str, Any]:
        names = ["root", *(f"n{i}" for i in range(length - 1))]
        steps = [{"nodeName": after} for after in names[1:]]
        return {name: node(step) for name, step in zip(names, [*steps, {"serviceUrl": URL}], strict=True)}

    assert slugs(built(graph(chain(101)))) == []
    assert slugs(built(graph(chain(102)))) == ["graph/too-deep"]
    assert slugs(built(graph(chain(3000)))) == ["graph/too-deep"]
