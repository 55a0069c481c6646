"""What a person does with a report: search, filter, open objects, follow a field to its origin, by mouse or keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from .conftest import DESKTOP, MANY, PHONE, brightness

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from .conftest import Site, Visiting

VISIBLE = 1.7
"""The least contrast that is seen at a glance."""
SERIOUS = {"serious", "critical"}
KINDS_OF_PAGES = (
    "index.html", "namespaces/n-assistants.html", "inferenceservice-llama-chat.html", "llminferenceservice-",
    "inferencegraph-", "images.html", "capacity.html", "requirements.html", "findings.html", "sources.html",
    "services-llama-chat-yaml",
)  # fmt: skip
LOOKS: tuple[dict[str, Any], ...] = (
    {"size": DESKTOP, "color_scheme": "light"},
    {"size": DESKTOP, "color_scheme": "dark"},
    {"size": PHONE, "color_scheme": "dark"},
)


def names(page: Page) -> list[str]:
    """The units that a search shows."""
    return page.locator("#matching tbody th").all_inner_texts()


def follow(page: Page, link: str) -> None:
    """Click the first link that fits, and wait for the page that it leads to."""
    with page.expect_navigation():
        page.locator(link).first.click()


def violations(page: Page) -> list[str]:
    """What axe-core finds that is serious or worse."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    # What axe-core would load anew by itself, the policy of the page forbids.
    found = axe.run(page, options={"resultTypes": ["violations"], "preload": False}).response["violations"]
    return [f"{v['id']}: {node['html'][:200]}" for v in found if v["impact"] in SERIOUS for node in v["nodes"]]


def test_a_search_finds_units_and_leads_to_them(examples: Site, visiting: Visiting) -> None:
    """Words narrow the units at once; several all have to fit; a result leads to the page of the unit."""
    with visiting(examples) as visit:
        page = visit.goto("index.html")
        page.fill("#search", "chat")
        assert names(page) == ["llama-chat", "chat-assistant"]
        assert page.inner_text("#matches") == "2 of 6 units"
        page.fill("#search", "CHAT llm")
        assert names(page) == ["chat-assistant"]
        page.fill("#search", "nothing-like-it")
        assert names(page) == []
        page.fill("#search", "")
        assert page.locator("#all").is_visible()
        page.fill("#search", "fraud")
        follow(page, "#matching a")
        assert page.locator("h1").inner_text() == "fraud-detector"


@pytest.mark.parametrize(
    ("field", "value", "shown"),
    [
        ("#kind", "InferenceGraph", ["payment-screening"]),
        ("#namespace", "payments", ["fraud-detector", "payment-screening"]),
        ("#gpu", "yes", ["llama-chat", "qwen-assistant", "chat-assistant"]),
        ("#gpu", "no", ["fraud-detector", "payment-screening", "image-classifier"]),
        ("#finding", "note", ["llama-chat", "chat-assistant", "image-classifier"]),
        ("#finding", "warning", []),
        ("#finding", "none", ["qwen-assistant", "fraud-detector", "payment-screening"]),
    ],
)
def test_filters_choose_units(examples: Site, visiting: Visiting, field: str, value: str, shown: list[str]) -> None:
    """Each filter shows the units that it names and no others, in the same row as without it."""
    with visiting(examples) as visit:
        page = visit.goto("index.html")
        rows = {row.split()[0]: row.split() for row in page.locator("#units tbody tr").all_inner_texts()}
        page.select_option(field, value)
        assert names(page) == shown
        found = page.locator("#matching tbody tr").all_inner_texts()
        assert [row.split() for row in found] == [rows[name] for name in shown]


def test_filters_and_words_work_together(examples: Site, visiting: Visiting) -> None:
    """A unit has to fit all of them."""
    with visiting(examples) as visit:
        page = visit.goto("index.html")
        page.select_option("#namespace", "assistants")
        page.fill("#search", "qwen")
        assert names(page) == ["qwen-assistant"]
        page.select_option("#kind", "InferenceGraph")
        assert names(page) == []


def test_objects_open_and_close(examples: Site, visiting: Visiting) -> None:
    """A click opens one object; the button opens all of them, and closes them again."""
    with visiting(examples) as visit:
        page = visit.goto(examples.page("inferenceservice-fraud-detector.html"))
        objects = page.locator("details.object")
        count = objects.count()
        assert count > 2
        objects.first.locator("summary").click()
        assert page.locator("details.object[open]").count() == 1
        page.click("#expand")
        assert page.locator("details.object[open]").count() == count
        assert page.inner_text("#expand") == "Collapse all"
        page.click("#expand")
        assert page.locator("details.object[open]").count() == 0


def test_a_field_leads_to_the_line_that_it_was_written_on(examples: Site, visiting: Visiting) -> None:
    """From a line of an object to its source: the file is shown, with that line marked and in sight."""
    with visiting(examples) as visit:
        page = visit.goto(examples.page("inferenceservice-llama-chat.html"))
        page.click("#expand")
        row = page.locator("table.yaml tr", has_text="--max-model-len=8192").first
        link = row.locator("a.place")
        place = link.inner_text()
        with page.expect_navigation():
            link.click()
        file, _, line = place.rpartition(":")
        assert page.locator("h1").inner_text() == file == "examples/services/llama-chat.yaml"
        target = page.locator("tr:target")
        assert target.get_attribute("id") == f"L{line}"
        assert "--max-model-len=8192" in target.inner_text()
        assert target.is_visible()
        marked, plain = (
            page.locator(selector).evaluate("cell => getComputedStyle(cell).backgroundColor")
            for selector in ("tr:target td:nth-child(2)", "tr#L1 td:nth-child(2)")
        )
        assert marked != plain


def test_an_address_of_a_line_opens_its_object(examples: Site, visiting: Visiting) -> None:
    """Whoever gets the address of a line sees the line, though objects are closed at first."""
    with visiting(examples) as visit:
        page = visit.goto(examples.page("inferenceservice-llama-chat.html") + "#o1-20")
        line = page.locator("#o1-20")
        line.wait_for(state="visible")
        box = line.bounding_box()
        assert box is not None
        assert 0 <= box["y"] < DESKTOP[1]


@pytest.mark.parametrize("look", LOOKS, ids=["light", "dark", "phone"])
@pytest.mark.parametrize("part", KINDS_OF_PAGES)
def test_pages_are_accessible(examples: Site, visiting: Visiting, part: str, look: dict[str, Any]) -> None:
    """axe-core has no serious findings about any kind of page, in light, in dark and on a phone, all opened."""
    with visiting(examples, **look) as visit:
        page = visit.goto(examples.page(part))
        if page.locator("#expand").is_visible():
            page.click("#expand")
        assert violations(page) == []


@pytest.mark.parametrize("part", KINDS_OF_PAGES)
def test_pages_fit_a_phone(examples: Site, visiting: Visiting, part: str) -> None:
    """At 360 pixels no page is wider than the screen; what is wider scrolls within itself."""
    with visiting(examples, PHONE) as visit:
        page = visit.goto(examples.page(part))
        if page.locator("#expand").is_visible():
            page.click("#expand")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("part", ["index.html", "capacity.html"])
def test_a_table_that_goes_on_shows_it(examples: Site, visiting: Visiting, part: str, scheme: str) -> None:
    """Its edge is shaded where there is more, and only there."""
    with visiting(examples, PHONE, color_scheme=scheme) as visit:
        page = visit.goto(examples.page(part))
        table = page.locator(".wide").first
        assert table.evaluate("e => e.scrollWidth > e.clientWidth")
        before = edges(page, table)
        table.evaluate("e => e.scrollLeft = e.scrollWidth")
        after = edges(page, table)
    assert before[0] == after[1] == 1
    assert min(before[1], after[0]) > VISIBLE


def edges(page: Page, table: Locator) -> list[float]:
    """The contrast of the left and of the right edge of a table to what is beside them, above the text of a row."""
    table.scroll_into_view_if_needed()
    box, row = table.bounding_box(), table.locator("tbody tr").first.bounding_box()
    assert box is not None
    assert row is not None
    y, left, right = row["y"] + 3, box["x"] + 2, box["x"] + box["width"] - 3
    pairs = [(brightness(page, at, y), brightness(page, at + inwards, y)) for at, inwards in ((left, 22), (right, -22))]
    return [(max(pair) + 0.05) / (min(pair) + 0.05) for pair in pairs]


def test_every_page_is_quiet(examples: Site, visiting: Visiting) -> None:
    """No page logs anything, fails, or asks another machine for something; each has one heading."""
    with visiting(examples) as visit:
        for path in examples.pages:
            page = visit.goto(path)
            assert page.locator("h1").count() == 1, path


def test_everything_is_there_without_a_script(examples: Site, visiting: Visiting) -> None:
    """Without scripts the search is not offered, and units, objects and origins are there."""
    with visiting(examples, java_script_enabled=False) as visit:
        page = visit.goto("index.html")
        assert not page.locator(".filters").is_visible()
        follow(page, "text=llama-chat")
        assert not page.locator("#expand").is_visible()
        page.locator("details.object summary").first.click()
        follow(page, "details[open] a.place")
        assert page.locator("tr:target").count() == 1


def test_a_keyboard_is_enough(examples: Site, visiting: Visiting) -> None:
    """The first stop skips the navigation; units, objects and origins are reached with Tab and Enter."""
    with visiting(examples) as visit:
        page = visit.goto("index.html")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "search"
        page.keyboard.type("fraud")
        stops = tabbed_to(page, "document.activeElement.closest('#matching th') !== null")
        assert stops < 10
        page.keyboard.press("Enter")
        page.wait_for_url("**/inferenceservice-fraud-detector.html")
        tabbed_to(page, "document.activeElement.matches('details.object summary')")
        page.keyboard.press("Enter")
        tabbed_to(page, "document.activeElement.matches('a.place') && Boolean(document.activeElement.closest('table'))")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"/sources/.*#L\d+$"))


def tabbed_to(page: Page, condition: str, most: int = 60) -> int:
    """Press Tab until something holds; how often that was."""
    for pressed in range(1, most + 1):
        page.keyboard.press("Tab")
        if page.evaluate(condition):
            return pressed
    raise AssertionError(f"not reached within {most} stops: {condition}")


def test_hostile_texts_do_nothing(hostile: Site, visiting: Visiting) -> None:
    """Values and file names that try to be scripts are shown as text on every page, also in a search."""
    with visiting(hostile) as visit:
        for path in hostile.pages:
            page = visit.goto(path)
            assert page.locator("img, script:not([src])").count() == 0, path
        page = visit.goto(hostile.page("inferenceservice-fraud.html"))
        page.click("#expand")
        assert page.get_by_text("<script>alert(1)</script>").first.is_visible()
        page = visit.goto("index.html")
        page.fill("#search", "odd")
        assert names(page) == ["odd"]


def test_a_thousand_units_are_searched_at_once(many: Site, visiting: Visiting) -> None:
    """A large environment: the search finds any unit, shows a bounded number, and its page opens."""
    with visiting(many) as visit:
        page = visit.goto("index.html")
        assert page.locator("#units tbody tr").count() < MANY
        page.fill("#search", "model-00777")
        assert names(page) == ["model-00777"]
        page.fill("#search", "model")
        assert page.inner_text("#matches") == f"{MANY} of {MANY} units, the first 200 are shown"
        assert len(names(page)) == 200
        page.fill("#search", "model-00777")
        follow(page, "#matching a")
        page.click("#expand")
        assert "kserve-container" in page.inner_text("main")


def test_a_thousand_units_are_paged_through(many: Site, visiting: Visiting) -> None:
    """Without a search the units go on over pages that lead to each other, and all of them are there."""
    with visiting(many, java_script_enabled=False) as visit:
        page = visit.goto("index.html")
        seen = page.locator("#units tbody th").all_inner_texts()
        while page.locator("a[rel=next]").count():
            follow(page, "a[rel=next]")
            seen += page.locator("#units tbody th").all_inner_texts()
        assert len(seen) == len(set(seen)) == MANY


@pytest.mark.parametrize("part", ["index.html", "namespaces/n-team-7.html", "objects.html", "findings.html"])
def test_large_pages_are_accessible(many: Site, visiting: Visiting, part: str) -> None:
    """The long pages of a large environment have no serious findings either."""
    with visiting(many) as visit:
        page = visit.goto(part)
        assert violations(page) == []
