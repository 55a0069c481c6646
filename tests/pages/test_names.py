"""Names of pages: safe on every system, and never the same for two things."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kservec.core.diagnostics import ObjectRef
from kservec.site.names import LONGEST, namespace_stem, page_of, slug, source_stem, unit_stem

SAFE = re.compile(r"[a-z0-9-]*(\.[0-9a-f]{12})?|[0-9a-f]{12}").fullmatch
HOSTILE = [
    "../../etc/passwd", "..", ".", "", "a/b", "a\\b", "con", "nul.html", "<script>", "'\"", "a b", "é", "\u202e",
    "\ud800", "x" * 300, "%2e%2e", "a?b#c", "javascript:alert(1)", "-", "a\nb",
]  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_a_plain_file(name: str) -> None:
    """Whatever something is called, its page has letters, digits and hyphens, and is not too long."""
    assert SAFE(slug(name)), slug(name)
    assert len(slug(name)) <= LONGEST
    assert ".." not in source_stem(name)
    assert source_stem(name).count("/") == 1


@given(st.lists(st.text("aAbBéß./-\\", max_size=6), unique=True, max_size=20))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_different_names_have_different_pages(names: list[str]) -> None:
    """No two names share a page, on file systems that ignore case either."""
    assert len({slug(name).lower() for name in names}) == len(names)


def test_plain_names_stay_readable() -> None:
    """The page of a unit is called as the unit is."""
    ref = ObjectRef("serving.kserve.io/v1beta1", "InferenceService", "ml", "fraud-2")
    assert page_of(unit_stem(ref)) == "units/n-ml/inferenceservice-fraud-2.html"
    assert page_of(namespace_stem("ml"), 3) == "namespaces/n-ml.p3.html"
    assert namespace_stem("") not in (namespace_stem("cluster"), namespace_stem("-"))
