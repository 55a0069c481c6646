"""render_llminferenceservice: what is there, and what of it is left."""

from __future__ import annotations

import pytest
from tests.llm.workloads import SIDECAR, World, build, pod, single, unit_of

from kservec.passes.render_llminferenceservice import render_llminferenceservice
from kservec.passes.split_llminferenceservice import split_llminferenceservice
from kservec.workloads.llm.leader_worker_set import size_of


def test_of_a_stopped_service_only_the_ca_bundle_is_left(bench) -> None:
    """No Role or account either: KServe forgets some of those that it made before."""
    settings = {"caBundleConfigMapName": "bundle"}
    maps = {("kserve", "bundle"): {"cabundle.crt": "certificates"}}
    spec = single(template=pod(initContainers=[SIDECAR]), prefill={"template": pod()}, replicas=2)
    assert ("Role", "chat-kserve-role") in build(bench, spec).names
    assert build(bench, spec, stopped=True).names == []
    stopped = build(bench, spec, stopped=True, storage=settings, config_maps=maps)
    assert stopped.names == [("ConfigMap", "global-ca-bundle")]


def test_replicas_are_written_where_the_spec_says_them(bench) -> None:
    """No earlier state counts; none at all is a number too."""
    assert build(bench, single(replicas=0)).of("Deployment")["spec"]["replicas"] == 0
    assert "replicas" not in build(bench, single()).of("Deployment")["spec"]


def test_a_missing_ca_bundle_is_refused(bench) -> None:
    """KServe deploys nothing without it."""
    assert build(bench, single(), storage={"caBundleConfigMapName": "bundle"}).slugs == ["platform/ca-bundle"]


def test_values_say_where_they_come_from(bench) -> None:
    """A Deployment's pieces lead to the lines of the service, or to the pass that made them."""
    world = World()
    env = world.env(bench)
    unit = split_llminferenceservice(unit_of(single(rolloutStrategy={"maxSurge": 1}), world), env).unit
    made = render_llminferenceservice(unit, env).unit.bundle.manifests
    body = next(m.body for m in made if m.ref.kind == "Deployment")
    image = body.span(("spec", "template", "spec", "containers", "main", "image"))
    assert image is not None
    assert image.file == "llm.yaml"
    assert body.span(("metadata", "labels", "llm-d.ai/role")) is None


@pytest.mark.parametrize(
    ("parallelism", "size"),
    [
        ({"pipeline": 3}, 3),
        ({"pipeline": 2, "tensor": 4}, 2),
        ({"tensor": 4}, None),
        ({}, None),
        ({"data": 8, "dataLocal": 2}, 4),
        ({"data": 2, "dataLocal": 4}, 1),
        ({"data": 8, "dataLocal": 2, "pipeline": 3}, 4),
    ],
)
def test_the_size_of_a_group(parallelism, size) -> None:
    """As many pods as hold all copies, else as many as there are stages; without either nobody says."""
    assert size_of(parallelism) == size
