"""Services and configs of v1alpha1 become such of v1alpha2, and findings still point at what was written."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.admission.llm.conversion import convert

from .judging import CONFIG, SERVICE, admitted, lines_of, quoted

OLD, NEW = "serving.kserve.io/v1alpha1", "serving.kserve.io/v1alpha2"


def of(spec: Any, **metadata: Any) -> Any:
    """A service of v1alpha1."""
    return {"apiVersion": OLD, "kind": SERVICE, "metadata": {"name": "chat", **metadata}, "spec": spec}


def pool_of(pool: Any) -> Any:
    """What the spec of a pool becomes."""
    converted = convert(of({"router": {"scheduler": {"pool": {"spec": pool}}}})).value
    return converted["spec"]["router"]["scheduler"]["pool"]["spec"]


def test_what_is_stored_already_stays() -> None:
    """A document of v1alpha2 is not copied."""
    value = {**of({"model": {"uri": "hf://a/b"}}), "apiVersion": NEW}
    assert convert(value).value is value


def test_an_argument_is_not_changed() -> None:
    """Conversion makes a new value."""
    spec = {"model": {"criticality": "Critical", "lora": {"adapters": [{"name": "a", "criticality": "Standard"}]}}}
    value = of(spec)
    convert(value)
    assert value == of(
        {"model": {"criticality": "Critical", "lora": {"adapters": [{"name": "a", "criticality": "Standard"}]}}}
    )


def test_criticality_becomes_annotations() -> None:
    """That of the model and those of adapters, the latter by their numbers; other annotations stay."""
    adapters = [{"name": "a"}, {"name": "b", "criticality": "Sheddable"}]
    spec = {"model": {"uri": "hf://a/b", "criticality": "Critical", "lora": {"adapters": adapters}}}
    converted = convert(of(spec, annotations={"team": "ml"})).value
    assert converted["apiVersion"] == NEW
    assert converted["spec"] == {"model": {"uri": "hf://a/b", "lora": {"adapters": [{"name": "a"}, {"name": "b"}]}}}
    assert converted["metadata"]["annotations"] == {
        "team": "ml",
        "internal.serving.kserve.io/model-criticality": "Critical",
        "internal.serving.kserve.io/lora-criticalities": '{"1":"Sheddable"}',
    }


def test_no_criticality_makes_no_annotations() -> None:
    """Without one the metadata stays as it is."""
    value = of({"model": {"uri": "hf://a/b", "criticality": ""}})
    converted = convert(value).value
    assert converted["metadata"] is value["metadata"]
    assert converted["spec"] == {"model": {"uri": "hf://a/b"}}


@pytest.mark.parametrize(
    ("extension", "picker"),
    [
        ({"name": "epp"}, {"group": "", "kind": "Service", "port": {"number": 9002}, "failureMode": "FailClose"}),
        (
            {"name": "epp", "portNumber": 1, "failureMode": "FailOpen", "group": "g"},
            {"group": "g", "kind": "Service", "port": {"number": 1}, "failureMode": "FailOpen"},
        ),
        ({"name": "epp", "kind": "Picker"}, {"group": "", "kind": "Picker", "failureMode": "FailClose"}),
    ],
)
def test_a_pool(extension: Any, picker: Any) -> None:
    """Selector, port and picker are written in another way; a Service gets a port."""
    assert pool_of({"selector": {"app": "x"}, "targetPortNumber": 8000, "extensionRef": extension}) == {
        "selector": {"matchLabels": {"app": "x"}},
        "targetPorts": [{"number": 8000}],
        "endpointPickerRef": {"name": "epp", **picker},
    }


def test_findings_point_at_what_was_written() -> None:
    """What was moved is found where it stands in v1alpha1."""
    found = admitted(
        "spec:\n"
        "  router:\n"
        "    scheduler:\n"
        "      pool:\n"
        "        spec:\n"
        "          selector: {app: x}\n"
        "          targetPortNumber: 8000\n"
        "          extensionRef:\n"
        "            name: epp\n"
        "            portNumber: 9009\n",
        version="v1alpha1",
    )
    pool = ("spec", "router", "scheduler", "pool", "spec")
    lines = lines_of(found)

    def line(*path: str | int) -> str:
        return lines[found.source.span(*pool, *path).line - 1].strip()

    assert found.diagnostics == ()
    assert line("selector", "matchLabels", "app") == "selector: {app: x}"
    assert line("targetPorts", 0, "number") == "targetPortNumber: 8000"
    assert line("endpointPickerRef", "port", "number") == "portNumber: 9009"
    assert line("endpointPickerRef", "name") == "name: epp"


def test_a_config_is_converted_too() -> None:
    """Configs of v1alpha1 are judged as those of v1alpha2."""
    found = admitted("spec:\n  baseRefs: [{name: a}]\n", CONFIG, "v1alpha1")
    assert found.value["apiVersion"] == NEW
    assert quoted(found.diagnostics, found) == ["llm/config-base-refs | baseRefs: [{name: a}]"]
