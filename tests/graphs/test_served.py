"""What is built can be served: the router takes every graph that the compiler takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import libyaml

from kservec.admission.graphs.admit import admit_inferencegraph
from kservec.core.diagnostics import ObjectRef
from kservec.core.graphs.argument import graph_json
from kservec.core.platform import PlatformConfig
from kservec.core.text.source import parse
from kservec.core.unit import Source
from kservec.spec.graph import InferenceGraphSpec
from kservec.spec.inferencegraph import InferenceGraphSpec as Served
from kservec_router.errors import GraphError
from kservec_router.plan import Plan, compile_plan
from kservec_router.policies import parse_policies

from .writing import graph, node

GOLDEN = Path(__file__).parents[2] / "golden"


def plan_of(text: str) -> Plan:
    """The plan that the router makes of its argument."""
    return compile_plan(Served.model_validate_json(text), parse_policies(()))


def arguments() -> list[tuple[str, str]]:
    """The graphs among the golden output, by file."""
    found = []
    for file in sorted(GOLDEN.glob("*graph*/expect/**/*.yaml")):
        body = libyaml.load(file.read_text())
        template = body.get("spec", {}).get("template", {}) if isinstance(body, dict) else {}
        told = [container.get("args", [""]) for container in template.get("spec", {}).get("containers", ())]
        found += [(str(file.relative_to(GOLDEN)), args[1]) for args in told if args[0] == "--graph-json"]
    return found


@pytest.mark.parametrize(("file", "argument"), arguments())
def test_golden_graphs_are_served(file: str, argument: str) -> None:
    """The router takes each of them, and calls the services that they name."""
    plan = plan_of(argument.replace("$$", "$"))
    assert plan.targets, file
    assert len(plan.targets) <= argument.count("serviceUrl")


KSERVES_OWN = {"graph/step-name-twice", "graph/several-targets", "graph/no-target", "graph/weights"}
"""Rules of KServe's that the router does not need, or not in nodes that are never reached."""

TEXTS = st.sampled_from(["", "a", "$request", "$response", "$response.a", "$x", "a.#(b==1)", "{ .a }", "[a", "@this"])
URLS = st.sampled_from(["http://a/", "http://a/", "https://b:8443/v1?x=1", "ftp://a", "http://a b"])
target = st.one_of(
    st.builds(lambda name: {"nodeName": name}, st.sampled_from(["a", "b", "c", "root"])),
    st.builds(lambda url: {"serviceUrl": url}, URLS),
)
fields = st.fixed_dictionaries(
    {"weight": st.sampled_from([100, 50, 0, -10])},
    optional={
        "name": st.sampled_from(["", "a", "b", "0", "1"]),
        "data": TEXTS,
        "condition": TEXTS,
        "dependency": st.sampled_from(["Soft", "Hard"]),
        "mapPredictionsToInstances": st.booleans(),
    },
)
steps = st.builds(lambda where, how: {**how, **where}, target, fields)
kinds = st.sampled_from(["Sequence", "Splitter", "Ensemble", "Switch"])
nodes = st.builds(lambda kind, several: node(*several, kind=kind), kinds, st.lists(steps, min_size=1, max_size=3))
graphs = st.dictionaries(st.sampled_from(["a", "b", "c"]), nodes, max_size=3)


@settings(max_examples=600, deadline=None)
@given(nodes, graphs)
@pytest.mark.slow
def test_compiler_and_router_refuse_the_same(root: dict[str, Any], others: dict[str, Any]) -> None:
    """The router takes what the compiler takes; what the compiler alone refuses are rules of KServe's."""
    value = graph({"root": root, **others})
    (document,), _ = parse(json.dumps(value).encode(), "graph.yaml")
    ref = ObjectRef(value["apiVersion"], value["kind"], "ml", "claims")
    found = admit_inferencegraph(ref, Source(document=document), value, PlatformConfig()).diagnostics
    codes = {d.code.slug for d in found if d.is_error}
    try:
        plan_of(graph_json(InferenceGraphSpec.read(value["spec"]), {}))
    except GraphError:
        assert codes
    else:
        assert codes <= KSERVES_OWN
