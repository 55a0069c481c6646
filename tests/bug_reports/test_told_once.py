"""One mistake of a spec, of which several objects or rules have something to say."""

from __future__ import annotations

from typing import Any

import pytest

from .making import SERVER, built, model, runtime, service

LARGE = {"example.com/note": "x" * 270_000}
GPU = "nvidia.com/gpu"


def errors(predictor: dict[str, Any], *, more: tuple[dict[str, Any], ...] = (), **spec: Any) -> list[tuple[str, int]]:
    """The errors of a service, each with the line that it is at."""
    found = [d for d in built(*more, service(predictor, **spec)).diagnostics if d.is_error]
    return [(d.code.slug, d.span.line if d.span is not None else 0) for d in found]


def resources(**amounts: dict[str, str]) -> dict[str, Any]:
    """A predictor whose server has limits and requests."""
    return model(model={"resources": amounts})


def port(**more: Any) -> dict[str, Any]:
    """A predictor whose server listens on one port."""
    return model(model={"ports": [{"containerPort": 8080, **more}]})


def test_annotations_of_a_component() -> None:
    """All objects of a component have its annotations; what is too large is one field."""
    assert [slug for slug, _ in errors(model(annotations=LARGE))] == ["output/refused"]


def test_annotations_of_two_components() -> None:
    """Those of another component are another mistake."""
    transformer = {"annotations": {"example.com/other": "y" * 270_000}, "containers": [{"name": "a", "image": "a:1"}]}
    found = errors(model(annotations=LARGE), transformer=transformer)
    assert [slug for slug, _ in found] == ["output/refused"] * 2
    assert len({line for _, line in found}) == 2


@pytest.mark.parametrize("protocol", ["HTTP", "tcp"])
def test_the_protocol_of_a_port(protocol: str) -> None:
    """The Service has it of the container, where it is told of."""
    (found,) = errors(port(protocol=protocol))
    assert found[0] == "output/refused"
    assert found[1] > 10


def test_the_protocol_of_a_port_of_a_runtime() -> None:
    """A canary's server has the port of the same runtime."""
    canary = [{"trafficPercent": 10, "predictor": {"name": "v2", "model": {"name": SERVER, **model()["model"]}}}]
    server = runtime(ports=[{"containerPort": 8080, "protocol": "HTTP"}])
    assert [slug for slug, _ in errors(model(), more=(server,), canary=canary)] == ["output/refused"]


def test_two_ports_are_two_mistakes() -> None:
    """Each is told of at its own place."""
    ports = [{"containerPort": n, "name": f"p{n}", "protocol": "HTTP"} for n in (8080, 8081)]
    found = errors(model(model={"ports": ports}))
    assert [slug for slug, _ in found] == ["output/refused"] * 2
    assert len({line for _, line in found}) == 2


@pytest.mark.parametrize(
    "predictor",
    [
        resources(limits={"memory": "-1Gi"}, requests={"memory": "1Gi"}),
        resources(limits={GPU: "-1"}, requests={GPU: "1"}),
        resources(limits={GPU: "1"}, requests={GPU: "-1"}),
        resources(requests={GPU: "-1"}),
    ],
)
@pytest.mark.parametrize("mode", ["Standard", "Knative"])
def test_amounts_below_zero(predictor: dict[str, Any], mode: str) -> None:
    """That a request is over such a limit, or is not the limit, follows."""
    assert [slug for slug, _ in errors(predictor, mode=mode)] == ["pod/invalid-value"]


def test_a_request_over_its_limit_is_still_refused() -> None:
    """Where both are amounts."""
    found = errors(resources(limits={"memory": "1Gi"}, requests={"memory": "2Gi"}))
    assert [slug for slug, _ in found] == ["pod/request-over-limit"]


@pytest.mark.parametrize(
    ("own", "kind", "meant"),
    [
        ({"limits": {"memory": "4"}}, "limits", "4Gi"),
        ({"requests": {"memory": "4"}, "limits": {"memory": "2"}}, "requests", "4Gi"),
        ({"requests": {"cpu": "4Gi"}}, "requests", "4"),
    ],
)
def test_an_odd_amount_is_why_a_request_is_over_its_limit(own: dict[str, Any], kind: str, meant: str) -> None:
    """To mend it is enough: nothing else is proposed, and its place is shown, not that of the runtime's amount."""
    full = {"requests": {"memory": "2Gi", "cpu": "1"}, "limits": {"memory": "2Gi", "cpu": "1"}}
    result = built(runtime(resources=full), service(model(model={"resources": own})))
    (error,) = (d for d in result.diagnostics if d.is_error)
    assert (error.code.slug, error.help) == ("pod/request-over-limit", f"did you mean {meant}?")
    first = next(d for d in result.diagnostics if d.code.slug == "output/quantity-odd" and d.help == error.help)
    assert first.span == error.span
    assert kind in first.message
    assert result.diagnostics.index(first) < result.diagnostics.index(error)


SPREAD = {"topologyKey": "a", "maxSkew": 1, "minDomains": 2, "labelSelector": {"matchLabels": {"a": "b"}}}
MOUNT = {"name": "v", "mountPath": "/v", "recursiveReadOnly": "enabled"}
INIT = {"name": "i", "image": "i:1", "restartPolicy": "always", "lifecycle": {"preStop": {"sleep": {"seconds": 1}}}}


@pytest.mark.parametrize(
    ("pod", "meant"),
    [
        ({"tolerations": [{"operator": "Exist"}]}, "Exists"),
        ({"tolerations": [{"key": "a", "effect": "noexecute", "tolerationSeconds": 3}]}, "NoExecute"),
        ({"securityContext": {"seccompProfile": {"type": "localhost", "localhostProfile": "a"}}}, "Localhost"),
        ({"securityContext": {"appArmorProfile": {"type": "localhost", "localhostProfile": "a"}}}, "Localhost"),
        ({"topologySpreadConstraints": [{**SPREAD, "whenUnsatisfiable": "donotschedule"}]}, "DoNotSchedule"),
        ({"volumes": [{"name": "v", "emptyDir": {}}], "model": {"volumeMounts": [MOUNT]}}, "Enabled"),
        ({"initContainers": [INIT]}, "Always"),
    ],
)
def test_nothing_follows_from_a_misspelt_choice(pod: dict[str, Any], meant: str) -> None:
    """What a field has to be beside others is not judged by a value that it cannot have."""
    whole = model(**pod) if "model" not in pod else {**model(model=pod["model"]), "volumes": pod["volumes"]}
    (error,) = (d for d in built(runtime(), service(whole)).diagnostics if d.is_error)
    assert error.code.slug == "pod/invalid-value"
    assert error.help == f"did you mean {meant}?"


@pytest.mark.parametrize(
    ("fields", "remedies"),
    [
        ({"storageURI": "a"}, ["did you mean storageUri?"]),
        ({"storageUri": "s3://a", "storageURI": "s3://a"}, ["storageUri is there as well: take one of the two out"]),
        (
            {"storageURI": "s3://a/b", "storageUrl": "s3://a/b"},
            [f"storageUri seems to be meant, and by {other}, too: take one of the two out"
             for other in ("storageUrl", "storageURI")],
        ),
    ],
)  # fmt: skip
def test_a_field_that_is_there_is_not_proposed(fields: dict[str, str], remedies: list[str]) -> None:
    """Who followed that would have the field twice, which no parser takes."""
    result = built(runtime(), service({"model": {"modelFormat": {"name": "acme"}, **fields}}))
    assert [d.help for d in result.diagnostics if d.code.slug == "schema/unknown-field"] == remedies


@pytest.mark.parametrize(
    ("name", "meant"), [("kserve-containr", "call it kserve-container, "), ("sidecar", ""), ("mian", "")]
)
def test_a_container_without_an_image_whose_name_is_misspelt(name: str, meant: str) -> None:
    """It needs none under the name that was meant, where the runtime gives it one."""
    found = built(runtime(), service(model(containers=[{"name": name, "resources": {}}]))).diagnostics
    (error,) = (d for d in found if d.is_error)
    assert error.code.slug == "pod/missing-value"
    assert error.help == (f"{meant}if that is the container that is meant; else add image" if meant else "add image")
    assert ("pod/container-name" in [d.code.slug for d in found]) is bool(meant)


def test_a_custom_server_without_an_image() -> None:
    """No other container is there to have it."""
    (error,) = (d for d in built(service({"containers": [{"name": "kserve-containr"}]})).diagnostics if d.is_error)
    assert error.help == "add image"
