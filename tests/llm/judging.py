"""Services and configs put before the rules: from texts, as admission does, and as merged values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path as File
from typing import Any, NamedTuple

from tests import libyaml

from kservec.admission.llm.admit import AdmittedLLM, Judges, admit_config, admit_llminferenceservice
from kservec.core.diagnostics import Diagnostic, ObjectRef, Span
from kservec.core.llm.rules.before_gpu.all import before_gpu
from kservec.core.llm.rules.subject import Place, Subject
from kservec.core.platform import PlatformConfig
from kservec.core.registry import load_plugs
from kservec.core.schemas.faults import field_path
from kservec.core.section_text import SectionText
from kservec.core.text.document import Document
from kservec.core.text.source import parse
from kservec.core.tree import Path

HERE = File(__file__).parent
PLUGS = load_plugs()
SERVICE, CONFIG = "LLMInferenceService", "LLMInferenceServiceConfig"


class Row(NamedTuple):
    """One case of a table: `settings` are the `# key: value` lines that stand before what is given."""

    settings: Mapping[str, Any]
    given: str
    expected: Any


def rows(name: str) -> Iterator[Row]:
    """The cases of a table: documents in pairs, what is given and what is expected."""
    chunks = re.split(r"^---\n", (HERE / name).read_text(), flags=re.MULTILINE)
    for given, expected in zip(chunks[::2], chunks[1::2], strict=True):
        settings = libyaml.load("\n".join(re.findall(r"^# (\w+: .*)$", given, flags=re.MULTILINE)))
        yield Row(settings, given, libyaml.load(expected))


def platform_of(**sections: Any) -> PlatformConfig:
    """A platform from sections of `inferenceservice-config`."""
    texts = {key: json.dumps(value) for key, value in sections.items()}
    document = Document("platform.yaml", {"data": texts})
    return PlatformConfig(texts={k: SectionText(text, document, k) for k, text in texts.items()})


def admitted(given: str, kind: str = SERVICE, version: str = "v1alpha2", **more: Any) -> AdmittedLLM:
    """A document that may leave out what all have in common; its schema and the defaults of that are passed by."""
    metadata = "" if "\nmetadata:" in f"\n{given}" else "metadata: {name: chat, namespace: ml}\n"
    text = f"apiVersion: serving.kserve.io/{version}\nkind: {kind}\n{metadata}{given}"
    (document,), problems = parse(text.encode(), "llm.yaml")
    assert not problems
    ref = ObjectRef(document.value["apiVersion"], kind, "ml", document.value["metadata"]["name"])
    judges = Judges(**{"platform": platform_of(), "plugs": PLUGS, **more})
    admit = admit_config if kind == CONFIG else admit_llminferenceservice
    return admit(ref, document, document.value, judges)


def lines_of(found: AdmittedLLM) -> list[str]:
    """The lines of the document."""
    text = found.source.document.text
    assert text is not None
    return text.text.splitlines()


def quoted(found: tuple[Diagnostic, ...], source: AdmittedLLM) -> list[str]:
    """Each finding as its code and the line of the document that it points at."""
    lines = lines_of(source)
    return [f"{d.code.slug} | {lines[d.span.line - 1].strip()}" for d in found if d.span is not None]


def merged(spec: Any, ingress: Mapping[str, Any] | None = None, **more: Any) -> list[Diagnostic]:
    """What is said of a merged spec; the file of a finding's place is the path that it is about."""

    def locate(path: Path) -> Place:
        return Place(Span(field_path(path)))

    ref = ObjectRef("serving.kserve.io/v1alpha2", SERVICE, "ml", "chat")
    value = {"metadata": {"name": "chat", "annotations": more.pop("annotations", {})}, "spec": spec}
    platform = platform_of(ingress={"ingressGateway": "a/b", **(ingress or {})})
    return list(before_gpu(Subject(ref, value, locate, platform, PLUGS, **more)))


def places(found: list[Diagnostic]) -> list[str]:
    """Each finding as its code and the path that it is about."""
    return [f"{d.code.slug} | {d.span.file}" for d in found if d.span is not None]
