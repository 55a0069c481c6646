"""Runtimes: arguments, images, placeholders, defaults, and which of several is taken."""

from __future__ import annotations

from typing import Any

import pytest
from tests import libyaml

from kservec import Target, compile_text
from kservec.api import NO_CATALOG

from .making import CONTAINER, DIGEST, GPU, POD, built, deployment, found, model, runtime, service

ARGS = ["--model_name={{.Name}}", "--http_port=8080", "--log-level", "info", "--docs"]
OWN_ARGS = ["--http_port=9090", "--log-level", "debug", "--workers=2"]


def test_arguments_of_runtime_and_spec_are_both_passed_on() -> None:
    """Arguments are appended as in KServe; options given twice are noted, and a port nobody asks at is a warning."""
    result = built(runtime(args=ARGS), service(model(model={"args": OWN_ARGS})))
    assert deployment(result, *CONTAINER, "args") == ["--model_name=churn", *ARGS[1:], *OWN_ARGS]
    assert found(result, notes=True).count("runtime/argument-twice") == 2
    (warning,) = (d for d in result.diagnostics if d.code.slug == "pod/port-elsewhere")
    assert "8080" in warning.message
    assert "9090" in warning.message
    listed = built(runtime(args=ARGS), service(model(model={"args": OWN_ARGS, "ports": [{"containerPort": 9090}]})))
    assert deployment(listed, *CONTAINER, "readinessProbe", "tcpSocket", "port") == 9090
    assert found(listed) == []


@pytest.mark.parametrize(
    ("args", "port", "told"),
    [
        ([], 8081, False),
        (["--grpc_port=9000"], 9000, False),
        (["--grpc_port=9000"], 8081, True),
        (["--enable_grpc=false"], 8081, True),
        (["--enable_grpc", "true"], 8081, False),
        ([], 8082, True),
    ],
)
def test_a_port_for_grpc_alone(args: list[str], port: int, *, told: bool) -> None:
    """KServe's model servers speak gRPC at 8081 unless told otherwise: who lists that port alone means it."""
    listed = [{"name": "h2c", "containerPort": port, "protocol": "TCP"}]
    asked = model(model={"args": args, "ports": listed, "protocolVersion": "v2"})
    protocols = {"protocolVersions": ["v1", "v2"]}
    server = runtime(args=ARGS)
    server["spec"].update(protocols)
    assert ("pod/port-elsewhere" in found(built(server, service(asked)))) is told


def test_a_server_of_another_make_has_no_port_for_grpc() -> None:
    """Servers with other options listen where they are told alone."""
    asked = model(model={"ports": [{"name": "h2c", "containerPort": 8081}]})
    assert found(built(runtime(args=["--rest_api_port=8080"]), service(asked))) == ["pod/port-elsewhere"]


@pytest.mark.parametrize(
    ("image", "fields", "expected"),
    [
        ("registry.example.com/hf:v1", {}, "registry.example.com/hf:v1"),
        ("registry.example.com/hf:v1", {"resources": GPU}, "registry.example.com/hf:v1-gpu"),
        (
            "registry.example.com/hf:v1",
            {"resources": {"limits": {"nvidia.com/mig-3g.40gb": "1"}}},
            "registry.example.com/hf:v1-gpu",
        ),
        (
            "registry.example.com/hf:v1",
            {"resources": GPU, "runtimeVersion": "v2-gpu"},
            "registry.example.com/hf:v2-gpu",
        ),
        (DIGEST, {"resources": GPU}, DIGEST),
        ("registry.example.com:5000/hf", {"resources": GPU}, "registry.example.com:5000/hf"),
        ("registry.example.com:5000/hf", {"runtimeVersion": "v2"}, "registry.example.com:5000/hf:v2"),
    ],
)
def test_tags_of_images(image: str, fields: dict[str, Any], expected: str) -> None:
    """A GPU, whole or in part, gets the GPU build once; versions replace tags; digests and ports are left alone."""
    result = built(runtime(server_type="huggingfaceserver", image=image), service(model(model=fields)))
    assert deployment(result, *CONTAINER, "image") == expected
    assert found(result) == []


def test_a_version_for_a_digest_is_reported() -> None:
    """A runtime version beside an image that is pinned by digest does nothing, and a warning says so."""
    result = built(runtime(image=DIGEST), service(model(model={"runtimeVersion": "v2"})))
    assert deployment(result, *CONTAINER, "image") == DIGEST
    assert found(result) == ["runtime/version-of-digest"]


def test_gpus_of_other_makers_are_no_reason_for_silence() -> None:
    """A container with a GPU that KServe does not know gets the CPU build as in KServe, with a warning."""
    fields = {"resources": {"limits": {"amd.com/gpu": "1"}}}
    result = built(runtime(server_type="vllmserver", image="vllm/vllm:v1"), service(model(model=fields)))
    assert deployment(result, *CONTAINER, "image") == "vllm/vllm-cpu:v1"
    assert found(result) == ["runtime/cpu-build"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--name={{.Name}}", "--name=churn"),
        ('--as={{index .Annotations "served-as"}}', '--as=churn "v2" & more'),
        ("--as={{.Annotations.note}}", "--as=a+b"),
        ('--extra={"ns":"{{.Namespace}}"}', '--extra={"ns":"ml"}'),
        ('--go={{"{{"}}.Name}}', "--go={{.Name}}"),
    ],
)
def test_placeholders_give_values_as_they_are_written(text: str, expected: str) -> None:
    """Quotes, dashes and JSON around or in a placeholder come through, in the server and in containers beside it."""
    exporter = {"name": "exporter", "image": "exporter:1", "args": [text]}
    metadata = {"annotations": {"served-as": 'churn "v2" & more', "note": "a+b"}}
    result = built(runtime(args=[text], beside=[exporter]), service(model(), **metadata))
    assert deployment(result, *CONTAINER, "args") == [expected]
    beside = text if text.startswith("--go") else expected
    assert deployment(result, *POD, "containers", "exporter", "args") == [beside]


def test_a_placeholder_for_nothing_is_reported() -> None:
    """A label that the service lacks is filled in as nothing, never as a word, and a warning names it."""
    result = built(runtime(args=["--team={{.Labels.team}}"]), service(model()))
    assert deployment(result, *CONTAINER, "args") == ["--team="]
    (warning,) = result.diagnostics
    assert warning.code.slug == "runtime/placeholder-empty"
    assert "label team" in warning.message


@pytest.mark.parametrize(
    ("uri", "variables"),
    [
        (
            "s3://models/wine",
            {"NAME": "churn", "URI": "/mnt/models", "IMPLEMENTATION": "mlserver_sklearn.SKLearnModel"},
        ),
        (None, {"IMPLEMENTATION": "mlserver_sklearn.SKLearnModel", "LOAD": "false"}),
    ],
)
def test_a_copied_runtime_keeps_its_defaults(uri: str | None, variables: dict[str, str]) -> None:
    """What a kind of server needs follows from the annotation of the runtime, whatever the runtime is called."""
    implementation = {"name": "MLSERVER_MODEL_IMPLEMENTATION", "value": "{{.Labels.modelClass}}"}
    formats = [{"name": "sklearn", "version": "1", "autoSelect": True}]
    fork = runtime("fork", "mlserver", env=[implementation], spec={"supportedModelFormats": formats})
    fork["spec"]["protocolVersions"] = ["v2"]
    result = built(fork, service(model("sklearn", uri, model={"runtime": "fork"})))
    names = {
        "MLSERVER_MODEL_NAME": "NAME",
        "MLSERVER_MODEL_URI": "URI",
        "MLSERVER_MODEL_IMPLEMENTATION": "IMPLEMENTATION",
        "MLSERVER_LOAD_MODELS_AT_STARTUP": "LOAD",
    }
    env = {names[e["name"]]: e["value"] for e in deployment(result, *CONTAINER, "env") if e["name"] in names}
    assert env == variables
    assert deployment(result, "metadata", "labels", "modelClass") == "mlserver_sklearn.SKLearnModel"


def test_of_equal_runtimes_the_first_by_name_is_taken_and_named() -> None:
    """Where KServe would ask when runtimes were created, the name decides, and a warning names all that fit."""
    result = built(runtime("zeta"), runtime("alpha"), service(model()))
    assert deployment(result, *CONTAINER, "image") == "registry.example.com/alpha:1.0"
    (warning,) = result.diagnostics
    assert warning.code.slug == "runtime/ambiguous"
    assert "alpha, zeta" in warning.message


def test_disabled_runtimes_are_passed_over() -> None:
    """A disabled runtime is not chosen, whatever its priority."""
    formats = [{"name": "acme", "version": "1", "autoSelect": True, "priority": 9}]
    off = runtime("off", spec={"disabled": True, "supportedModelFormats": formats})
    result = built(off, runtime("on"), service(model()))
    assert deployment(result, *CONTAINER, "image") == "registry.example.com/on:1.0"
    assert found(result) == []


def test_equal_priorities_are_refused() -> None:
    """Two runtimes that claim one format with one priority are an error that shows both."""
    formats = [{"name": "acme", "version": "1", "autoSelect": True, "priority": 1}]
    claims = {"supportedModelFormats": formats, "protocolVersions": ["v1"]}
    result = built(*(runtime(name, spec=claims) for name in ("alpha", "zeta")), service(model()))
    (error,) = (d for d in result.diagnostics if d.is_error)
    assert error.code.slug == "runtime/same-priority"
    assert len(error.related) == 1


def served_model(name: str, version: str | None = None, **fields: Any) -> dict[str, Any]:
    """A predictor with a model of a format and version."""
    wanted = {"name": name} if version is None else {"name": name, "version": version}
    return model(model={"modelFormat": wanted, **fields})


@pytest.mark.parametrize(
    ("predictor", "slug", "remedy"),
    [
        (served_model("Acme"), "runtime/none-fits", "did you mean acme?"),
        (served_model("acne", "1"), "runtime/none-fits", "did you mean acme?"),
        (served_model("SKLearn"), "runtime/none-fits", "did you mean sklearn?"),
        (
            served_model("sklearn", "7"),
            "runtime/none-fits",
            "versions of sklearn that are served are 0, 1; without one, any will do",
        ),
        (
            served_model("acme", "2"),
            "runtime/none-fits",
            "versions of acme that are served are 1; without one, any will do",
        ),
        (
            served_model("ACME", runtime="acme-server"),
            "runtime/format",
            "did you mean acme? it supports acme, acme:1",
        ),
        (
            served_model("acme", "2", runtime="acme-server"),
            "runtime/format",
            "it supports acme, acme:1",
        ),
        (served_model("sklearn", runtime="acme-server"), "runtime/format", "it supports acme, acme:1"),
    ],
)
def test_a_format_that_is_nearly_served(predictor: dict[str, Any], slug: str, remedy: str) -> None:
    """The name that is near, or the versions that are served, instead of every runtime that does not list it."""
    (refused,) = [d for d in built(service(predictor)).diagnostics if d.is_error]
    assert (refused.code.slug, refused.help) == (slug, remedy)


def test_a_format_without_versions() -> None:
    """A runtime may serve a format and name no version of it."""
    unversioned = runtime(spec={"supportedModelFormats": [{"name": "acme", "autoSelect": True}]})
    (refused,) = [d for d in built(service(served_model("acme", "2")), unversioned).diagnostics if d.is_error]
    assert refused.help == "no runtime names a version of acme: leave it out"


def test_a_format_that_nobody_serves() -> None:
    """Without a name that is near some that are served are named, of a few runtimes each says what it lacks.

    A disabled one that lists it comes first.
    """
    (refused,) = [d for d in built(service(served_model("none-such"))).diagnostics if d.is_error]
    assert refused.help.startswith("formats that are served are ")
    assert refused.help.endswith(" and 11 more (kservec runtimes lists them all)")
    few = libyaml.dump_all([service(served_model("none-such")), runtime()])
    (refused,) = [d for d in compile_text(few, target=Target(catalog=NO_CATALOG)).diagnostics if d.is_error]
    assert refused.help == "acme-server does not list none-such"
    disabled = runtime(spec={"disabled": True})
    (refused,) = [d for d in built(service(served_model("acme")), disabled).diagnostics if d.is_error]
    assert refused.help == "acme-server is disabled"
