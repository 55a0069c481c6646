"""Names of objects that belong to a service, as knative.dev/pkg/kmeta makes them."""

from __future__ import annotations

import hashlib

import pytest

from kservec.core.llm.names import child_name


def digest(text: str) -> str:
    """The hash in a shortened name."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@pytest.mark.parametrize(
    ("parent", "suffix", "expected"),
    [
        ("llama", "-kserve", "llama-kserve"),
        ("a" * 56, "-kserve", "a" * 56 + "-kserve"),
        ("a" * 57, "-kserve", "a" * 24 + digest("a" * 57) + "-kserve"),
        ("a" * 63, "-kserve-workload-svc", "a" * 11 + digest("a" * 63) + "-kserve-workload-svc"),
        ("ns", "-" + "b" * 70, "ns" + digest("ns-" + "b" * 70) + "-" + "b" * 28),
        ("n" * 40, "-" + "b" * 40, "n" * 31 + digest("n" * 40 + "-" + "b" * 40)),
        ("ns", "-" * 70, "ns" + digest("ns" + "-" * 70)),
    ],
)
def test_child_names(parent: str, suffix: str, expected: str) -> None:
    """Short ones are put together; long ones are cut and get a hash, with the suffix kept where it is short."""
    assert child_name(parent, suffix) == expected
    assert len(expected) <= 63
