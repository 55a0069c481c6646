"""LoRA adapters: downloads, mounts, arguments."""

from __future__ import annotations

import pytest
from tests.llm.workloads import MODEL, build, mounts, named, pod, single


def lora(*adapters: tuple[str, str], uri: str = MODEL, **limits: int) -> dict[str, object]:
    """A model with adapters, given by name and URI."""
    entries = [{"name": name, "uri": place} for name, place in adapters]
    return {"uri": uri, "name": "tiny", "lora": {"adapters": entries, **limits}}


def test_adapters_are_downloaded_with_the_model(bench) -> None:
    """One container downloads all, sorted by name, into the folder that they share."""
    built = build(bench, single(model=lora(("b", "s3://x/b"), ("a", "hf://acme/a"))))
    pairs = [MODEL, "/mnt/models", "hf://acme/a", "/mnt/lora/a", "s3://x/b", "/mnt/lora/b"]
    assert built.initializer["args"] == pairs
    assert mounts(built.server) == {"/mnt": "kserve-provision-location"}


@pytest.mark.parametrize(
    ("adapters", "folder"),
    [((("a", "hf://acme/a"),), "/mnt/lora/a"), ((("a", "hf://acme/a"), ("b", "hf://acme/b")), "/mnt/lora")],
)
def test_adapters_of_a_model_on_a_claim(bench, adapters, folder) -> None:
    """Only they are downloaded."""
    built = build(bench, single(model=lora(*adapters, uri="pvc://models/tiny")))
    expected = {"/mnt/models": "kserve-pvc-source", folder: "kserve-provision-location"}
    assert mounts(built.server) == expected


def test_adapters_on_claims_are_mounted(bench) -> None:
    """Each has a volume of its own, with a name that an API server takes."""
    built = build(bench, single(model=lora(("sql", "pvc://adapters/sql"), ("Ünfit.Name", "pvc://adapters/odd"))))
    volumes = [v["name"] for v in built.pod["volumes"] if "persistentVolumeClaim" in v]
    assert volumes[0] == "lora-pvc-sql"
    assert volumes[1].startswith("lora-pvc-nfit-name-")
    mounted = {m["mountPath"]: m.get("subPath") for m in built.server["volumeMounts"]}
    assert mounted == {"/mnt/lora/sql": "sql", "/mnt/lora/-nfit.Name": "odd", "/mnt/models": None}


def test_the_server_is_told_of_adapters(bench) -> None:
    """By both names, before the user's own arguments, in quotes that survive the shell; limits only if they are set."""
    template = pod(containers=[{"name": "main", "image": "x:1", "args": ["--mine"]}])
    built = build(bench, single(model=lora(("a", "hf://acme/a"), maxRank=8, maxCpuAdapters=4), template=template))
    assert built.server["args"] == [
        "--enable-lora",
        "--max-lora-rank=8",
        "--max-cpu-loras=4",
        "--lora-modules",
        """'{"name":"a","path":"/mnt/lora/a"}'""",
        """'{"name":"publishers/ml/models/a","path":"/mnt/lora/a"}'""",
        "--mine",
    ]


@pytest.mark.parametrize(
    "told",
    [
        {"args": ["--lora-modules", "a=/mnt/a"]},
        {"command": ["sh", "-c", "vllm serve --lora-modules a=/mnt/a"]},
        {"env": [{"name": "VLLM_ADDITIONAL_ARGS", "value": "--lora-modules a=/mnt/a"}]},
    ],
)
def test_a_server_that_is_told_already_is_left_alone(bench, told) -> None:
    """The adapters are brought in all the same."""
    template = pod(containers=[{"name": "main", "image": "x:1", **told}])
    built = build(bench, single(model=lora(("a", "hf://acme/a")), template=template))
    assert built.server.get("args") == told.get("args")
    assert "/mnt/lora/a" in built.initializer["args"]


@pytest.mark.parametrize(
    ("model", "more", "slug"),
    [
        (lora(("a", "oci://r.example.com/a:1")), {}, "llm/adapter-uri"),
        (lora(("a", "gs://bucket/a")), {}, "llm/adapter-uri"),
        (lora(("a", "adapters/a")), {}, "llm/adapter-uri"),
        (lora(("a", "hf://acme/a")), {"storageInitializer": {"enabled": False}}, "llm/adapter-uri"),
        (lora(("a", "pvc://adapters/a")), {"storageInitializer": {"enabled": False}}, "llm/adapter-uri"),
        (lora(("a b", "hf://acme/a"), ("a/b", "hf://acme/b")), {}, "llm/adapters-share-path"),
        (lora(("a", "hf://acme/a")), {"template": {"containers": [{"name": "x"}]}}, "llm/no-server"),
    ],
)
def test_adapters_that_cannot_be_had(bench, model, more, slug) -> None:
    """The finding is at the adapter."""
    built = build(bench, single(model=model, **more))
    assert built.slugs == [slug]
    assert built.diagnostics[0].span is not None


def test_all_servers_know_the_adapters(bench) -> None:
    """Prefilling ones too."""
    built = build(bench, single(model=lora(("a", "hf://acme/a")), prefill={"template": pod()}))
    for name in ("chat-kserve", "chat-kserve-prefill"):
        server = named(built.of("Deployment", name)["spec"]["template"]["spec"]["containers"], "main")
        assert server["args"][0] == "--enable-lora"
