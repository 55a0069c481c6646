"""Brevity: nothing that a finding quotes is too long to be read, whatever is quoted, and nothing else is cut."""

from __future__ import annotations

import time

import pytest
from tests.cli.running import SERVICE

from kservec.api import compile_text
from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.core.text.brevity import LONGEST, LONGEST_TEXT, LONGEST_WORD, brief, brief_finding

CODE = Code("test/brevity", Severity.WARNING, "a test")
IMAGE = f"123456789012.dkr.ecr.eu-central-1.amazonaws.com/models/sklearnserver@sha256:{'0' * 64}"


@pytest.mark.parametrize("mark", ["'", '"'])
@pytest.mark.parametrize(
    "value", ["x" * 3000, "many words " * 300, "9" * 3000, "\\n" * 3000, "line\n" * 3000], ids=lambda value: value[:5]
)
def test_a_quoted_text_is_cut(mark: str, value: str) -> None:
    """It keeps its beginning and its end, and what stands around it is whole."""
    made = brief(f"the annotation {mark}short{mark} is {mark}{value}{mark}, which KServe's webhook doesn't take")
    assert made.startswith(f"the annotation {mark}short{mark} is {mark}{value[:79]}…{value[-20:]}{mark}, which")
    assert made.endswith(", which KServe's webhook doesn't take")


@pytest.mark.parametrize("text", ["x" * 3000, "9" * 3000, f'spec.containers["{"a/b" * 900}"].image'])
def test_a_word_is_cut(text: str) -> None:
    """Quoted or not."""
    assert len(brief(f"there is no node {text} in it")) < LONGEST + 30


@pytest.mark.parametrize(
    "text",
    [
        f"the image {IMAGE} is not pinned",
        "KServe's default, which is as long as prose may be, and has to be read to its end, is not Kubernetes' one, "
        "nor that of the users' own clusters, so it's better to say it",
        f"one is 'a', and another one, about which there is a lot to say, as is the case with {'many ' * 12}, is 'b'",
        f"the label {'x' * 63} of the namespace",
    ],
)
def test_what_can_be_read_is_whole(text: str) -> None:
    """Prose with apostrophes, an image with its digest, a label."""
    assert len(text) > LONGEST / 2
    assert brief(text) == text


def test_a_whole_text_has_an_end() -> None:
    """Where nobody can tell what is quoted. Of a hint only that is cut, since people copy its commands."""
    command = f"kubectl patch configmap x -p '{'y' * 300}'"
    finding = Diagnostic(
        code=CODE,
        message=f"unknown field {'many words ' * 900}",
        label=f"'{'z' * 900}'",
        help=f"{command}\n{'many words ' * 900}",
        span=Span("a.yaml", 1, 1, 1, 2),
        related=((Span("b.yaml"), f"'{'z' * 900}'"),),
    )
    made = brief_finding(finding)
    assert [len(text) for text in (made.message, made.label, made.related[0][1])] == [LONGEST_TEXT + 1, 102, 102]
    assert made.help.splitlines()[0] == command
    assert len(made.help.splitlines()[1]) == LONGEST_TEXT + 1
    assert brief_finding(made) == made


@pytest.mark.parametrize(
    "value", ["x" * 4_000_000, "ab " * 1_000_000, "it's 'so' " * 400_000, "'" * 4_000_000], ids=len
)
def test_a_value_of_megabytes_is_cut_at_once(value: str) -> None:
    """The time grows with its length alone."""
    before = time.process_time()
    assert len(brief(f"there is no mode '{value}'")) <= LONGEST_TEXT + 1
    assert time.process_time() - before < 2


def test_findings_of_the_library_are_brief() -> None:
    """Of an annotation of a thousand characters the beginning and the end are quoted."""
    (found,) = compile_text(SERVICE.replace("Standard", "Standard" + "x" * 1000)).diagnostics
    assert found.message == f"there is no deployment mode 'Standard{'x' * 71}…{'x' * 20}'"
    assert LONGEST_WORD > LONGEST
