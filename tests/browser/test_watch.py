"""kservec watch in a real browser: the report is loaded again by itself, and says when a build has failed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.cli.running import PROJECT
from tests.cli.test_watch import watching
from tests.pages.sites import CLUSTER, service

from .conftest import SECONDS

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


def test_a_report_that_is_loaded_again(tmp_path: Path, browser: Browser) -> None:
    """An edit is in the browser without a touch, a mistake is a note on the page before it, and no error is logged."""
    (tmp_path / "services").mkdir()
    (tmp_path / "platform").mkdir()
    (tmp_path / "kservec.yaml").write_text(PROJECT)
    (tmp_path / "platform" / "cluster.yaml").write_text(CLUSTER)
    file = tmp_path / "services" / "fraud.yaml"
    file.write_text(service())
    troubles: list[str] = []
    with watching(tmp_path, "prod") as watch:
        url = re.findall(r"http://127\.0\.0\.1:\d+/", watch.until(r"report: .*\n"))[0]
        page = browser.new_page()
        page.set_default_timeout(SECONDS * 1000)
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.goto(url)
        assert "twin" not in page.inner_text("main")
        (tmp_path / "services" / "twin.yaml").write_text(service("twin"))
        page.get_by_text("twin").first.wait_for()
        file.write_text(service().replace("s3://", "nowhere://"))
        note = page.get_by_role("status").filter(has_text="The last build has 1 error")
        note.wait_for()
        assert "twin" in page.inner_text("main")
        file.write_text(service())
        note.wait_for(state="hidden")
        page.close()
    assert troubles == []
