"""Pages from templates. Everything that a template is given is text and escaped, but for pictures that are SVG.

Jinja2 is loaded here and nowhere else. The templates are handed in, since reading them is not for this ring.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import DictLoader, Environment, StrictUndefined
from markupsafe import Markup

from kservec.report.words import plural, printable
from kservec.site.amounts import count_text, cpu_text, memory_text

if TYPE_CHECKING:
    from collections.abc import Mapping

SUFFIX = ".html"


class Page(NamedTuple):
    """A file of the site by its path below the folder, with `/` between the parts."""

    path: str
    content: bytes


class Link(NamedTuple):
    """A link of the navigation: where it leads below the site's folder, and what it says. `number` stands beside it."""

    page: str
    text: str
    number: str = ""


class Writer:
    """Writes pages of one site.

    Args:
        templates: the texts of the templates by their names.
        title: the name of the environment.
        links: what the navigation at the head of each page leads to.
        compared: whether tables of units have a column of what changes.
    """

    def __init__(
        self, templates: Mapping[str, str], title: str, links: tuple[Link, ...], *, compared: bool = False
    ) -> None:
        environment = Environment(
            loader=DictLoader(dict(templates)),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            auto_reload=False,
        )
        environment.filters.update(
            plural=plural, printable=printable, count=count_text, cpu=cpu_text, memory=memory_text
        )
        environment.globals.update(environment_name=title, links=links, compared=compared)
        self._environment = environment

    def page(self, template: str, path: str, **values: Any) -> Page:
        """One page.

        Args:
            template: the name of its template, without its end.
            path: the file of the page.
            values: what the template shows.
        """
        root = "../" * path.count("/")
        text = self._environment.get_template(f"{template}{SUFFIX}").render(root=root, path=path, **values)
        return Page(path, text.encode("utf-8", "backslashreplace"))


def picture(svg: str) -> Markup:
    """A picture that was drawn by kservec itself, which has escaped all texts in it."""
    return Markup(svg)  # noqa: S704 - SVG of our own, in which texts are escaped
