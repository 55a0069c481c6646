"""News: which findings are new, and which were fixed."""

from __future__ import annotations

import pytest

from kservec.core.diagnostics import Code, Diagnostic, Needed, ObjectRef, Severity, Span
from kservec.core.records import evolve
from kservec.report.news import View, company_of, fixed_lines, identity, news_of

ERROR = Code("a/error", Severity.ERROR, "an error")
WARNING = Code("a/warning", Severity.WARNING, "a warning")


UNCLOSED = Code("yaml/unclosed", Severity.ERROR, "a text that cannot be read")
UNKNOWN = Code("schema/unknown-field", Severity.ERROR, "a document that cannot be read")
SERVICE, OTHER = (ObjectRef("serving.kserve.io/v1beta1", "InferenceService", "ml", name) for name in "ab")


def finding(
    text: str, file: str = "a.yaml", line: int = 1, code: Code = WARNING, subject: ObjectRef | None = None
) -> Diagnostic:
    """A finding."""
    return Diagnostic(code=code, message=text, span=Span(file, line, 1), subject=subject)


A, B = finding("a"), finding("b")


@pytest.mark.parametrize(
    ("before", "after", "new", "known", "fixed"),
    [
        ((), (A, B), "ab", "", ""),
        ((A, B), (A,), "", "a", "b"),
        ((A,), (finding("a", line=7), B), "b", "a", ""),
        ((A, A), (A,), "", "a", "a"),
        ((A,), (A, A), "a", "a", ""),
        ((A,), (finding("a", file="b.yaml"),), "a", "", "a"),
        ((A,), (finding("x", code=ERROR),), "x", "", ""),
        ((A,), (finding("x", file="b.yaml", code=ERROR),), "x", "", "a"),
        ((finding("x", code=ERROR),), (finding("y", code=ERROR),), "y", "", ""),
        ((finding("x", code=ERROR),), (finding("y", file="b.yaml", code=ERROR),), "y", "", "x"),
    ],
    ids=[
        "all new", "one fixed", "on another line", "one of two fixed", "once more", "in another file",
        "hidden by an error in its file", "not hidden by one elsewhere", "an error for another",
        "an error elsewhere for another",
    ],
)  # fmt: skip
def test_what_is_new(
    before: tuple[Diagnostic, ...], after: tuple[Diagnostic, ...], new: str, known: str, fixed: str
) -> None:
    """By code, file, message and subject, as often as they are there."""
    news = news_of(before, after)
    assert tuple("".join(f.message for f in part) for part in news[:3]) == (new, known, fixed)


def test_what_an_error_hid_is_not_new_afterwards() -> None:
    """A warning that was told before an error kept it from being found is not told again after it."""
    during = news_of((A,), (finding("x", code=ERROR),))
    after = news_of(during.told, (A,))
    assert (after.new, [f.message for f in after.fixed]) == ((), ["x"])


ERROR_OF_SERVICE = finding("x", code=ERROR, subject=SERVICE)
COMPILED = View(compiled=frozenset({SERVICE}))


@pytest.mark.parametrize("code", [UNCLOSED, UNKNOWN])
@pytest.mark.parametrize(
    "gone",
    [
        ERROR_OF_SERVICE,
        finding("b", subject=SERVICE),
        finding("in the runtime", file="runtime.yaml", subject=SERVICE),
        finding("of a document that went with it", file="other.yaml", subject=OTHER),
        evolve(finding("nobody declares it"), span=None),
        evolve(finding("nobody declares it", subject=SERVICE), span=None, rests_on=(Needed("Secret", "ml", "s3"),)),
        evolve(finding("of two", file="runtime.yaml", subject=SERVICE), related=((Span("a.yaml", 1), "the other"),)),
    ],
    ids=lambda finding: finding.message,
)
def test_what_cannot_be_read_is_not_fixed(gone: Diagnostic, code: Code) -> None:
    """Nothing but what is wrong with the text itself is known of a document that cannot be read, errors included."""
    view = COMPILED if gone.rests_on or gone.related else View()
    during = news_of((gone,), (finding("[", code=code),), view)
    assert (during.fixed, during.hidden) == ((), (gone,))
    assert news_of(during.told, (gone,), COMPILED).new == ()
    assert gone in news_of(during.told, (), COMPILED).fixed


def test_what_was_looked_for_again_is_fixed() -> None:
    """A service that was compiled without errors has what is fixed told, whatever cannot be read elsewhere."""
    news = news_of((ERROR_OF_SERVICE,), (finding("[", file="b.yaml", code=UNCLOSED),), COMPILED)
    assert news.fixed == (ERROR_OF_SERVICE,)


def test_texts_are_read_as_far_as_before() -> None:
    """Of two mistakes in one text one is fixed; with another instead nobody knows."""
    first, second = finding("[", code=UNCLOSED), finding("{", code=UNKNOWN)
    assert news_of((first, second), (second,)).fixed == (first,)
    assert news_of((first,), (second,)).hidden == (first,)


STORAGE, RUNTIME, LABEL = (finding(text, code=ERROR, subject=SERVICE) for text in ("storage", "runtime", "label"))
OF_OTHER = finding("runtime of b", code=ERROR, subject=OTHER)


@pytest.mark.parametrize(
    ("before", "after", "fixed", "hidden"),
    [
        ((STORAGE,), (RUNTIME,), (), (STORAGE,)),
        ((STORAGE, LABEL), (LABEL, RUNTIME), (), (STORAGE,)),
        ((STORAGE, RUNTIME), (RUNTIME, RUNTIME), (), (STORAGE,)),
        ((STORAGE, LABEL), (LABEL,), (STORAGE,), ()),
        ((STORAGE,), (OF_OTHER,), (STORAGE,), ()),
        ((STORAGE,), (), (STORAGE,), ()),
    ],
    ids=["for another", "beside one that stays", "once more", "one of two fixed", "of another service", "no errors"],
)
def test_a_new_error_ends_the_search_in_its_service(
    before: tuple[Diagnostic, ...],
    after: tuple[Diagnostic, ...],
    fixed: tuple[Diagnostic, ...],
    hidden: tuple[Diagnostic, ...],
) -> None:
    """What is gone of a service that has an error which it did not have before may only not be looked for."""
    news = news_of(before, after)
    assert (news.fixed, news.hidden) == (fixed, hidden)


def test_a_new_error_of_a_service_that_was_compiled() -> None:
    """Whoever finds it comes after all that could have found what is gone."""
    assert news_of((STORAGE,), (RUNTIME,), COMPILED).fixed == (STORAGE,)


def test_a_new_error_in_a_document_without_a_service() -> None:
    """Documents of a file are told apart by the lines between them."""
    gone, near, far = (finding(text, line=line, code=ERROR) for text, line in (("x", 1), ("y", 2), ("z", 4)))
    view = View(texts={"a.yaml": "a: 1\nb: 1\n---\na: 1\n"})
    assert news_of((gone,), (near,), view).hidden == (gone,)
    assert news_of((gone,), (evolve(near, subject=SERVICE),), view).hidden == (gone,)
    assert news_of((gone,), (far,), view).fixed == (gone,)


def test_what_was_not_looked_for_is_remembered() -> None:
    """For as long as there is an error that was not beside it when it was last found, also one that was told before."""
    company = company_of((STORAGE, LABEL), {})
    view = View(company=company | company_of((RUNTIME,), {}))
    during = news_of((STORAGE, LABEL), (RUNTIME,), view)
    assert during.hidden == (STORAGE, LABEL)
    still = news_of(during.told, (RUNTIME,), view)
    assert (still.new, still.known, still.fixed, still.hidden) == ((), (RUNTIME,), (), (STORAGE, LABEL))
    after = news_of(still.told, (LABEL,), view)
    assert (after.new, after.known, after.fixed, after.hidden) == ((), (LABEL,), (STORAGE,), (RUNTIME,))
    assert news_of(after.told, (), view).fixed == (LABEL, RUNTIME)


def test_an_error_that_comes_back_hides_again() -> None:
    """A runtime was corrected, so the storage was found; whoever undoes that has not corrected the storage."""
    corrected = news_of((RUNTIME,), (STORAGE,))
    assert (corrected.new, corrected.hidden) == ((STORAGE,), (RUNTIME,))
    undone = news_of(corrected.told, (RUNTIME,), View(company=company_of((RUNTIME,), {}) | company_of((STORAGE,), {})))
    assert (undone.known, undone.fixed, undone.hidden) == ((RUNTIME,), (), (STORAGE,))


def test_what_comes_later_than_an_error_is_hidden() -> None:
    """A policy is asked when all is compiled, and of several errors of its own each can be told to be fixed."""
    late, later = finding("p", code=ERROR), finding("q")
    stages = {identity(late): 4, identity(later): 5}
    elsewhere = finding("x", file="b.yaml", code=ERROR)
    assert news_of((late, later), (elsewhere,), View(reached=1, stages=stages)).hidden == (late, later)
    judged = news_of((late, later), (finding("r", file="b.yaml", code=ERROR),), View(reached=4, stages=stages))
    assert (judged.fixed, judged.hidden) == ((late,), (later,))


def test_a_warning_of_a_service_that_is_refused() -> None:
    """It is hidden wherever it stands; so is one that has no place, while anything is refused."""
    elsewhere = finding("w", file="runtime.yaml", subject=SERVICE)
    nowhere = evolve(finding("n"), span=None)
    assert news_of((elsewhere, nowhere), (ERROR_OF_SERVICE,)).hidden == (elsewhere, nowhere)


def test_what_was_fixed_is_a_line() -> None:
    """Whatever is in a message, it is one line that moves no cursor."""
    assert fixed_lines([finding("a\x1b[2Jb\nc")]) == "fixed: a.yaml: warning[a/warning]: a\\x1b[2Jb\\nc\n"
