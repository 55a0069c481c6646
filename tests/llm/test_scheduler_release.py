"""Which release of the scheduler runs, and how it wants its flags and its configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests import libyaml

from kservec.core.llm.scheduler_config.default_text import default_text
from kservec.core.llm.scheduler_config.releases import arguments, release_of, spelt, takes

from .services import built, llm, made, router, scheduler_args, slugs

if TYPE_CHECKING:
    from kservec.core.llm.scheduler_config.releases import Release

OLD, NEW = "ghcr.io/llm-d/llm-d-inference-scheduler:v0.2.0", "ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.10.0"
POD = ("spec", "template", "spec")


def service(image: str = NEW, args: tuple[str, ...] = (), **scheduler: Any) -> dict[str, Any]:
    """A service whose scheduler has an image and arguments."""
    template = {"containers": [{"name": "main", "image": image, "args": list(args)}]}
    return llm(router=router({"template": template, **scheduler}))


def command(objects: dict[str, Any]) -> list[str]:
    """The command of the scheduler."""
    pod = objects["Deployment/chat-kserve-router-scheduler"]["spec"]["template"]["spec"]
    found: list[str] = pod["containers"][0]["command"]
    return found


@pytest.mark.parametrize(
    ("image", "release"),
    [
        (OLD, (0, 2, 0)),
        (NEW, (0, 10, 0)),
        ("registry.example.com:5000/mirror/llm-d-inference-scheduler:v0.6.1", (0, 6, 1)),
        ("ghcr.io/llm-d/llm-d-inference-scheduler:v0.4.0@sha256:" + "0" * 64, (0, 4, 0)),
        ("ghcr.io/llm-d/llm-d-inference-scheduler:0.3.0-rc.1", (0, 3, 0)),
        ("ghcr.io/llm-d/llm-d-inference-scheduler@sha256:" + "0" * 64, None),
        ("ghcr.io/llm-d/llm-d-inference-scheduler:latest", None),
        ("ghcr.io/llm-d/llm-d-inference-scheduler:v0.11.0", None),
        ("ghcr.io/llm-d/llm-d-inference-scheduler", None),
        ("acme/picker:v0.2.0", None),
        ("", None),
    ],
)
def test_the_release_of_an_image(image: str, release: Release | None) -> None:
    """The tag of one of llm-d's two images tells it; of others, and of what came later, nothing is known."""
    assert release_of(image) == release


@pytest.mark.parametrize(
    ("release", "written", "expected"),
    [
        ((0, 2, 0), "--pool-name", "--poolName"),
        ((0, 2, 0), "--config-text=a=b", "--configText=a=b"),
        ((0, 2, 0), "--zap-encoder", "--zap-encoder"),
        ((0, 3, 0), "--poolName", "--pool-name"),
        ((0, 4, 0), "-poolName", "-pool-name"),
        ((0, 10, 0), "-pool-name", "--pool-name"),
        ((0, 10, 0), "-v=4", "-v=4"),
        ((0, 10, 0), "--of-somebody-else", "--of-somebody-else"),
        ((0, 10, 0), "pool-name", "pool-name"),
    ],
)
def test_how_a_flag_is_spelt(release: Release, written: str, expected: str) -> None:
    """Up to 0.2 in one word, later with dashes; since 0.5 single dashes are for single letters."""
    assert spelt(release, written) == expected


def test_flags_with_their_values() -> None:
    """Switches take no value, flags take the next argument, and those nobody knows take it if it is no flag."""
    found = [*arguments(["/app/epp", "--pool-name", "-x", "--secure-serving", "a", "--v=3", "--other", "b", "--last"])]
    assert [(a.flag, a.length) for a in found] == [
        ("", 1), ("pool-name", 2), ("secure-serving", 1), ("", 1), ("v", 1), ("other", 2), ("last", 1),
    ]  # fmt: skip


def test_a_flag_comes_and_goes() -> None:
    """Leaders since 0.3; the scheme of metrics from 0.2.1 until 0.10, where the configuration says it."""
    assert [takes(r, "ha-enable-leader-election") for r in ((0, 2, 1), (0, 3, 0), (0, 10, 0))] == [False, True, True]
    scheme = [takes(r, "model-server-metrics-scheme") for r in ((0, 2, 0), (0, 2, 1), (0, 9, 0), (0, 10, 0))]
    assert scheme == [False, True, True, False]


def test_the_preset_follows_an_older_image() -> None:
    """Flags of the preset are spelt as it takes them, without those that it lacks, and each is said once.

    The annotation and the plugins are those of its release, too.
    """
    tls = {"inferenceServiceConfig": {"ingress": {"enableLLMInferenceServiceTLS": True}}}
    objects = made(service(OLD, ("--poolName", "mine")), certificates={}, **tls)
    flags = [argument for argument in command(objects) if argument.startswith("-")]
    assert flags == [
        "--poolNamespace", "--zap-encoder", "--grpcPort", "--grpcHealthPort", "--secureServing=true",
        "--certPath=/var/run/kserve/tls",
    ]  # fmt: skip
    args = scheduler_args(objects)
    assert args[:-1] == ["--poolName", "mine", "--configText"]
    assert libyaml.load(args[-1])["apiVersion"] == "inference.networking.x-k8s.io/v1alpha1"
    template = objects["Deployment/chat-kserve-router-scheduler"]["spec"]["template"]
    assert template["metadata"]["annotations"]["app.kubernetes.io/version"] == "0.2.0"


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (service(OLD), []),
        (service(OLD, replicas=2), ["llm/scheduler-without-leader"]),
        (service(NEW, ("--grcp-port=1",)), ["llm/scheduler-flag-unknown"]),
        (service(OLD, ("--tracing",)), ["llm/scheduler-flag-unknown"]),
        (service(NEW, ("--poolName", "a")), []),
        (service(NEW, ("-v=4",)), []),
        (service("acme/picker:1"), ["llm/scheduler-version-unknown"]),
        (service("acme/picker:1", annotations={"app.kubernetes.io/version": "0.10.0"}), []),
        (service(OLD, annotations={"app.kubernetes.io/version": "0.10.0"}), ["llm/scheduler-version-differs"]),
    ],
)
def test_what_is_odd_about_a_release(given: dict[str, Any], found: list[str]) -> None:
    """Flags that it lacks, an annotation that says another, and images of which nobody says what they are."""
    assert slugs(built(given)) == found


def test_a_misspelt_flag_is_told_its_name() -> None:
    """The nearest flag of the release is the hint, and the place is where it is written."""
    (only,) = [d for d in built(service(NEW, ("--grcp-port=1",))).diagnostics if d.code.slug.endswith("flag-unknown")]
    assert only.help == "did you mean --grpc-port?"
    assert only.span is not None


@pytest.mark.parametrize("release", [(0, 2, 0), (0, 4, 0), (0, 6, 0), (0, 8, 0), (0, 9, 0), None])
@pytest.mark.parametrize("has_prefill", [False, True])
def test_default_configurations_hold_together(release: Release | None, has_prefill: bool) -> None:
    """Whatever a release lacks, every plugin of a profile is declared."""
    config = libyaml.load(default_text(has_prefill=has_prefill, has_lora=True, release=release))
    declared = {plugin["type"] for plugin in config["plugins"]}
    used = {plugin["pluginRef"] for profile in config["schedulingProfiles"] for plugin in profile["plugins"]}
    assert used <= declared
    assert ("lora-affinity-scorer" in used) is (release is None or release >= (0, 3, 0))
