"""Waivers on the page of findings: who excused what, why and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.running import PROJECT

from kservec.site.findings import MOST_EXCUSED
from kservec.site.paging import MOST_ROWS

from .sites import elements, project, service, site, text

if TYPE_CHECKING:
    from pathlib import Path

STRICT = f"{PROJECT}policy:\n  rules: {{policy/image-digest: warning}}\n"
REASON = "<img src=x onerror=alert(1)> has no digests"
WRITTEN = (
    f"  waivers:\n    - {{code: policy/image-digest, object: 'OBJECT', reason: '{REASON}', expires: '2999-01-31'}}\n"
)
ANNOTATED = service().replace(
    "  annotations:\n", "  annotations:\n    kservec.dev/waive.image-digest: built every night\n"
)


def links(page: bytes) -> list[str]:
    """Where the places on a page lead."""
    return [e.attributes["href"] for e in elements(page) if e.attributes.get("class") == "place"]


def test_a_waiver_of_the_project_is_shown_with_what_it_excuses(tmp_path: Path) -> None:
    """Its reason, its end, its line in the project file, and the findings that are in no list for it."""
    written = STRICT + WRITTEN.replace("OBJECT", "InferenceService payments/fraud")
    page = site(project(tmp_path, {"services/fraud.yaml": service(), "kservec.yaml": written}))["findings.html"]
    shown = text(page).partition("Waivers")[2]
    for part in (REASON, "policy/image-digest", "InferenceService payments/fraud, until 2999-01-31", "has no digest"):
        assert part in shown
    assert "Besides, 1 waiver." in text(page)
    assert any(link.endswith(f"#L{len(STRICT.splitlines()) + 2}") and "kservec" in link for link in links(page))
    assert not [e for e in elements(page) if e.name == "img"]


def test_a_waiver_of_an_object_is_shown(tmp_path: Path) -> None:
    """It is written beside what it excuses, and has no end unless it says one."""
    page = site(project(tmp_path, {"services/fraud.yaml": ANNOTATED, "kservec.yaml": STRICT}))["findings.html"]
    assert "InferenceService payments/fraud, without an end" in text(page)
    line = next(n for n, told in enumerate(ANNOTATED.splitlines(), 1) if "waive" in told)
    assert any(link.endswith(f"#L{line}") and "fraud" in link for link in links(page))


def test_what_is_off_and_what_is_not_found_is_not_excused(tmp_path: Path) -> None:
    """A waiver that excuses nothing here says so; without waivers there is no word of them."""
    written = STRICT + WRITTEN.replace("OBJECT", "InferenceService payments/other")
    made = site(project(tmp_path / "a", {"services/fraud.yaml": service(), "kservec.yaml": written}))
    assert "It excuses nothing in this environment." in text(made["findings.html"])
    plain = site(project(tmp_path / "b", {"services/fraud.yaml": service()}))
    assert "aiver" not in text(plain["findings.html"])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["the project's", "their own"])
def test_pages_of_many_waivers_stay_small(tmp_path: Path, kind: str) -> None:
    """One that excuses much names some of it; many of them go on on the next page, where the first page leads."""
    count = MOST_ROWS + 5
    spec = service if kind == "the project's" else lambda name: ANNOTATED.replace("fraud", name)
    waivers = WRITTEN.replace("OBJECT", "*") if kind == "the project's" else ""
    files = {f"services/s{n}.yaml": spec(f"s{n:03}") for n in range(count)}
    made = site(project(tmp_path, {**files, "kservec.yaml": STRICT + waivers}))
    sheets = [page for path, page in sorted(made.items()) if path.startswith("findings.")]
    shown = "".join(map(text, sheets))
    if waivers:
        excused = [e for page in sheets for e in elements(page) if e.name == "li"]
        assert len([e for e in excused if not e.attributes.get("class")]) == MOST_EXCUSED
        assert f"and {2 * count - MOST_EXCUSED} findings more" in shown
    else:
        assert shown.count("built every night") == count
        assert len(sheets) > 1
    (first,) = {e.attributes["href"] for page in sheets for e in elements(page) if "#waivers" in str(e.attributes)}
    assert 'id="waivers"' in made[first.removesuffix("#waivers")].decode()
