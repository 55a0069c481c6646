"""Tiers of the key-value cache behind a server's memory."""

from __future__ import annotations

from tests.llm.workloads import build, mounts, named, single

TIERS = [
    {"fileSystem": {"emptyDir": {"size": "10Gi"}}},
    {"fileSystem": {"pvc": {"ref": {"name": "cache", "path": "hot"}}}},
    {"fileSystem": {"pvc": {"spec": {"accessModes": ["ReadWriteOnce"]}}}},
]


def test_each_tier_is_a_volume_of_the_server(bench) -> None:
    """A folder of the node, a claim that is there, and a claim that comes and goes with the pod."""
    built = build(bench, single(kvCacheOffloading={"cpu": "1Gi", "secondary": TIERS}))
    assert list(mounts(built.server))[-3:] == ["/mnt/kv-cache-0", "/mnt/kv-cache-1", "/mnt/kv-cache-2"]
    assert named(built.server["volumeMounts"], "kv-cache-secondary-1")["subPath"] == "hot"
    volumes = built.pod["volumes"]
    assert named(volumes, "kv-cache-secondary-0")["emptyDir"] == {"sizeLimit": "10Gi"}
    assert named(volumes, "kv-cache-secondary-1")["persistentVolumeClaim"] == {"claimName": "cache"}
    template = named(volumes, "kv-cache-secondary-2")["ephemeral"]["volumeClaimTemplate"]
    assert template == {"spec": {"accessModes": ["ReadWriteOnce"]}}


def test_what_lies_on_the_node_is_requested(bench) -> None:
    """It is added to what the server requests by itself."""
    server = {"name": "main", "image": "x:1", "resources": {"requests": {"ephemeral-storage": "6Gi", "cpu": "1"}}}
    tiers = {"cpu": "1Gi", "secondary": TIERS[:1]}
    built = build(bench, single(kvCacheOffloading=tiers, template={"containers": [server]}))
    assert built.server["resources"]["requests"] == {"ephemeral-storage": "16Gi", "cpu": "1"}


def test_each_workload_has_its_own_tiers(bench) -> None:
    """Those of prefill are not those of the main workload; without a server there is only the volume."""
    prefill = {"template": {"containers": [{"name": "x"}]}, "kvCacheOffloading": {"cpu": "1Gi", "secondary": TIERS[:1]}}
    built = build(bench, single(prefill=prefill))
    assert not [v for v in built.pod["volumes"] if v["name"].startswith("kv-cache")]
    spec = built.of("Deployment", "chat-kserve-prefill")["spec"]["template"]["spec"]
    assert named(spec["volumes"], "kv-cache-secondary-0")
    assert "volumeMounts" not in spec["containers"][0]
