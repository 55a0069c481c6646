"""What several test files need: units made from their spec, without catalog, admission or files."""

from __future__ import annotations

import gc
import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import pytest

from kservec import recovery
from kservec.__main__ import OBJECTS_BETWEEN_COLLECTIONS
from kservec.core.cluster import Cluster
from kservec.core.diagnostics import ObjectRef
from kservec.core.platform import PlatformConfig
from kservec.core.registry import Env, load_plugs
from kservec.core.schemas.schema import Schemas
from kservec.core.section_text import SectionText
from kservec.core.text.source import parse
from kservec.core.unit import Mode, Source, Step, Unit
from kservec.passes.split_inferenceservice import split_inferenceservice
from kservec.spec.inferenceservice import InferenceService

sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment] # jsonschema would take two seconds to make grammars
"""Formats that no schema has which tests validate by; it comes with a tool that lists what a distribution contains."""
recovery.STUMBLES = ()
"""Nothing may stumble over what recovery leaves of a unit, though users would not see it."""
INGRESS = {
    "enableGatewayApi": True,
    "kserveIngressGateway": "kserve/kserve-ingress-gateway",
    "ingressGateway": "knative-serving/knative-ingress-gateway",
    "ingressDomain": "example.com",
    "ingressClassName": "istio",
}
"""An `ingress` section that routes by the Gateway API."""


@dataclass(frozen=True, slots=True)
class Bench:
    """A platform, and the making of units for it."""

    env: Env

    def unit(
        self, spec: Mapping[str, Any], *, metadata: Mapping[str, Any] | None = None, stopped: bool = False
    ) -> Unit:
        """A split unit named churn in the namespace ml, in Standard mode."""
        value = {
            "apiVersion": "serving.kserve.io/v1beta1",
            "kind": "InferenceService",
            "metadata": {"name": "churn", "namespace": "ml", **(metadata or {})},
            "spec": spec,
        }
        (document,), _ = parse(json.dumps(value, indent=2).encode(), "isvc.yaml")
        read = InferenceService.read(document.value)
        unit = Unit(
            ref=ObjectRef("serving.kserve.io/v1beta1", "InferenceService", "ml", read.metadata.name),
            source=Source(document=document),
            spec=read,
            mode=Mode.STANDARD,
            labels=read.metadata.labels,
            annotations=read.metadata.annotations,
            stopped=stopped,
        )
        return split_inferenceservice(unit, self.env).unit

    @staticmethod
    def objects(step: Step, kind: str) -> dict[str, Any]:
        """The objects of a kind by name."""
        return {m.ref.name: m.body.value for m in step.unit.bundle.manifests if m.ref.kind == kind}

    @staticmethod
    def slugs(step: Step) -> list[str]:
        """The codes of the findings, in order."""
        return [d.code.slug for d in step.diagnostics]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that rewrites what is committed as expected."""
    parser.addoption("--snapshot-update", action="store_true", help="write expected output anew instead of comparing")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Keep the many thousand tests out of the garbage collector's way, which else looks at them again and again.

    It looks as seldom as in a command: some that run in this process thaw what is frozen.
    """
    del session
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
        gc.enable()


LEFT_OUT = pytest.StashKey[int]()
"""How many tests `-m` leaves out."""


def pytest_deselected(items: Sequence[pytest.Item]) -> None:
    """Count what is left out."""
    for item in items[:1]:
        item.config.stash[LEFT_OUT] = item.config.stash.get(LEFT_OUT, 0) + len(items)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Let a worker tell how many tests it left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Hear it; all workers leave out the same ones."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", 0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say that `make test` is not all."""
    if config.option.markexpr == "not slow":
        count = config.stash.get(LEFT_OUT, 0)
        terminalreporter.write_line(f"left out: {count} slow tests, which make test-slow runs")


@pytest.fixture
def snapshot_update(request: pytest.FixtureRequest) -> bool:
    """Whether expected output is written anew."""
    return bool(request.config.getoption("--snapshot-update"))


@cache
def no_schema(file: str) -> bytes:
    """Schemas are of no use to passes before `seal`."""
    raise AssertionError(file)


@pytest.fixture(name="plugs", scope="session")
def plugs_fixture():
    """All plugs, loaded once."""
    return load_plugs()


@pytest.fixture(name="bench")
def bench_fixture(plugs) -> Callable[..., Bench]:
    """Makes a platform from sections of `inferenceservice-config`."""

    def make(*, absent: tuple[str, ...] = (), gateways: tuple[tuple[str, str], ...] = (), **sections: Any) -> Bench:
        sections = {"ingress": INGRESS, **sections}
        texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in sections.items() if v is not None}
        metadata = {"name": "inferenceservice-config", "namespace": "kserve"}
        config_map = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": texts}
        (document,), _ = parse(json.dumps(config_map, indent=2).encode(), "platform.yaml")
        written = {k: SectionText(v, document, k) for k, v in texts.items()}
        platform = PlatformConfig(texts=written, absent=frozenset(absent))
        cluster = Cluster(gateways=frozenset(gateways or (("kserve", "kserve-ingress-gateway"),)))
        return Bench(Env(plugs=plugs, schemas=Schemas(read=no_schema), platform=platform, cluster=cluster))

    return make


@pytest.fixture(name="deployment", scope="session")
def deployment_fixture() -> Callable[..., Any]:
    """Makes a Deployment of a pod with one container, as `vectors/pods.yaml` describes it."""

    def make(*, container: Any = None, containers: Any = (), deployment: Any = None, **pod: Any) -> dict[str, Any]:
        labels = {"app": "churn"}
        own = {"name": "kserve-container", "image": "scorer:1", **(container or {})}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [own, *containers], **pod}}
        return {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "churn", "namespace": "default"},
            "spec": {"selector": {"matchLabels": labels}, "template": template, **(deployment or {})},
        }

    return make
