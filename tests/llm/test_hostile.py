"""Values of types that no schema of configs and adapters rules out: a finding, never a bug report."""

from __future__ import annotations

from typing import Any

import pytest
from tests import libyaml

from kservec import compile_text

SPEC: dict[str, Any] = {"model": {"uri": "hf://org/model", "name": "m"}, "router": {"route": {}, "scheduler": {}}}


def document(kind: str, name: str, spec: Any) -> dict[str, Any]:
    """An object of KServe's."""
    return {
        "apiVersion": "serving.kserve.io/v1alpha2",
        "kind": kind,
        "metadata": {"name": name, "namespace": "ml"},
        "spec": spec,
    }


@pytest.mark.parametrize("adapters", [5, True, {"a": "b"}, [5], ["x"], [{"name": ["x"]}], [{"name": "a", "uri": 5}]])
def test_adapters_of_any_type(adapters: Any) -> None:
    """No schema says anything about adapters."""
    spec = {**SPEC, "model": {**SPEC["model"], "lora": {"adapters": adapters}}}
    assert not compile_text(libyaml.dump(document("LLMInferenceService", "m", spec))).ok


@pytest.mark.parametrize(
    "plugins", [5, "x", [5], [{"type": ["x"]}], [{"name": ["x"], "type": "queue-scorer"}], [{"name": {}, "type": None}]]
)
def test_plugins_of_any_type(plugins: Any) -> None:
    """Nor about the scheduler's configuration; it is handed on as it is."""
    inline = {
        "apiVersion": "llm-d.ai/v1alpha1",
        "kind": "EndpointPickerConfig",
        "plugins": plugins,
        "schedulingProfiles": [{"name": "default", "plugins": [{"pluginRef": "x"}, 5]}],
    }
    spec = {**SPEC, "router": {"route": {}, "scheduler": {"config": {"inline": inline}}}}
    assert compile_text(libyaml.dump(document("LLMInferenceService", "m", spec))).diagnostics


@pytest.mark.parametrize(
    "spec",
    [
        {"router": {"gateway": {"refs": [{}]}}},
        {"parallelism": {"tensor": 0}},
        {"template": {"containers": [{"name": "main", "resources": {"limits": {"memory": "much"}}}]}},
        {"router": {"scheduler": {"pool": {"spec": {"targetPorts": []}}}}},
        {"scaling": {"maxReplicas": 0}},
    ],
)
def test_base_configs_that_do_not_fit(spec: Any) -> None:
    """What only fits a config is an error where a service is merged with it."""
    service = document("LLMInferenceService", "m", {**SPEC, "baseRefs": [{"name": "base"}]})
    base = document("LLMInferenceServiceConfig", "base", spec)
    compiled = compile_text(libyaml.dump_all([service, base]))
    assert not compiled.ok
    assert all(found.span for found in compiled.diagnostics if found.is_error)
