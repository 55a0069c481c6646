"""trace_requests: servers and schedulers send traces."""

from __future__ import annotations

from tests.llm.workloads import build, named, pod, single

TRACING = {"exporterEndpoint": "http://otel:4317", "sampler": "always_on", "exporter": "otlp"}
SCHEDULER = {"scheduler": {"template": {"containers": [{"name": "main", "image": "x:1"}]}}}


def env_of(container) -> dict[str, str]:
    """The variables with a plain value."""
    return {e["name"]: e["value"] for e in container["env"] if "value" in e}


def main_of(built, name):
    """The main container of a Deployment."""
    return named(built.of("Deployment", name)["spec"]["template"]["spec"]["containers"], "main")


def test_servers_are_told_where_traces_go(bench) -> None:
    """The main one decodes in its traces, even where nobody prefills; the prefilling one has another name."""
    built = build(bench, single(tracing=TRACING, prefill={"template": pod()}))
    main, prefill = main_of(built, "chat-kserve"), main_of(built, "chat-kserve-prefill")
    assert main["args"] == ["--otlp-traces-endpoint", "http://otel:4317", "--collect-detailed-traces", "all"]
    assert env_of(main)["OTEL_SERVICE_NAME"] == "inference-server-decode"
    assert env_of(prefill)["OTEL_SERVICE_NAME"] == "inference-server-prefill"
    assert env_of(main)["OTEL_TRACES_SAMPLER_ARG"] == ""
    assert env_of(main)["OTEL_RESOURCE_ATTRIBUTES"] == (
        "k8s.namespace.name=ml,k8s.node.name=$(OTEL_RESOURCE_ATTRIBUTES_NODE_NAME),"
        "k8s.pod.name=$(OTEL_RESOURCE_ATTRIBUTES_POD_NAME),llmisvc.name=chat"
    )


def test_what_the_user_says_stays(bench) -> None:
    """Arguments in either form, and variables."""
    server = {
        "name": "main",
        "image": "x:1",
        "args": ["--otlp-traces-endpoint=mine"],
        "env": [{"name": "OTEL_SERVICE_NAME", "value": "mine"}],
    }
    built = build(bench, single(tracing=TRACING, template={"containers": [server]}))
    assert built.server["args"] == ["--otlp-traces-endpoint=mine", "--collect-detailed-traces", "all"]
    assert env_of(built.server)["OTEL_SERVICE_NAME"] == "mine"


def test_without_an_endpoint_only_the_scheduler_is_told(bench) -> None:
    """Servers stay as they are; the scheduler has a switch of its own, set once."""
    built = build(bench, single(tracing={}, router=SCHEDULER))
    assert "args" not in built.server
    scheduler = main_of(built, "chat-kserve-router-scheduler")
    assert scheduler["args"][-1] == "--tracing=true"
    assert env_of(scheduler)["OTEL_SERVICE_NAME"] == "inference-scheduler"
    assert env_of(scheduler)["OTEL_EXPORTER_OTLP_ENDPOINT"] == ""


def test_a_scheduler_that_is_told_already(bench) -> None:
    """Either spelling of the flag counts."""
    container = {"name": "main", "image": "x:1", "args": ["-tracing=false"]}
    router = {"scheduler": {"template": {"containers": [container]}}}
    scheduler = main_of(build(bench, single(tracing={}, router=router)), "chat-kserve-router-scheduler")
    assert "--tracing=true" not in scheduler["args"]
