"""Where findings about a merged service are shown: in the service, for it is the service that is refused."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.catalog import Catalog
from kservec.core.diagnostics import Diagnostic, ObjectRef
from kservec.core.llm.rules.merged import merged_findings
from kservec.core.platform import PlatformConfig
from kservec.core.registry import Env
from kservec.core.text.source import parse
from kservec.core.tree import Layer, Layers, Origin, Tree
from kservec.core.unit import Source, Unit
from kservec.io.packaged import packaged_schemas
from kservec.spec.llminferenceservice import LLMInferenceService

from .judging import PLUGS, SERVICE, platform_of
from .services import built, llm

REF = ObjectRef("serving.kserve.io/v1alpha2", SERVICE, "ml", "chat")
OWN = """\
apiVersion: serving.kserve.io/v1alpha2
kind: LLMInferenceService
metadata:
  name: chat
  namespace: ml
spec:
  baseRefs:
  - name: other
  - name: base
  scaling: {maxReplicas: 2, wva: {hpa: {}}}
"""
BASE = """\
spec:
  replicas: 1
  parallelism:
    data: 2
  template:
    containers:
    - name: main
      command: [vllm, serve]
      livenessProbe: {httpGet: {port: http}}
"""


def env(platform: PlatformConfig) -> Env:
    """What the pass would be handed."""
    return Env(plugs=PLUGS, schemas=packaged_schemas(), platform=platform, catalog=Catalog())


def found_in(own: str, config: str, by: str, merged: Any) -> tuple[Diagnostic, ...]:
    """What is said of a value that is merged from a service and one config."""
    (document,), (base,) = parse(own.encode(), "own.yaml")[0], parse(config.encode(), "base.yaml")[0]
    unit = Unit(ref=REF, source=Source(document=document), spec=LLMInferenceService.read(document.value))
    layers = (
        (document.value["spec"], unit.source.origin("spec")),
        (base.value["spec"], Origin(Layer.PRESET, by, base, ("spec",))),
    )
    platform = platform_of(ingress={"ingressGateway": "a/b"})
    return merged_findings(unit, Tree.of(merged, Layers(layers)), env(platform))


def shown(found: tuple[Diagnostic, ...]) -> list[Any]:
    """Each finding as its code, its file and line, and those of the other place that it names."""
    return [
        (d.code.slug, d.span and (d.span.file, d.span.line), *((s.file, s.line, text) for s, text in d.related))
        for d in found
    ]


SCALING = {"maxReplicas": 2, "wva": {"hpa": {}}}


def test_a_fault_of_the_service_itself() -> None:
    """It is shown where it is written."""
    found = found_in(OWN.replace("hpa: {}", ""), BASE, "base", {"scaling": {"maxReplicas": 2, "wva": {}}})
    assert shown(found) == [("llm/scaling-actuator", ("own.yaml", 10))]


def test_a_fault_of_two() -> None:
    """Both places are shown."""
    found = found_in(OWN, BASE, "base", {"scaling": SCALING, "replicas": 1})
    replicas = (("own.yaml", 9, "the replicas are here"), ("base.yaml", 2, "in LLMInferenceServiceConfig base"))
    assert shown(found) == [("llm/scaling-and-replicas", ("own.yaml", 10), *replicas)]


@pytest.mark.parametrize(("by", "line"), [("base", 9), ("kserve-config-llm-template", 4)])
def test_a_fault_that_a_config_brings(by: str, line: int) -> None:
    """It is shown at the base reference, or at the name for a preset, with the place in the config beside it."""
    found = found_in(OWN, BASE, by, {"parallelism": {"data": 2}})
    other = ("base.yaml", 4, f"in LLMInferenceServiceConfig {by}")
    assert shown(found) == [("llm/parallelism-data", ("own.yaml", line), other)]


def test_a_fault_within_a_part_that_the_service_has() -> None:
    """The nearest part of the service is shown, rather than its name."""
    own = f"{OWN}  template: {{containers: [{{name: main}}]}}\n"
    main = {"name": "main", "command": ["vllm", "serve"], "livenessProbe": {"httpGet": {"port": "http"}}}
    found = found_in(own, BASE, "base", {"template": {"containers": [main]}})
    assert shown(found) == [("llm/probe-port", ("own.yaml", 11), ("base.yaml", 9, "in LLMInferenceServiceConfig base"))]


def test_one_fault_of_a_config_is_said_once() -> None:
    """Of several findings of one code at one place the first counts."""
    rules = [{"matches": [{"path": {"value": f"/a b/{i}"}}]} for i in range(3)]
    found = found_in(OWN, BASE, "base", {"router": {"route": {"http": {"spec": {"rules": rules}}}}})
    assert shown(found) == [("llm/route-path", ("own.yaml", 4))]


def test_warnings_wait_for_errors() -> None:
    """What is refused is not judged further."""
    main = {"name": "main", "command": ["vllm", "serve"], "livenessProbe": {"httpGet": {"port": "http"}}}
    spec = {"template": {"containers": [main]}}
    assert [d.code.slug for d in found_in(OWN, BASE, "base", spec)] == ["llm/probe-port"]
    refused = found_in(OWN, BASE, "base", {**spec, "scaling": SCALING, "replicas": 1})
    assert [d.code.slug for d in refused] == ["llm/scaling-and-replicas"]


def test_annotations_are_the_services_own() -> None:
    """Those of configs never count."""
    own = OWN.replace("  name: chat\n", "  name: chat\n  annotations: {serving.kserve.io/exp-dra-device-class: A}\n", 1)
    assert shown(found_in(own, BASE, "base", {})) == [("llm/dra-class", ("own.yaml", 5))]


def test_a_container_without_an_image_that_was_meant_to_be_the_server() -> None:
    """The preset's has one, and what is written is laid over it once it has that name."""
    template = {"containers": [{"name": "mian", "env": [{"name": "A", "value": "b"}]}]}
    found = built(llm(template=template)).diagnostics
    (error,) = (d for d in found if d.is_error)
    assert "pod/container-name" in [d.code.slug for d in found]
    assert error.help == "call it main, if that is the container that is meant; else add image"
