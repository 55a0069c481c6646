"""The readiness probe that the agent is told: which one, and how it is written."""

from __future__ import annotations

import json

import pytest

from kservec.core.sidecars.readiness import probe_path, probe_text

TIMING = '"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3'


@pytest.mark.parametrize(
    ("probe", "text", "path"),
    [
        ({"tcpSocket": {"port": 8080}}, f'{{"tcpSocket":{{"port":8080}},{TIMING}}}', "/"),
        ({"tcpSocket": {"port": "web", "host": "h"}}, f'{{"tcpSocket":{{"port":9000,"host":"h"}},{TIMING}}}', "/"),
        ({"httpGet": {"port": 1}}, f'{{"httpGet":{{"path":"/","port":1,"scheme":"HTTP"}},{TIMING}}}', "/"),
        (
            {"httpGet": {"path": "/r?a=1&b", "port": "web", "scheme": "HTTPS", "host": "h",
                         "httpHeaders": [{"value": "v", "name": "n"}]}},
            '{"httpGet":{"path":"/r?a=1\\u0026b","port":9000,"host":"h","scheme":"HTTPS",'
            f'"httpHeaders":[{{"name":"n","value":"v"}}]}},{TIMING}}}',
            "/r?a=1&b",
        ),
        ({"tcpSocket": {"port": "other"}}, f'{{"tcpSocket":{{"port":"other"}},{TIMING}}}', "/"),
        (
            {"tcpSocket": {"port": 1}, "failureThreshold": 9, "periodSeconds": 0, "initialDelaySeconds": 4,
             "terminationGracePeriodSeconds": 0},
            '{"tcpSocket":{"port":1},"initialDelaySeconds":4,"timeoutSeconds":1,"periodSeconds":10,'
            '"successThreshold":1,"failureThreshold":9,"terminationGracePeriodSeconds":0}',
            "/",
        ),
        ({"exec": {"command": ["true"]}}, "", "/"),
        ({"grpc": {"port": 1}}, "", "/"),
        (None, f'{{"tcpSocket":{{"port":9000}},{TIMING}}}', "/"),
    ],
)  # fmt: skip
def test_the_agent_probes_as_the_kubelet_would(probe, text, path) -> None:
    """The probe is written as Go writes it, with the API server's defaults and the number of a named port."""
    served = {"readinessProbe": probe, "ports": [{"name": "web", "containerPort": 9000}]}
    assert probe_text(served) == text
    assert probe_path(served) == path
    assert not text or json.loads(text)
