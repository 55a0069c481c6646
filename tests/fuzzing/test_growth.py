"""What is there four times as often takes about four times as long, in one line or in many, right or wrong."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import pytest

from kservec import compile_text
from kservec.report.text import text_report

FEW, MANY = 200, 800
LEAST_SECONDS = 0.4
"""Below this nothing is concluded: other things on the machine take as long."""
MOST = 9.0
"""How many times as long the larger input may take. Four would be exact, sixteen the square."""
KSERVE = "serving.kserve.io"
GOOD = {"model": {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://models/iris"}}


def thing(kind: str, name: str, spec: Any, version: str = "v1alpha1", **metadata: Any) -> Any:
    """An object of KServe's."""
    named = {"name": name, "namespace": "ml", **metadata}
    return {"apiVersion": f"{KSERVE}/{version}", "kind": kind, "metadata": named, "spec": spec}


def service(name: str = "iris", predictor: Any = None, **metadata: Any) -> Any:
    """An InferenceService."""
    annotations = {f"{KSERVE}/deploymentMode": "Standard", **metadata.pop("annotations", {})}
    spec = {"predictor": predictor or GOOD}
    return thing("InferenceService", name, spec, "v1beta1", annotations=annotations, **metadata)


def own(**container: Any) -> Any:
    """A service with a container of its own."""
    return {"containers": [{"name": "kserve-container", "image": "scorer:1", **container}]}


def graph(nodes: Any) -> Any:
    """A graph."""
    return thing("InferenceGraph", "g", {"nodes": nodes})


def calling(*steps: Any) -> Any:
    """A node that calls one after the other."""
    return {"routerType": "Sequence", "steps": list(steps)}


def config(**sections: Any) -> Any:
    """KServe's configuration."""
    metadata = {"name": "inferenceservice-config", "namespace": "kserve"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": sections}


def volumes(n: int, name: str) -> Any:
    """A pod with volumes of its own, and mounts of volumes that begin with a name."""
    mounts = [{"name": f"{name}{i}", "mountPath": f"/{i}"} for i in range(n)]
    return {**own(volumeMounts=mounts), "volumes": [{"name": f"v{i}", "emptyDir": {}} for i in range(n)]}


URL = {"serviceUrl": "http://a"}
OBJECTS: dict[str, Callable[[int], list[Any]]] = {
    "services without a runtime": lambda n: [
        service(f"iris-{i}", {"model": {**GOOD["model"], "modelFormat": {"name": "skleam"}}}) for i in range(n)
    ],
    "one service again and again": lambda n: [service() for _ in range(n)],
    "variables": lambda n: [service(predictor=own(env=[{"name": f"A{i}", "value": f"$(A{i - 1})"} for i in range(n)]))],
    "one variable again and again": lambda n: [service(predictor=own(env=[{"name": "A", "value": "b"}] * n))],
    "mounts": lambda n: [service(predictor=volumes(n, "v"))],
    "mounts of nothing": lambda n: [service(predictor=volumes(n, "w"))],
    "containers": lambda n: [
        service(predictor={"containers": [*own()["containers"], *({"name": f"c{i}", "image": "a"} for i in range(n))]})
    ],
    "containers with bad names": lambda n: [
        service(predictor={"containers": [*own()["containers"], *({"name": f"C{i}", "image": "a"} for i in range(n))]})
    ],
    "one port again and again": lambda n: [service(predictor=own(ports=[{"containerPort": 80}] * n))],
    "labels that are none": lambda n: [service(labels={f"l{i}": "x y" for i in range(n)})],
    "misspelt annotations": lambda n: [service(annotations={f"{KSERVE}/deploymentMod{i}": "x" for i in range(n)})],
    "misspelt fields": lambda n: [service(predictor={f"storageUr{i}": 1 for i in range(n)})],
    "a long word": lambda n: [service(predictor={"s" * n * 20: 1, **GOOD})],
    "a long URI": lambda n: [service(predictor={"model": {**GOOD["model"], "storageUri": "a://b:" * n * 50}})],
    "canaries": lambda n: [
        thing(
            "InferenceService",
            "iris",
            {"predictor": GOOD, "canary": [{"name": f"c{i}", "predictor": GOOD} for i in range(n)]},
            "v1beta1",
        )
    ],
    "digits of an interval": lambda n: [
        service(predictor={**GOOD, "logger": {"mode": "all", "url": "http://a", "batchInterval": "9" * n * 25}})
    ],
    "trained models": lambda n: [
        service(predictor={"model": {"modelFormat": {"name": "sklearn"}}}),
        *(
            thing(
                "TrainedModel",
                f"t{i}",
                {
                    "inferenceService": "iris",
                    "model": {"framework": "sklearn", "memory": "1Mi", "storageUri": "s3://a/b"},
                },
            )
            for i in range(n)
        ),
    ],
    "nodes that nobody reaches": lambda n: [
        graph({"root": calling(URL), **{f"n{i}": calling({"serviceName": f"z{i}"}) for i in range(n)}})
    ],
    "nodes one after the other": lambda n: [
        graph(
            {
                "root": calling({"nodeName": "n0"}),
                **{f"n{i}": calling({"nodeName": f"n{i + 1}"} if i < n - 1 else URL) for i in range(n)},
            }
        )
    ],
    "settings that nobody knows": lambda n: [
        service(),
        config(ingress=json.dumps({f"ingressDomai{i}": "x" for i in range(n)})),
    ],
    "sections that nobody knows": lambda n: [service(), config(**{f"ingres{i}": "{}" for i in range(n)})],
    "no objects": lambda n: [{"a": i} for i in range(n)],
}
TEXTS: dict[str, Callable[[int], str]] = {
    "conflicts": lambda n: "<<<<<<< HEAD\na: b\n=======\na: c\n>>>>>>> x\n" * n,
    "open quotes": lambda n: 'a: "b\n' * n,
    "maps merged into maps": lambda n: (
        "m0: &m0 {a: b}\n" + "".join(f"m{i}: &m{i}\n  <<: *m{i - 1}\n" for i in range(1, n))
    ),
    "broken documents": lambda n: "---\na: [\n" * n,
    "one key again and again": lambda n: "a: b\n" * n,
    "deep brackets": lambda n: "{" * n * 5,
    "blanks": lambda n: "a:" + " " * n * 500 + "[",
    "what looks like base64": lambda n: "A" * n * 500 + "\n",
    "user and password": lambda n: "a: x://" + "u:" * n * 100 + "@h\na: [",
    "control characters": lambda n: "a: \x01\n" * n,
    "templates": lambda n: "{{ .Values.a }}\n" * n,
    "escapes in JSON": lambda n: '{"a":"' + "\\u0041" * n * 50,
}


def seconds(text: str) -> float:
    """The processor time of a build with its report."""
    start = time.process_time()
    compiled = compile_text(text)
    text_report(compiled.diagnostics, compiled.sources)
    return time.process_time() - start


def judge(few: str, many: str) -> None:
    """Hold the times of two texts against each other; a second time where they seem to be too long."""
    ratio = 0.0
    for _ in range(2):
        short, long = seconds(few), seconds(many)
        ratio = long / max(short, LEAST_SECONDS / 4)
        if long < LEAST_SECONDS or ratio < MOST:
            return
    raise AssertionError(f"{ratio:.1f} times as long")


@pytest.mark.slow
@pytest.mark.parametrize("name", OBJECTS)
def test_more_of_a_kind_takes_as_much_longer(name: str) -> None:
    """Objects and their parts, each document in one line."""
    few, many = ("\n---\n".join(map(json.dumps, OBJECTS[name](n))) for n in (FEW, MANY))
    judge(few, many)


@pytest.mark.parametrize("name", TEXTS)
def test_more_of_a_text_takes_as_much_longer(name: str) -> None:
    """Text that is no object, or hardly one."""
    few, many = TEXTS[name](FEW), TEXTS[name](MANY)
    judge(few, many)
