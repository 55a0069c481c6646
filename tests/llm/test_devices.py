"""Devices that annotations ask for."""

from __future__ import annotations

from tests.llm.workloads import build, group, named, pod, single

KEY = "serving.kserve.io/exp-dra-"
ASKED = {f"{KEY}device-class": " gpu.example.com "}


def test_pods_claim_what_a_template_describes(bench) -> None:
    """The class, trimmed; the first container uses the devices."""
    built = build(bench, single(), annotations=ASKED)
    made = built.of("ResourceClaimTemplate", "chat-managed-dra")
    assert made["spec"]["spec"]["devices"]["requests"] == [
        {
            "name": "device",
            "exactly": {"deviceClassName": "gpu.example.com", "allocationMode": "ExactCount", "count": 1},
        }
    ]
    claim = {"name": "managed-device", "resourceClaimTemplateName": "chat-managed-dra"}
    assert built.pod["resourceClaims"] == [claim]
    assert built.server["resources"]["claims"] == [{"name": "managed-device"}]
    assert "labels" not in made["metadata"]


def test_how_many_and_which(bench) -> None:
    """A number above one, and an expression a line."""
    annotations = {**ASKED, f"{KEY}device-count": "2", f"{KEY}cel-selector": "device.a\n\n  device.b  "}
    made = build(bench, single(), annotations=annotations).of("ResourceClaimTemplate")
    exactly = made["spec"]["spec"]["devices"]["requests"][0]["exactly"]
    assert exactly["count"] == 2
    assert exactly["selectors"] == [{"cel": {"expression": "device.a"}}, {"cel": {"expression": "device.b"}}]


def test_the_container_may_be_named(bench) -> None:
    """One that is not there leaves the claim to the pod alone."""
    containers = [{"name": "first", "image": "x:1"}, *pod()["containers"]]
    template = {"containers": containers}
    chosen = build(bench, single(template=template), annotations={**ASKED, f"{KEY}container-name": "main"})
    assert "resources" not in named(chosen.pod["containers"], "first")
    assert chosen.server["resources"]["claims"] == [{"name": "managed-device"}]
    missing = build(bench, single(template=template), annotations={**ASKED, f"{KEY}container-name": "ghost"})
    assert missing.pod["resourceClaims"]
    assert not [c for c in missing.pod["containers"] if "resources" in c]


def test_claims_that_are_there_stay(bench) -> None:
    """Neither the pod nor the container gets a second one."""
    own = {"name": "managed-device", "resourceClaimName": "mine"}
    server = {"name": "main", "image": "x:1", "resources": {"claims": [{"name": "managed-device"}]}}
    template = {"containers": [server], "resourceClaims": [own]}
    built = build(bench, single(template=template), annotations=ASKED)
    assert built.pod["resourceClaims"] == [own]
    assert built.server["resources"]["claims"] == [{"name": "managed-device"}]


def test_all_servers_get_devices(bench) -> None:
    """Leaders and workers too."""
    template = build(bench, group(), annotations=ASKED).of("LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]
    assert all(template[name]["spec"]["resourceClaims"] for name in ("leaderTemplate", "workerTemplate"))
