"""The JSON that a router is told, byte for byte as KServe's controller writes it."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.graphs.argument import graph_json
from kservec.spec.graph import InferenceGraphSpec

ROOT = '"root":{"routerType":"Sequence"}'
EMPTY = {"root": {"routerType": "Sequence"}}
AFFINITY = {
    "nodeAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"preference": {"matchExpressions": [{"values": ["a"], "operator": "In", "key": "zone"}]}, "weight": 1}
        ]
    },
    "podAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "zone", "namespaces": [], "labelSelector": {"matchLabels": {"b": "1", "a": "2"}}}
        ]
    },
}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"nodes": EMPTY}, f'{{"nodes":{{{ROOT}}},"resources":{{}}}}'),
        ({"nodes": {}}, '{"nodes":{},"resources":{}}'),
        (
            {"nodes": {"b": {"routerType": "Switch", "steps": []}, "a": {"routerType": "Ensemble"}}},
            '{"nodes":{"a":{"routerType":"Ensemble"},"b":{"routerType":"Switch"}},"resources":{}}',
        ),
        (
            {"nodes": EMPTY, "minReplicas": 0, "maxReplicas": 0, "scaleTarget": 0, "timeout": 0, "nodeName": ""},
            f'{{"nodes":{{{ROOT}}},"resources":{{}},"timeout":0,"minReplicas":0,"scaleTarget":0}}',
        ),
        (
            {"nodes": EMPTY, "routerTimeouts": {"serviceClient": 0, "serverRead": 5}, "scaleMetric": "rps"},
            f'{{"nodes":{{{ROOT}}},"resources":{{}},"routerTimeouts":{{"serverRead":5,"serviceClient":0}},'
            '"scaleMetric":"rps"}',
        ),
        (
            {"nodes": EMPTY, "resources": {"requests": {"memory": "1024Mi", "cpu": 0.5}, "limits": {}}},
            f'{{"nodes":{{{ROOT}}},"resources":{{"requests":{{"cpu":"500m","memory":"1Gi"}}}}}}',
        ),
        (
            {"nodes": EMPTY, "tolerations": [{"effect": "NoSchedule", "value": "", "key": "spot"}], "affinity": {}},
            f'{{"nodes":{{{ROOT}}},"resources":{{}},"affinity":{{}},"tolerations":[{{"key":"spot",'
            '"effect":"NoSchedule"}]}',
        ),
        (
            {"nodes": EMPTY, "affinity": AFFINITY},
            f'{{"nodes":{{{ROOT}}},"resources":{{}},"affinity":{{"nodeAffinity":'
            '{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"preference":{"matchExpressions":'
            '[{"key":"zone","operator":"In","values":["a"]}]}}]},"podAffinity":'
            '{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchLabels":{"a":"2","b":"1"}},'
            '"topologyKey":"zone"}]}}}',
        ),
    ],
)
def test_the_spec_as_go_writes_it(spec: dict[str, Any], expected: str) -> None:
    """Members come in the order of Go's types; empty ones go, but for those that Go keeps behind pointers."""
    assert graph_json(InferenceGraphSpec.read(spec), {}) == expected


def test_steps_as_go_writes_them() -> None:
    """A step that names a service keeps the name and gets the URL; `<`, `>` and `&` are escaped."""
    step = {
        "dependency": "Hard",
        "condition": "a < b > c & d",
        "weight": 0,
        "mapPredictionsToInstances": False,
        "data": "$response",
        "serviceName": "scorer",
        "name": "score",
    }
    spec = {"nodes": {"root": {"steps": [step, {"nodeName": "x"}], "routerType": "Sequence"}}}
    assert graph_json(InferenceGraphSpec.read(spec), {("root", 0): "http://s/v1"}) == (
        '{"nodes":{"root":{"routerType":"Sequence","steps":[{"name":"score","serviceName":"scorer",'
        '"serviceUrl":"http://s/v1","data":"$response","weight":0,'
        '"condition":"a \\u003c b \\u003e c \\u0026 d","dependency":"Hard"},{"nodeName":"x"}]}},"resources":{}}'
    )
