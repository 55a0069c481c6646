"""select_accelerator: the annotation gke-accelerator becomes a node selector of pods with a GPU."""

from __future__ import annotations

import pytest

from kservec.passes.select_accelerator import select_accelerator

ANNOTATION = "serving.kserve.io/gke-accelerator"


def selected(bench, limits, node_selector=None, annotation="nvidia-l4", before=()):
    """The node selector of a predictor with these limits, and the codes of the findings."""
    container = {"name": "kserve-container", "image": "i:1", "resources": {"limits": limits}}
    own = {"nodeSelector": node_selector} if node_selector else {}
    spec = {"predictor": {"containers": [*before, container], **own}}
    annotations = {ANNOTATION: annotation} if annotation is not None else {}
    platform = bench()
    step = select_accelerator(platform.unit(spec, metadata={"annotations": annotations}), platform.env)
    return step.unit.components[0].pod.value.get("nodeSelector"), platform.slugs(step)


@pytest.mark.parametrize(
    ("limits", "own", "selector", "slugs"),
    [
        ({"nvidia.com/gpu": "1"}, None, {"cloud.google.com/gke-accelerator": "nvidia-l4"}, []),
        (
            {"nvidia.com/gpu": "1"},
            {"zone": "a", "cloud.google.com/gke-accelerator": "other"},
            {"zone": "a", "cloud.google.com/gke-accelerator": "nvidia-l4"},
            [],
        ),
        ({"nvidia.com/mig-1g.5gb": "1"}, None, None, ["annotation/accelerator-without-gpu"]),
        ({"cpu": "1"}, {"zone": "a"}, {"zone": "a"}, ["annotation/accelerator-without-gpu"]),
    ],
)
def test_the_accelerator_of_a_pod(bench, limits, own, selector, slugs):
    """Pods with a whole GPU go where the annotation says; without one a warning says that it does nothing."""
    assert selected(bench, limits, own) == (selector, slugs)


def test_no_annotation(bench):
    """Without the annotation nothing is selected and nothing is said."""
    assert selected(bench, {"nvidia.com/gpu": "1"}, annotation=None) == (None, [])


@pytest.mark.parametrize("resources", [{}, {"resources": {}}, {"resources": {"requests": {"nvidia.com/gpu": "1"}}}])
@pytest.mark.parametrize("limits", [{"nvidia.com/gpu": "1"}, {"cpu": "1"}])
def test_containers_without_limits(bench, limits, resources):
    """A container that has no limits has no GPU, and another one's counts all the same."""
    beside = {"name": "log", "image": "i:1", **resources}
    assert selected(bench, limits, before=(beside,)) == selected(bench, limits)
