"""Pictures in the pages of units."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.cli.running import ROOT

from .sites import elements, site

if TYPE_CHECKING:
    from collections.abc import Mapping


@pytest.fixture(name="pages", scope="module")
def pages_fixture() -> Mapping[str, bytes]:
    """The report of the examples."""
    return site(ROOT)


def page_of(pages: Mapping[str, bytes], name: str) -> bytes:
    """The first page of a unit."""
    return next(content for path, content in sorted(pages.items()) if path.endswith(f"{name}.html"))


def test_each_unit_has_its_picture(pages: Mapping[str, bytes]) -> None:
    """The way of requests is on the page, within what its policy allows, and its ids are its own."""
    page = page_of(pages, "inferenceservice-llama-chat")
    (picture,) = re.findall(rb'<svg [^>]*class="kservec-picture".*?</svg>', page, re.DOTALL)
    assert b"kserve-ingress-gateway" in picture
    assert b"llm-weights/Meta-Llama-3.1-8B-Instruct" in picture
    assert b"style=" not in picture
    assert b"<style" not in picture
    ids = [element.attributes["id"] for element in elements(page) if "id" in element.attributes]
    assert len(ids) == len(set(ids))
    assert b".kservec-picture" in pages["style.css"]


def test_what_a_graph_calls_is_a_link_to_its_page(pages: Mapping[str, bytes]) -> None:
    """A service that a graph calls leads to its own page."""
    page = page_of(pages, "inferencegraph-payment-screening").decode()
    (address,) = re.findall(r'<a href="([^"]+)">\s*<g class="kp-unit">', page)
    assert address.endswith("inferenceservice-fraud-detector.html")
    assert any(path.endswith(address.rpartition("/")[2]) for path in pages)
