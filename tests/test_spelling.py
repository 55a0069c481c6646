"""Which word a misspelt one was meant to be."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kservec.core.spelling import Telling, closest, edits, meant_name, parts

NAMES = ["storageUri", "storage", "runtime", "runtimeVersion", "args", "env", "envFrom"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("storageURI", "storageUri"),
        ("storgaeUri", "storageUri"),
        ("storages", "storage"),
        ("runtimes", "runtime"),
        ("arg", "args"),
        ("evn", "env"),
        ("replicas", None),
        ("storage", None),
        ("", None),
    ],
)
def test_closest(word: str, expected: str | None) -> None:
    """The nearest candidate is found if it is near enough; a word is never its own correction."""
    assert closest(word, [name for name in NAMES if name != "storage" or word != "storage"]) == expected


RUNTIMES = [
    *(f"kserve-{name}server" for name in ("autogluon", "huggingface", "lgb", "ml", "paddle", "pmml", "predictive")),
    *(f"kserve-{name}server" for name in ("sklearn", "triton", "vllm", "xgb")),
    "kserve-huggingfaceserver-multinode",
    "kserve-openvino",
    "kserve-tensorflow-serving",
    "kserve-torchserve",
]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("kserve-amdserver", None),
        ("kserve-tpuserver", None),
        ("kserve-onnxserver", None),
        ("kserve-server", None),
        ("kserve-vlmserver", "kserve-vllmserver"),
        ("kserve-xgserver", "kserve-xgbserver"),
        ("kserve-lmserver", "kserve-mlserver"),
        ("kserve-sklernserver", "kserve-sklearnserver"),
        ("kserv-sklearnserver", "kserve-sklearnserver"),
        ("kserve-sklearn-server", "kserve-sklearnserver"),
        ("kserve-sklearnservr", "kserve-sklearnserver"),
        ("kserve-torchserver", "kserve-torchserve"),
        ("kserve-openvinoserver", None),
        ("KServe-MLServer", "kserve-mlserver"),
    ],
)
def test_what_most_names_share_makes_none_near(word: str, expected: str | None) -> None:
    """A name that is another one in all that is its own is not meant, however long what surrounds it is."""
    assert closest(word, RUNTIMES) == expected


def test_numbered_names_are_not_each_other() -> None:
    """Of names that differ in their number alone none is meant by another number."""
    names = [f"fraud-detector-v{i}" for i in range(1, 7)]
    assert closest("fraud-detector-v9", names) is None
    assert closest("fraud-detectr-v4", names) == "fraud-detector-v4"


def test_a_few_names_may_begin_alike() -> None:
    """Two or three names are too few to tell what is common to all there are."""
    assert closest("churn-a", ["churn-b"]) == "churn-b"
    assert closest("argo", ["args", "arg", "env"]) == "arg"


def test_ties_go_by_the_alphabet() -> None:
    """Equally near candidates give the same answer in whatever order they come."""
    assert closest("cat", ["hat", "bat"]) == closest("cat", ["bat", "hat"]) == "bat"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [("abc", "abc", 0), ("abc", "acb", 1), ("abc", "abd", 1), ("abc", "ab", 1), ("", "abc", 3), ("abcd", "dcba", 3)],
)
def test_edits(left: str, right: str, expected: int) -> None:
    """Edits are counted, and a swap of neighbours is one; both ways alike."""
    assert edits(left, right, 9) == edits(right, left, 9) == expected


def test_edits_stop_counting_at_the_limit() -> None:
    """Beyond the limit only that it was passed is known."""
    assert edits("aaaaaa", "bbbbbb", 2) == 3


def plain_distance(left: str, right: str) -> int:
    """The edits between two words by the table that every book has."""
    table = [[i + j for j in range(len(right) + 1)] for i in range(len(left) + 1)]
    for i, j in product(range(1, len(left) + 1), range(1, len(right) + 1)):
        replaced = table[i - 1][j - 1] + (left[i - 1] != right[j - 1])
        table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, replaced)
        if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
            table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


@given(left=st.text("abc", max_size=9), right=st.text("abcd", max_size=9), limit=st.integers(0, 9))
def test_edits_are_those_of_the_usual_table(left: str, right: str, limit: int) -> None:
    """However two words differ, the count is the smallest there is, up to the limit."""
    assert edits(left, right, limit) == min(plain_distance(left, right), limit + 1)


def test_long_words_are_left_alone() -> None:
    """Comparing texts of any length would take as long as whoever writes them likes."""
    assert closest("a" * 400, ["a" * 399]) is None
    assert closest("a" * 253, ["a" * 252]) == "a" * 252


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kserve-sklearn", "kserve-sklearnserver"),
        ("sklearnserver", "kserve-sklearnserver"),
        ("sklearn", "kserve-sklearnserver"),
        ("SKLearn", "kserve-sklearnserver"),
        ("my-sklearn-runtime", "kserve-sklearnserver"),
        ("triton-inference-server", "kserve-tritonserver"),
        ("huggingface", "kserve-huggingfaceserver"),
        ("huggingface-multinode", "kserve-huggingfaceserver-multinode"),
        ("kserve-openvinoserver", "kserve-openvino"),
        ("tensorflow", "kserve-tensorflow-serving"),
        ("kserve-vlmserver", "kserve-vllmserver"),
        ("kserve-server", None),
        ("kserve", None),
        ("ml", None),
        ("pytorch", None),
        ("kserve-onnxserver", None),
        ("", None),
    ],
)
def test_names_that_have_each_others_parts(name: str, expected: str | None) -> None:
    """A name is meant that says what the given one says, whatever is around it; what most names say tells nothing."""
    assert meant_name(name, RUNTIMES) == expected
    assert meant_name(name, reversed(RUNTIMES)) == expected


@pytest.mark.parametrize(
    ("name", "names", "expected"),
    [
        ("production", ["prod", "staging"], "prod"),
        ("fraud", ["fraud-v1"], "fraud-v1"),
        ("fraud", ["fraud-v1", "fraud-v2"], None),
        ("payments-fraud", ["payments-churn", "fraud"], "fraud"),
        ("chat-model", ["sentiment-model"], None),
        ("team-gateway", ["kserve-ingress-gateway"], None),
        ("my-gateway", ["kserve-ingress-gateway"], None),
        ("ai", ["openai"], None),
        ("fraud-detector-v9", [f"fraud-detector-v{i}" for i in range(1, 7)], None),
        ("a" * 400, ["a" * 200], None),
        ("fraud", [], None),
    ],
)
def test_parts_of_few_names(name: str, names: list[str], expected: str | None) -> None:
    """All that one of the two says must be said by the other, and of several names one must say least beside."""
    assert meant_name(name, names) == expected


def test_many_parts_take_no_longer() -> None:
    """Names come from whoever writes the input: only the first parts of one are looked at."""
    long = "-".join(["ab"] * 80)
    assert meant_name(long, [f"{i}-{long}" for i in range(300)]) is None


def test_parts_of_many_names_take_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part is sought among all names only where the name that is looked for has it, too."""
    sought: list[str] = []
    tells = Telling.tells
    monkeypatch.setattr(Telling, "tells", lambda self, part: (sought.append(part), tells(self, part))[1])
    names = ["-".join(["model", *(f"a{i}x{j}b" for j in range(11))]) for i in range(300)]
    assert meant_name("model-a7x3b-a7x4b", names) == names[7]
    assert set(sought) == {"model", *parts(names[7])}


class Counting(str):
    """A name that counts how often something is sought in it."""

    times = 0

    def __contains__(self, part: str) -> bool:
        Counting.times += 1
        return super().__contains__(part)


def test_a_part_is_sought_once() -> None:
    """However many names have it."""
    telling = Telling([Counting("model-a"), Counting("model-b")])
    assert [telling.parts_of("model-a-model") for _ in range(3)] == [["model", "a", "model"]] * 3
    assert Counting.times == 4
