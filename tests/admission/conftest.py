"""Tables of admission: YAML files of given and expected, and a platform to admit them on."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests import libyaml

from kservec.admission.admit import Admitted, admit_inferenceservice
from kservec.admission.subject import Site
from kservec.core.diagnostics import ObjectRef
from kservec.core.platform import PlatformConfig
from kservec.core.registry import load_plugs
from kservec.core.section_text import SectionText
from kservec.core.text.document import Document
from kservec.core.text.source import parse
from kservec.core.unit import Source

HERE = Path(__file__).parent
PLUGS = load_plugs()
HEADER = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\n"
METADATA = "metadata: {name: churn, namespace: ml}\n"
RESOURCES = {"cpuRequest": "1", "memoryRequest": "2Gi", "cpuLimit": "1", "memoryLimit": "2Gi"}
SECTIONS: Mapping[str, Any] = {
    "deploy": {"defaultDeploymentMode": "Knative"},
    "security": {"autoMountServiceAccountToken": True},
    "inferenceService": {"resource": RESOURCES},
    "explainers": {"art": {"image": "kserve/art-explainer", "defaultImageVersion": "v0.21"}},
}


class Row(NamedTuple):
    """One case of a table: `settings` are the `# key: value` lines that stand before what is given."""

    settings: Mapping[str, Any]
    given: str
    expected: Any


def rows(file: Path) -> Iterator[Row]:
    """The cases of a table: documents in pairs, what is given and what is expected."""
    chunks = re.split(r"^---\n", file.read_text(), flags=re.MULTILINE)
    for given, expected in zip(chunks[::2], chunks[1::2], strict=True):
        settings = libyaml.load("\n".join(re.findall(r"^# (\w+: .*)$", given, flags=re.MULTILINE)))
        yield Row(settings, given, libyaml.load(expected))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for a `row` once for each case of its module's table."""
    if "row" in metafunc.fixturenames:
        found = list(rows(HERE / metafunc.module.TABLE))
        metafunc.parametrize("row", found, ids=[row.settings["title"] for row in found])


def platform_of(sections: Mapping[str, Any], absent: frozenset[str] = frozenset()) -> PlatformConfig:
    """A platform from sections of `inferenceservice-config`; a section that is None is left out."""
    texts = {k: json.dumps(v) for k, v in sections.items() if v is not None}
    document = Document("platform.yaml", {"data": texts})
    return PlatformConfig(texts={k: SectionText(v, document, k) for k, v in texts.items()}, absent=absent)


class Result(NamedTuple):
    """What became of a document, and its text."""

    admitted: Admitted
    document: Document
    text: str

    @property
    def findings(self) -> list[str]:
        """Each finding as its code and the line of the document that it points at."""
        found = []
        for d in self.admitted.diagnostics:
            assert d.span is not None
            assert d.message
            line = self.text.splitlines()[d.span.line - 1].strip() if d.span.file == "isvc.yaml" else d.span.file
            found.append(f"{d.code.slug} | {line}")
        return found


@pytest.fixture(name="admit")
def admit_fixture() -> Callable[..., Result]:
    """Admits one InferenceService, which may leave out what all have in common."""

    def admit(given: str, settings: Mapping[str, Any] | None = None, caches: tuple[Any, ...] = ()) -> Result:
        settings = settings or {}
        text = HEADER + ("" if "\nmetadata:" in f"\n{given}" else METADATA) + given
        (document,), problems = parse(text.encode(), "isvc.yaml")
        assert not problems
        platform = platform_of({**SECTIONS, **settings.get("platform", {})}, frozenset(settings.get("absent", ())))
        metadata = document.value["metadata"]
        ref = ObjectRef(*HEADER.split()[1::2], metadata.get("namespace") or "", metadata.get("name") or "")
        site = Site(ref, Source(document=document))
        return Result(admit_inferenceservice(site, document.value, platform, PLUGS, caches), document, text)

    return admit
