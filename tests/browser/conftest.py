"""A browser for the length of a session, sites to look at, and pages that tell when something goes wrong on them."""

from __future__ import annotations

import os
import shutil
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from benchmarks.services import services, target
from tests.cli.running import PROJECT, ROOT
from tests.pages.sites import project, service, site

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

NOT_LOOKED_AT = "NO REPORT WAS LOOKED AT IN A BROWSER"
CHOSEN = "KSERVEC_BROWSER"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-component-update",
    "--disable-background-networking", "--disable-sync",
)  # fmt: skip
MANY = 1_000
SECONDS = 30
DESKTOP, PHONE = (1280, 900), (360, 740)
HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(2)><svg/onload=alert(3)>"


def program() -> str | None:
    """The browser of the machine: the one that the environment names, else the first that is installed."""
    named = os.environ.get(CHOSEN)
    return named or next((path for name in PROGRAMS if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A running browser with an empty profile; skips what needs it if there is none."""
    playwright = pytest.importorskip("playwright.sync_api", reason=f"{NOT_LOOKED_AT}: playwright is not installed")
    path = program()
    if path is None:
        pytest.skip(f"{NOT_LOOKED_AT}: there is none ({', '.join(PROGRAMS)}); {CHOSEN} can name one")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=path, args=list(FLAGS))
        yield running
        running.close()


class Site(NamedTuple):
    """A site on the disk."""

    folder: Path

    @property
    def pages(self) -> list[str]:
        """The pages, by their paths."""
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*.html"))

    def page(self, part: str) -> str:
        """The only page with a text in its path."""
        (found,) = (path for path in self.pages if part in path)
        return found

    def address(self, page: str) -> str:
        """Where the browser finds a page."""
        return f"{self.folder.as_uri()}/{page}"


class Visit(NamedTuple):
    """A page in the browser, and everything that went wrong while it was looked at."""

    site: Site
    page: Page
    troubles: list[str]

    def goto(self, path: str) -> Page:
        """Open a page of the site."""
        self.page.goto(self.site.address(path))
        return self.page


Visiting = Callable[..., "Any"]


@pytest.fixture
def visiting(browser: Browser) -> Visiting:
    """Opens visits to a site; at the end of each nothing may have gone wrong."""

    @contextmanager
    def visit(of: Site, size: tuple[int, int] = DESKTOP, **options: Any) -> Iterator[Visit]:
        context: BrowserContext = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
        context.set_default_timeout(SECONDS * 1000)
        page, troubles = context.new_page(), list[str]()
        page.on("console", lambda message: troubles.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: troubles.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (troubles.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("requestfailed", lambda request: troubles.append(f"failed: {request.url}"))
        page.on("request", lambda request: troubles.extend(outside(of, request.url)))
        yield Visit(of, page, troubles)
        context.close()
        assert troubles == []

    return visit


READ = """
async shot => {
  const bitmap = await createImageBitmap(await (await fetch(shot)).blob());
  const canvas = new OffscreenCanvas(1, 1);
  canvas.getContext("2d").drawImage(bitmap, 0, 0);
  return [...canvas.getContext("2d").getImageData(0, 0, 1, 1).data].slice(0, 3);
}"""


def brightness(page: Page, x: float, y: float) -> float:
    """The relative luminance of a point of a page, as WCAG 2 defines it, read on a page that forbids nothing."""
    shot = page.screenshot(clip={"x": x, "y": y, "width": 1, "height": 1})
    reader = page.context.new_page()
    colours = reader.evaluate(READ, f"data:image/png;base64,{b64encode(shot).decode()}")
    reader.close()
    linear = [c / 3294.6 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colours]
    return sum(share * value for share, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def outside(of: Site, url: str) -> list[str]:
    """A complaint about a request that leaves the folder of a site."""
    return [] if url.startswith(f"{of.folder.as_uri()}/") else [f"request: {url}"]


def laid(folder: Path, files: dict[str, bytes]) -> Site:
    """A site, written into a folder."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return Site(folder)


@pytest.fixture(scope="session")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The report of the examples."""
    return laid(tmp_path_factory.mktemp("examples"), site(ROOT))


@pytest.fixture(scope="session")
def many(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The report of a thousand services in twenty namespaces, with the objects that Argo CD reads."""
    work = tmp_path_factory.mktemp("many")
    files = {file.name: file.content.decode() for file in services(MANY)}
    files |= {f"platform/{file.name}": file.content.decode() for file in target().platform}
    tool = "gitops: {tool: argocd, repoURL: 'https://git.example.com/ml.git', shard: namespace}\n"
    return laid(work / "site", site(project(work, {**files, "kservec.yaml": PROJECT + tool})))


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The report of a project whose values and file names try to break out of the page."""
    work = tmp_path_factory.mktemp("hostile")
    spec = service().replace("      resources:", f"      args: [{HOSTILE.replace(chr(39), '')!r}]\n      resources:")
    files = {"services/fraud.yaml": spec, "services/<img src=x onerror=alert(4)>.yaml": service("odd", "vision")}
    return laid(work / "site", site(project(work, files)))
