"""Objects as GitOps tools and reviewers see them, and the mode that decides which there are."""

from __future__ import annotations

import pytest

from .making import (
    BY_GATEWAY,
    CONTAINER,
    GROUP,
    KNATIVE,
    PLAIN,
    POD,
    built,
    deployment,
    found,
    made,
    model,
    runtime,
    service,
)


def test_notes_of_gitops_tools_stay_with_the_service() -> None:
    """What a tool noted on the service is on no object; its wave is on all objects and on no pod."""
    noted = {"argocd.argoproj.io/tracking-id": "apps:g/InferenceService:ml/churn"}
    noted["kubectl.kubernetes.io/last-applied-configuration"] = "{}"
    wave, own = {"argocd.argoproj.io/sync-wave": "3"}, {"example.com/owner": "risk"}
    labels = {"app.kubernetes.io/instance": "apps", "kustomize.toolkit.fluxcd.io/name": "apps", "team": "a"}
    result = built(service(model(), annotations={**noted, **wave, **own}, labels=labels), **BY_GATEWAY)
    for body in made(result).values():
        assert not noted.keys() & body["metadata"]["annotations"].keys()
        assert body["metadata"]["annotations"].items() >= {**wave, **own}.items()
        assert (
            not {"app.kubernetes.io/instance", "kustomize.toolkit.fluxcd.io/name"} & body["metadata"]["labels"].keys()
        )
        assert body["metadata"]["labels"]["team"] == "a"
    pods = deployment(result, "spec", "template", "metadata")
    assert pods["annotations"].items() >= own.items()
    assert not pods["annotations"].keys() & {**noted, **wave}.keys()


def test_a_common_label_is_not_taken_for_a_note() -> None:
    """Without a note of Argo CD the label for instances is the user's own, and stays."""
    labels = {"app.kubernetes.io/instance": "apps"}
    assert deployment(built(service(model(), labels=labels)), "metadata", "labels").items() >= labels.items()


def test_requests_over_inherited_limits_show_both_places() -> None:
    """A request over the limit of the runtime is an error that points at both."""
    small = runtime(resources={"limits": {"cpu": "1"}})
    (error,) = built(small, service(model(model={"resources": {"requests": {"cpu": "4"}}}))).diagnostics
    assert error.code.slug == "pod/request-over-limit"
    assert [text for _, text in error.related] == ["the limit is set here"]


def test_resources_are_not_invented() -> None:
    """A model whose runtime and spec say nothing of resources has none."""
    assert deployment(built(service(model())), *CONTAINER, "resources") is None


def test_pods_are_complete_and_ask_no_webhook_for_anything() -> None:
    """The agent and the download are in the pod, and nothing is left that asks KServe's webhook to add them."""
    result = built(service(model(logger={"mode": "request", "url": "http://sink"}), labels={"team": "a"}))
    assert deployment(result, *POD, "initContainers", "storage-initializer")
    assert deployment(result, *POD, "containers", "agent")
    keys = [
        *deployment(result, "metadata", "annotations"),
        *deployment(result, "spec", "template", "metadata", "annotations"),
    ]
    assert not any(key.startswith("internal.serving.kserve.io/") for key in keys)


def test_only_what_is_changed_changes() -> None:
    """Another image of the agent, or of the runtime, changes the Deployment and nothing else."""
    logged = service(model(logger={"mode": "all", "url": "http://sink"}))
    before = made(built(logged))
    agent = {"inferenceServiceConfig": {"agent": {"image": "agent:2"}}}
    for after in (made(built(logged, **agent)), made(built(runtime(image="server:2"), logged))):
        assert [name for name in before if before[name] != after[name]] == ["Deployment/churn-predictor"]


def test_a_framework_is_a_model() -> None:
    """The older field of a framework compiles to the same bytes as the model that it stands for."""
    fields = {"storageUri": "gs://models/churn", "runtimeVersion": "24.05-py3"}
    new = {"model": {"modelFormat": {"name": "triton"}, "protocolVersion": "v2", **fields}}
    assert built(service({"triton": fields})).yaml == built(service(new)).yaml


def test_a_stopped_service_is_gone() -> None:
    """A stopped service leads to nothing, and a running one has a deadline for its rollout."""
    assert made(built(service(model(), annotations={f"{GROUP}/stop": "true"}))) == {}
    assert deployment(built(service(model())), "spec", "progressDeadlineSeconds") == 600


@pytest.mark.parametrize(
    ("mode", "default", "kind", "slugs"),
    [
        ("RawDeployment", "Knative", "Deployment", ["mode/old-name"]),
        ("Serverless", "Standard", "Service", ["mode/old-name"]),
        ("Standard", "Knative", "Deployment", []),
        ("Raw", "Knative", None, ["mode/unknown"]),
        ("standard", "Standard", None, ["mode/unknown"]),
    ],
)
def test_modes_by_other_names(mode: str, default: str, kind: str | None, slugs: list[str]) -> None:
    """Older names of modes count, with a note; a mode that does not exist is an error and no wish for the default."""
    facts = {"inferenceServiceConfig": {"deploy": {"defaultDeploymentMode": default}}, "knative": KNATIVE}
    result = built(service(PLAIN, mode=mode), **facts)
    assert found(result, notes=True) == slugs
    assert result.ok is (kind is not None)
    if kind is not None:
        assert f"{kind}/churn-predictor" in made(result)
