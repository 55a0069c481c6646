"""Topologies: what leads where, read from deployed objects alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from tests import libyaml

from kservec.api import Target
from kservec.core.diagnostics import ObjectRef
from kservec.drawing.dot import dot
from kservec.drawing.mermaid import mermaid
from kservec.drawing.svg import svg
from kservec.emit import dump
from kservec.gitops.rendered import Rendered
from kservec.io.reading import File
from kservec.topology.environment import Fold, environment_topology
from kservec.topology.inventory import inventory_of, rendered_items
from kservec.topology.units import unit_topology
from kservec.topology.values import NodeKind

from .deploying import (
    ROOT,
    deployed,
    example_target,
    graph,
    of_documents,
    of_examples,
    of_golden,
    own_item,
    service,
)

if TYPE_CHECKING:
    from typing import Any

    from kservec.topology.values import Topology

    from .deploying import Deployed


def ways(topology: Topology) -> list[str]:
    """Each edge as `name -> name`, with its text, and with dots where no request takes it."""
    nodes = {node.key: node.lines[0] for node in topology.nodes}
    return [
        f"{nodes[e.source]} {'..' if e.is_aside else '--'}> {nodes[e.target]}{': ' + e.text if e.text else ''}"
        for e in topology.edges
    ]


def drawn(found: Deployed, name: str) -> Topology:
    """The topology of a unit."""
    return unit_topology(found.inventory, found.ref(name))


@pytest.mark.parametrize(
    ("case", "name", "expected"),
    [
        pytest.param(
            "isvc-canary-10-percent",
            "fraud",
            [
                "clients --> kserve/kserve-ingress-gateway",
                "fraud --> fraud-predictor: 90%",
                "fraud --> fraud-v8-predictor: 10%",
                "fraud-v8-predictor --> fraud-v8-predictor",
                "fraud-v8-predictor ..> s3://models/fraud/v8",
            ],
            id="a canary behind the Gateway API",
        ),
        pytest.param(
            "isvc-transformer",
            "images",
            ["images --> images-transformer: images-vision.example.com", "images-transformer --> images-predictor"],
            id="a transformer behind an Ingress",
        ),
        pytest.param(
            "isvc-knative-transformer-explainer",
            "fraud",
            [
                "clients in the cluster --> fraud",
                "fraud --> knative-serving/knative-local-gateway",
                "clients --> knative-serving/knative-ingress-gateway",
                r"fraud --> fraud-explainer: ^/v1/models/[\w-]+:explain$",
                "fraud --> fraud-transformer",
                "fraud-transformer --> the latest revision",
                "the latest revision --> fraud-predictor",
                "the latest revision ..> gs://acme-models/fraud/7",
            ],
            id="Knative",
        ),
        pytest.param(
            "llm-scheduler",
            "assistant",
            [
                "assistant-kserve-route --> assistant-inference-pool: /support/assistant/v1/completions and 15 more",
                "assistant-inference-pool ..> assistant-epp-service: asks which pod",
                "assistant-inference-pool --> assistant-kserve",
                "assistant-epp-service --> assistant-kserve-router-scheduler",
                "assistant-kserve ..> models/qwen2.5-7b",
            ],
            id="a scheduler",
        ),
        pytest.param(
            "llm-prefill-decode-leader-worker-sets",
            "assistant",
            [
                "assistant-kserve-workload-svc --> assistant-kserve-mn",
                "assistant-kserve-mn --> assistant-kserve-mn-prefill: prefill",
            ],
            id="prefill and decode in groups of pods",
        ),
        pytest.param(
            "trainedmodel-two-models",
            "scores",
            ["scores-predictor ..> gs://acme-models/churn", "scores-predictor ..> s3://acme-models/fraud/v3"],
            id="models that an agent pulls",
        ),
        pytest.param(
            "isvc-oci-modelcar",
            "summaries",
            ["summaries-predictor ..> registry.example.com/models/summaries:1.2.0"],
            id="a model in an image beside the server",
        ),
        pytest.param(
            "isvc-oci-native-image-volume",
            "summaries",
            ["summaries-predictor ..> registry.example.com/models/summaries:1.2.0"],
            id="a model in a mounted image",
        ),
        pytest.param(
            "isvc-pvc-subpath",
            "churn",
            ["churn-predictor ..> model-store/churn/v3"],
            id="a model in a volume claim",
        ),
        pytest.param(
            "isvc-multinode-ray",
            "llama-405b",
            [
                "llama-405b-predictor-worker ..> llama-405b-head-3: joins",
                "llama-405b-head-3 --> llama-405b-predictor",
            ],
            id="workers that join their head",
        ),
        pytest.param(
            "llm-group",
            "canary",
            [
                "canary-kserve-route --> stable: 90% /v1/completions [X-Gateway-Model-Name: "
                "publishers/support/models/qwen] and 13 more",
            ],
            id="services that share their requests",
        ),
    ],
)
def test_what_leads_where(case: str, name: str, expected: list[str]) -> None:
    """The way of requests through the objects of a golden case."""
    found = ways(drawn(of_golden(case), name))
    assert [way for way in expected if way not in found] == []


def test_revisions_and_their_shares() -> None:
    """A Knative canary is a share of the traffic; the earlier revision is only known by its name."""
    value = {
        "apiVersion": "serving.knative.dev/v1",
        "kind": "Service",
        "metadata": {"name": "fraud-predictor", "namespace": "risk"},
        "spec": {
            "template": {"metadata": {"name": "fraud-predictor-new"}, "spec": {"containers": [{"image": "a/b:1"}]}},
            "traffic": [
                {"latestRevision": True, "percent": 10},
                {"revisionName": "fraud-predictor-old", "percent": 90, "tag": "prev"},
            ],
        },
    }
    item = own_item(value)
    topology = unit_topology(inventory_of([item]), item.owner)
    assert ways(topology) == [
        "clients in the cluster --> fraud-predictor",
        "fraud-predictor --> fraud-predictor-new: 10%",
        "fraud-predictor --> fraud-predictor-old: 90% tag prev",
    ]
    assert [n.lines[1:] for n in topology.nodes if n.kind is NodeKind.REVISION] == [
        ("0 or more replicas", "b:1"),
        ("an earlier revision, kept by the cluster",),
    ]


def test_a_graph_calls_services() -> None:
    """The nodes of a graph follow its router; a service of the run is a node with its own place in the files."""
    topology = drawn(of_examples("payment-screening", "fraud-detector"), "payment-screening")
    assert ways(topology) == [
        "clients in the cluster --> payment-screening",
        "payment-screening --> payment-screening",
        "payment-screening --> root",
        "root --> fraud-detector: 1. detect Hard",
        "root --> review: 2. review if predictions.#(==1)",
        "review --> http://review.payments.svc/v1/models/review:predict: current 90%",
        "review --> http://review-next.payments.svc/v1/models/review:predict: trial 10%",
    ]
    called = next(node for node in topology.nodes if node.kind is NodeKind.UNIT)
    assert called.ref is not None
    assert (called.ref.name, called.span.file if called.span else "") == (
        "fraud-detector",
        "examples/services/fraud-detector.yaml",
    )


def test_where_nodes_were_written() -> None:
    """Nodes have the place of what led to them: the model its URI, the canary its own part of the spec."""
    topology = drawn(of_golden("isvc-canary-10-percent"), "fraud")
    lines = (topology.nodes[0].span, *(n.span.line if n.span else 0 for n in topology.nodes if n.kind == "model"))
    text = (ROOT / "golden/isvc-canary-10-percent/input/fraud.yaml").read_text().splitlines()
    assert lines[0] is None
    assert ["s3://models/fraud/v7" in text[lines[1] - 1], "s3://models/fraud/v8" in text[lines[2] - 1]] == [True, True]


def test_patches_count() -> None:
    """What a patch has changed is drawn as it is deployed, and is not said to be written where it was before."""
    found = of_golden("isvc-gateway-api")
    items = list(found.inventory.items.values())
    changed = [
        item._replace(value=libyaml.load(libyaml.dump(item.value).replace("s3://models/fraud/v7", "s3://other")))
        for item in items
    ]
    topology = unit_topology(inventory_of(changed, found.inventory.sources), found.ref("fraud"))
    (model,) = (node for node in topology.nodes if node.kind is NodeKind.MODEL)
    (before,) = (node for node in drawn(found, "fraud").nodes if node.kind is NodeKind.MODEL)
    assert model.lines[0] == "s3://other"
    assert (model.span, before.span) != (before.span, None)


def test_what_is_rendered() -> None:
    """Rendered texts count where patches may have changed them; what is for Argo CD alone does not."""
    found = of_golden("isvc-gateway-api")
    compiled = list(found.inventory.items.values())
    texts = {item.ref: dump(item.value).replace("s3://models/fraud/v7", "s3://other") for item in compiled}
    objects = [Rendered(item.ref, texts[item.ref], item.owner) for item in compiled]
    application = ObjectRef("argoproj.io/v1alpha1", "Application", "argocd", "ml")
    objects.append(Rendered(application, "kind: Application\n", application, place="_gitops"))
    for patched, expected in ((True, "s3://other"), (False, "s3://models/fraud/v7")):
        items = list(rendered_items(objects, compiled, patched=patched))
        assert application not in {item.ref for item in items}
        topology = unit_topology(inventory_of(items), found.ref("fraud"))
        assert [n.lines[0] for n in topology.nodes if n.kind is NodeKind.MODEL] == [expected]


def own_route(name: str, target: str, namespace: str = "payments") -> dict[str, Any]:
    """An HTTPRoute that a user writes."""
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {
            "parentRefs": [{"name": "own", "namespace": "edge"}],
            "hostnames": ["screening.example.com"],
            "rules": [{"backendRefs": [{"name": target, "port": 80}], "matches": [{"path": {"value": "/score"}}]}],
        },
    }


def test_routes_of_a_users_own() -> None:
    """A route that is no part of a unit belongs to its picture if it leads to it."""
    found = of_documents(graph("screening", "payments", "http://a/"), more=[own_route("outside", "screening")])
    assert ways(drawn(found, "screening"))[:3] == [
        "clients --> edge/own",
        "edge/own --> outside",
        "outside --> screening: /score",
    ]


def test_what_is_not_there() -> None:
    """A route to nothing says so."""
    item = own_item(own_route("lost", "nowhere"))
    topology = unit_topology(inventory_of([item]), item.owner)
    assert topology.nodes[-1].lines == ("nowhere", "Service", "not here")


@pytest.mark.parametrize(("version", "kind"), [("v1", "Pod"), ("batch/v1", "CronJob"), ("example.com/v1", "Service")])
def test_what_is_no_node(version: str, kind: str) -> None:
    """A Service or route that leads to something that is not drawn has an end all the same."""
    metadata = {"namespace": "payments", "labels": {"app": "a"}}
    pod = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": [{"image": "a"}]}}
    spec = {**pod["spec"], "jobTemplate": {"spec": {"template": pod}}}
    odd = {"apiVersion": version, "kind": kind, "metadata": {**metadata, "name": "odd"}, "spec": spec}
    front = {"apiVersion": "v1", "kind": "Service", "metadata": {**metadata, "name": "front"},
             "spec": {"selector": {"app": "a"}}}  # fmt: skip
    route = own_route("route", "odd")
    route["spec"]["rules"][0]["backendRefs"][0] |= {"kind": kind, "group": version.rpartition("/")[0]}
    items = [own_item(value)._replace(owner=own_item(front).owner) for value in (odd, front, route)]
    topology = unit_topology(inventory_of(items), items[0].owner)
    assert svg([topology])
    assert ("not here",) in [node.lines[2:] for node in topology.nodes]


NONSENSE: Any = [None, 1, "x", [], {}, [1], {"a": 1}, [[]], [{"name": 5}], {"name": []}]


@pytest.mark.parametrize("value", NONSENSE, ids=str)
@pytest.mark.parametrize(
    "path",
    [
        "spec", "spec.rules", "spec.parentRefs", "spec.hostnames", "spec.rules.0.backendRefs", "spec.rules.0.matches",
        "spec.http", "spec.gateways", "spec.selector", "spec.template", "spec.template.spec.containers",
        "spec.template.spec.volumes", "spec.template.metadata.labels", "spec.traffic", "spec.scaleTargetRef",
        "spec.template.spec.initContainers", "spec.endpointPickerRef", "metadata.labels",
    ],
)  # fmt: skip
def test_objects_that_nobody_has_checked(path: str, value: Any) -> None:
    """Whatever stands in a manifest of a user's own, there is a picture, and no traceback."""
    kinds = [
        ("gateway.networking.k8s.io/v1", "HTTPRoute"), ("networking.k8s.io/v1", "Ingress"), ("v1", "Service"),
        ("networking.istio.io/v1", "VirtualService"), ("serving.knative.dev/v1", "Service"), ("apps/v1", "Deployment"),
        ("inference.networking.k8s.io/v1", "InferencePool"), ("autoscaling/v2", "HorizontalPodAutoscaler"),
        ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"),
    ]  # fmt: skip
    body = value
    for step in reversed(path.split(".")):
        body = [body] if step == "0" else {step: body}
    items = []
    for version, kind in kinds:
        metadata = {**body.get("metadata", {}), "name": "a", "namespace": "b"}
        items.append(own_item({"apiVersion": version, "kind": kind, **body, "metadata": metadata}))
    inventory = inventory_of(items)
    for fold in Fold:
        assert svg(environment_topology(inventory, "any", fold)).endswith("</svg>\n")


HOSTILE = '"]; end; <script>alert(1)</script> &amp; \\ " --> x `|#quot; %%{init}%% ]]> \x07 \u2028'


def hostile() -> Topology:
    """A picture in which every text that a user may choose is out for trouble."""
    route = own_route("a", HOSTILE)
    route["metadata"]["name"] = HOSTILE
    route["spec"]["hostnames"] = [HOSTILE]
    route["spec"]["parentRefs"] = [{"name": HOSTILE}]
    route["spec"]["rules"][0]["matches"] = [{"path": {"value": HOSTILE}}]
    item = own_item(route)
    return unit_topology(inventory_of([item]), item.owner)


def test_hostile_names_stay_texts() -> None:
    """No text ends its quotes in any language, nor becomes an element of the picture."""
    topology = hostile()
    root = ElementTree.fromstring(svg([topology], prefix='"><script>', link=lambda _: 'javascript:alert(1)//"'))  # noqa: S314
    assert not [e for e in root.iter() if e.tag.endswith(("script", "}a"))]
    count = len(topology.nodes) + len(topology.edges)
    assert len(mermaid([topology]).splitlines()) == count + 3
    assert len(dot([topology]).splitlines()) == count + 8
    quoted = re.findall(r'"([^"]*)"', mermaid([topology]))
    assert quoted
    assert not any(re.search(r"[<>&|`{}\\\[\]%]", text.replace("<br/>", "")) for text in quoted)
    strings = re.sub(r'"(?:[^"\\]|\\.)*"', "TEXT", dot([topology]))
    assert "script" not in strings


@pytest.mark.parametrize(
    ("address", "is_link"),
    [
        ("https://git.example.com/ml/blob/main/a.yaml#L12", True),
        ("../units/a.html", True),
        ("#unit-a", True),
        ("a.html#x", True),
        ("javascript:alert(1)", False),
        ("JaVaScript:alert(1)", False),
        ("data:text/html,x", False),
        (" javascript:alert(1)", False),
        ("vbscript:x", False),
        ("java\nscript:alert(1)", False),
    ],
)
def test_what_a_node_may_lead_to(address: str, is_link: bool) -> None:
    """Only pages: an address that runs something is no link."""
    topology = drawn(of_golden("isvc-gateway-api"), "fraud")
    assert ("<a href=" in svg([topology], link=lambda _: address)) == is_link


def test_a_picture_within_a_page() -> None:
    """Without anything that a strict policy of a page forbids, and with ids that do not meet others."""
    topology = drawn(of_golden("isvc-gateway-api"), "fraud")
    text = svg([topology], prefix="one-", inline=True)
    assert "<style" not in text
    assert "style=" not in text
    assert set(re.findall(r'id="([^"]+)"', text)) == {"one-title", "one-desc", "one-head"}
    assert "url(#one-head)" in text


def test_no_password_is_drawn() -> None:
    """Credentials in URIs stay out of pictures, in every language."""
    document = service("a", "ml")
    document["spec"]["predictor"]["model"]["storageUri"] = "https://me:hunter2@models.example.com/a.tar.gz?token=abc123"
    found = deployed([File("a.yaml", libyaml.dump(document).encode())], Target(platform=example_target().platform))
    topology = drawn(found, "a")
    for write in (svg, mermaid, dot):
        assert "models.example.com" in write([topology])
        assert not re.search("hunter2|abc123", write([topology]))


@pytest.mark.parametrize(
    ("count", "fold", "number", "note"),
    [
        (3, Fold.AUTO, 3, ""),
        (20, Fold.AUTO, 1, "folded: 20 objects, a node each"),
        (50, Fold.AUTO, 1, "folded: 50 objects in 2 namespaces"),
        (50, Fold.NONE, 50, ""),
        (3, Fold.NAMESPACES, 1, "folded: 3 objects in 2 namespaces"),
    ],
)
def test_what_is_folded(count: int, fold: Fold, number: int, note: str) -> None:
    """Large environments are folded by service and then by namespace, and say so; a user may have it otherwise."""
    found = of_documents(*(service(f"model-{i}", f"team-{i % 2}") for i in range(count)))
    made = environment_topology(found.inventory, "prod", fold)
    assert (len(made), made[0].note) == (number, note)


def test_what_a_folded_node_tells() -> None:
    """Its replicas from and to, its routes and models; what calls others leads to them."""
    calling = graph("triage", "ml", "http://b-predictor.voice.svc/", "http://c-predictor.voice.svc/")
    found = of_documents(service("a"), service("b", "voice"), service("c", "voice"), calling)
    (topology,) = environment_topology(found.inventory, "prod", Fold.NAMESPACES)
    told = {node.lines[0]: node.lines[1:] for node in topology.nodes}
    assert told["voice"] == ("2 InferenceServices", "4 to 12 replicas", "4 routes, 2 models")
    assert told["ml"] == ("1 InferenceGraph, 1 InferenceService", "3 to 7 replicas", "2 routes, 1 model")
    assert "ml --> voice: 2 calls" in ways(topology)


def test_the_order_of_objects_does_not_matter() -> None:
    """The same objects give the same picture in any order."""
    found = of_golden("llm-group")
    items = list(found.inventory.items.values())
    back = inventory_of(reversed(items), found.inventory.sources)
    for ref in found.refs:
        assert unit_topology(back, ref) == unit_topology(found.inventory, ref)


def test_every_edge_has_its_ends() -> None:
    """No edge leads to a node that is not there, in any golden case that compiles to routes."""
    for case in ("graph-knative", "isvc-explainer-art", "isvc-logger-all", "localmodelcache-node-group", "llm-lora"):
        found = of_golden(case)
        for ref in found.refs:
            topology = unit_topology(found.inventory, ref)
            keys = {node.key for node in topology.nodes}
            assert {end for edge in topology.edges for end in (edge.source, edge.target)} <= keys
