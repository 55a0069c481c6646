"""The rules of KServe's webhooks for serving runtimes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kservec.admission.servingruntime import admit_runtimes
from kservec.core.catalog import Runtime
from kservec.core.text.source import parse
from kservec.spec.servingruntime import ServingRuntimeSpec


def runtime(name: str, namespace: str = "ml", **spec: Any) -> Runtime:
    """A runtime of that name in a file of that name."""
    spec = {"protocolVersions": ["v1"], "containers": [{"name": "kserve-container"}], **spec}
    (document,), _ = parse(json.dumps({"spec": spec}, indent=1).encode(), f"{name}.yaml")
    model = ServingRuntimeSpec.read(spec)
    return Runtime(name=name, namespace=namespace, annotations={}, created="", spec=model, document=document)


def serves(name: str, priority: int | None, **more: Any) -> dict[str, Any]:
    """An entry of supportedModelFormats that is selected automatically."""
    return {"name": name, "autoSelect": True, **({} if priority is None else {"priority": priority}), **more}


def found(*runtimes: Runtime, existing: tuple[Runtime, ...] = ()) -> list[str]:
    """The findings about runtimes: code and file."""
    return [f"{d.code.slug} {d.span.file}" for d in admit_runtimes(runtimes, existing) if d.span is not None]


def offers(name: str, *formats: dict[str, Any], namespace: str = "ml", **spec: Any) -> Runtime:
    """A runtime that serves some formats."""
    return runtime(name, namespace, supportedModelFormats=list(formats), **spec)


FIRST = offers("first", serves("churn", 1))


def test_the_second_of_two_equal_priorities_is_refused() -> None:
    """KServe refuses the runtime that is created later, whatever the letter case of the format."""
    (finding,) = admit_runtimes([FIRST, offers("second", serves("Churn", 1))])
    assert finding.code.slug == "runtime/same-priority"
    assert finding.span is not None
    assert finding.span.file == "second.yaml"
    assert [span.file for span, _ in finding.related] == ["first.yaml"]
    assert "first" in finding.message


@pytest.mark.parametrize(
    "second",
    [
        offers("second", serves("churn", 2)),
        offers("second", serves("churn", None)),
        offers("second", serves("churn", 1, version="1")),
        offers("second", serves("churn", 1, autoSelect=False)),
        offers("second", serves("other", 1)),
        offers("second", serves("churn", 1), namespace="dev"),
        offers("second", serves("churn", 1), namespace=""),
        offers("second", serves("churn", 1), disabled=True),
        offers("second", serves("churn", 1), multiModel=True),
        offers("second", serves("churn", 1), protocolVersions=["v2"]),
        offers("second", serves("churn", 1), protocolVersions=[]),
        offers("first", serves("churn", 1)),
    ],
    ids=[
        "another priority", "no priority", "another version", "not selected", "another format", "another namespace",
        "the cluster's", "disabled", "multi-model", "another protocol", "no protocol", "the same runtime",
    ],
)  # fmt: skip
def test_runtimes_that_do_not_compete(second: Runtime) -> None:
    """Equal priorities are fine for runtimes that never stand for election together."""
    assert found(FIRST, second) == []


def test_a_runtime_competes_with_those_of_the_platform() -> None:
    """The user's runtime is refused, not the one that is in the cluster already."""
    assert found(offers("mine", serves("churn", 1)), existing=(FIRST,)) == ["runtime/same-priority mine.yaml"]


def test_a_replaced_runtime_does_not_compete() -> None:
    """What the user's runtime takes the place of is not there any more."""
    mine = offers("first", serves("churn", 1))
    assert found(mine, offers("other", serves("churn", 2)), existing=(FIRST,)) == []


def test_two_priorities_in_one_runtime() -> None:
    """KServe checks a runtime's own priorities once there is another runtime in its scope."""
    torn = offers("torn", serves("churn", 1, version="1"), serves("churn", 2, version="2"))
    assert found(torn) == []
    assert found(torn, existing=(runtime("other"),)) == ["runtime/two-priorities torn.yaml"]
    assert found(torn, existing=(runtime("other", "dev"),)) == []


def test_a_first_entry_without_a_priority_hides_the_others() -> None:
    """KServe compares with the first entry of a format only."""
    hidden = offers("hidden", serves("churn", None), serves("churn", 1, version="1"), serves("churn", 2, version="2"))
    assert found(hidden, existing=(runtime("other"),)) == []


WORKER = {"name": "worker-container"}
GPU = {"limits": {"example.com/tpu": 1}}
ENVIRONMENT = [{"name": "TENSOR_PARALLEL_SIZE", "value": "2"}, {"name": "PIPELINE_PARALLEL_SIZE", "value": "2"}]


@pytest.mark.parametrize(
    ("spec", "codes"),
    [
        ({"containers": [{"name": "a", "env": [{"name": "PYTHONPATH"}]}]}, ["env/blocked"]),
        ({"workerSpec": {"containers": [{**WORKER, "env": [{"name": "PYTHONPATH"}]}]}}, ["env/blocked"]),
        ({"workerSpec": {"containers": []}}, ["runtime/no-worker-container"]),
        ({"workerSpec": {"containers": [WORKER, {"name": "b"}]}}, ["multi-node/several-containers"]),
        (
            {"workerSpec": {"containers": [WORKER], "tensorParallelSize": 0, "pipelineParallelSize": -1}},
            ["multi-node/size", "multi-node/size"],
        ),
        (
            {"workerSpec": {"containers": [WORKER]}, "containers": [{"name": "kserve-container", "env": ENVIRONMENT}]},
            ["multi-node/size-in-environment", "multi-node/size-in-environment"],
        ),
        ({"workerSpec": {"containers": [{**WORKER, "resources": GPU}]}}, ["multi-node/unknown-gpu"]),
        ({"workerSpec": {"containers": [{"name": "other", "resources": GPU}]}}, []),
        (
            {"workerSpec": {"containers": [WORKER]}, "containers": [{"name": "kserve-container", "resources": GPU}]},
            ["multi-node/unknown-gpu"],
        ),
        ({"containers": [{"name": "kserve-container", "resources": GPU}]}, []),
        (
            {
                "annotations": {"serving.kserve.io/gpu-resource-types": '["example.com/tpu"]'},
                "workerSpec": {"containers": [{**WORKER, "resources": GPU}]},
            },
            [],
        ),
        (
            {
                "annotations": {"serving.kserve.io/gpu-resource-types": "tpu"},
                "workerSpec": {"containers": [{**WORKER, "resources": GPU}]},
            },
            ["multi-node/gpu-annotation"],
        ),
        ({"disabled": True, "workerSpec": {"containers": []}}, []),
    ],
    ids=[
        "PYTHONPATH", "PYTHONPATH of a worker", "no worker container", "two worker containers", "sizes", "sizes in env",
        "unknown GPU of a worker", "unknown GPU of another container", "unknown GPU", "unknown GPU without workers",
        "GPU by annotation", "malformed annotation", "disabled",
    ],
)  # fmt: skip
def test_rules_for_one_runtime(spec: dict[str, Any], codes: list[str]) -> None:
    """Each spec gets exactly these findings."""
    assert found(runtime("mine", **spec)) == [f"{code} mine.yaml" for code in codes]
