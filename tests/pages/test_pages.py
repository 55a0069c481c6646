"""Pages: whole without a script, safe whatever is written in the input, and the same every time."""

from __future__ import annotations

import os
import posixpath
import subprocess
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from tests.cli.running import PROJECT, ROOT

from kservec.site.overview import INDEX_SCRIPT
from kservec.site.paging import MOST_LINES, MOST_ROWS

from .sites import elements, project, service, site, text

POLICY = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'"
LARGEST_PAGE = 400_000
HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{%7*7%}</td></table>"
LENIENT = f"{PROJECT}policy:\n  rules:\n    policy/inline-secret: 'off'\n"
SECRET = "hunter2-s3cr3t"  # noqa: S105 - what must not be seen
UNIT = "units/n-payments/inferenceservice-fraud.html"


@cache
def examples() -> dict[str, bytes]:
    """The report of the examples, which have every kind of unit."""
    return site(ROOT)


def pages(made: dict[str, bytes]) -> dict[str, bytes]:
    """The pages of a site."""
    return {path: content for path, content in made.items() if path.endswith(".html")}


def test_every_link_leads_somewhere() -> None:
    """Every link of every page leads to a file of the site, and to an id on it if it names one."""
    made = examples()
    ids = {path: {e.attributes.get("id") for e in elements(page)} for path, page in pages(made).items()}
    followed = 0
    for path, page in pages(made).items():
        for element in elements(page):
            for name in ("href", "src"):
                if (link := element.attributes.get(name)) is not None:
                    file, _, fragment = link.partition("#")
                    target = (
                        posixpath.normpath(posixpath.join(posixpath.dirname(path), unquote(file))) if file else path
                    )
                    assert target in made, (path, link)
                    assert not fragment or fragment in ids[target], (path, link)
                    followed += 1
    assert followed > 3000


def test_nothing_is_inline_and_nothing_comes_from_outside() -> None:
    """The policy of every page holds for it: no style, script or handler in it, no address of another machine."""
    for path, page in pages(examples()).items():
        found = elements(page)
        assert [e.attributes["content"] for e in found if "http-equiv" in e.attributes] == [POLICY], path
        assert not [e for e in found if e.name in ("style", "base", "iframe", "object", "embed")], path
        scripts = [e.attributes["src"].rpartition("/")[2] for e in found if e.name == "script"]
        assert set(scripts) <= {"script.js", INDEX_SCRIPT}, path
        for element in found:
            assert not [name for name in element.attributes if name == "style" or name.startswith("on")], path
            assert not [v for n, v in element.attributes.items() if n in ("href", "src") and ":" in v], path


@pytest.mark.slow
def test_the_same_inputs_give_the_same_bytes() -> None:
    """Two processes with different hash seeds write the same site."""
    program = (
        "import hashlib; from tests.cli.running import ROOT; from tests.pages.sites import site\n"
        "for path, content in sorted(site(ROOT).items()): print(path, hashlib.sha256(content).hexdigest())"
    )
    given = [
        subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, locale in (("1", "C"), ("2", "C.UTF-8"))
    ]
    assert given[0].count("\n") > 30
    assert given[0] == given[1]


def test_a_unit_says_what_it_is_and_where_each_line_comes_from(tmp_path: Path) -> None:
    """The page of a unit has its amounts, its address, its model, and lines with links to the lines of its source."""
    made = site(project(tmp_path, {"services/fraud.yaml": service()}))
    shown = text(made[UNIT])
    for part in ("fraud", "2 to 6", "1 to 3", "2 to 6 GiB", "s3://models/fraud", "minReplicas: 2", "kserve-sklearn"):
        assert part in shown
    links = [e.attributes["href"] for e in elements(made[UNIT]) if e.attributes.get("class") == "place"]
    line = service().splitlines().index("    minReplicas: 2") + 1
    (place,) = {link for link in links if link.endswith(f"#L{line}") and "services-fraud" in link}
    page = posixpath.normpath(posixpath.join(posixpath.dirname(UNIT), place.partition("#")[0]))
    assert f'<tr id="L{line}"><td><a href="#L{line}" tabindex="-1">{line}</a></td><td>    minReplicas: 2</td>' in (
        made[page].decode()
    )


def test_hostile_values_stay_text(tmp_path: Path) -> None:
    """Values that look like HTML are shown as they are, and make no element on any page."""
    hostile = service().replace(
        "      resources:",
        f"      args:\n        - {HOSTILE!r}\n      resources:".replace("\\'", "''"),
    )
    files = {"services/fraud.yaml": hostile, "services/<img src=x onerror=alert(2)>.yaml": service("odd")}
    made = site(project(tmp_path, files))
    plain = site(project(tmp_path / "plain", {"services/fraud.yaml": service(), "services/odd.yaml": service("odd")}))
    assert HOSTILE in text(made[UNIT])
    seen = {e.name for page in pages(plain).values() for e in elements(page)}
    for path, page in pages(made).items():
        assert {e.name for e in elements(page)} <= seen, path
        assert not [e for e in elements(page) if e.attributes.get("src") == "x"], path
    assert all("<" not in path and ">" not in path for path in made)


def test_the_index_of_units_cannot_end_its_script() -> None:
    """The script with the units holds JSON in which nothing can be a tag or the end of a line."""
    from kservec.core.diagnostics import ObjectRef  # noqa: PLC0415 - only here
    from kservec.site.amounts import Amounts  # noqa: PLC0415 - as above
    from kservec.site.overview import UnitRow, index_script  # noqa: PLC0415 - as above
    from kservec.site.subject import Counts  # noqa: PLC0415 - as above

    ref = ObjectRef("v1", HOSTILE, "</script>", "a\u2028b\"';alert(1)//")
    script = index_script([UnitRow(ref, "units/a.html", "", Amounts(), Counts(), "")])
    assert "<" not in script
    assert script.isascii()
    assert script.count("\n") == 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("      resources:", f"      env:\n        - name: DB_PASSWORD\n          value: {SECRET}\n      resources:"),
        ("      resources:", f"      args: ['--api-key={SECRET}']\n      resources:"),
        ("s3://models/fraud", f"https://user:{SECRET}@models.example.com/fraud.tar.gz"),
    ],
    ids=["variable", "argument", "password in a URI"],
)
def test_secrets_are_nowhere_in_a_site(tmp_path: Path, old: str, new: str) -> None:
    """A credential in a spec is on no page: neither with the object, nor with the model, nor in the source."""
    spec = service()
    assert old in spec
    made = site(project(tmp_path, {"services/fraud.yaml": spec.replace(old, new), "kservec.yaml": LENIENT}))
    assert len(pages(made)) > 8
    assert "(not shown)" in text(made[UNIT]) or "***" in text(made[UNIT])
    assert [path for path, content in made.items() if SECRET.encode() in content] == []


def test_values_of_secret_documents_are_not_shown(tmp_path: Path) -> None:
    """A platform's Secret is read for its shape; its source page shows none of its lines."""
    secret = (
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: models\n  namespace: payments\n"
        f"stringData:\n  AWS_ACCESS_KEY_ID: {SECRET}\n  AWS_SECRET_ACCESS_KEY: {SECRET}\n"
        "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: reader, namespace: payments}\n"
        "secrets: [{name: models}]\n"
    )
    spec = service().replace("    minReplicas: 2", "    serviceAccountName: reader\n    minReplicas: 2")
    made = site(project(tmp_path, {"services/fraud.yaml": spec, "platform/secret.yaml": secret}))
    assert [path for path, content in made.items() if SECRET.encode() in content] == []
    wanted = text(made["requirements.html"])
    assert "reader" in wanted
    assert "models" in wanted


@pytest.mark.slow
def test_pages_stay_small_however_many_units_there_are(tmp_path: Path) -> None:
    """Tables go on over several pages that lead to each other; together they have every unit once."""
    count = MOST_ROWS + 50
    files = {f"services/s{n}.yaml": service(f"s{n:03}") for n in range(count)}
    made = site(project(tmp_path, files))
    assert max(len(page) for page in pages(made).values()) < LARGEST_PAGE
    for stem in ("index", "namespaces/n-payments"):
        first, second = made[f"{stem}.html"], made[f"{stem}.p2.html"]
        assert [e for e in elements(first) if e.attributes.get("rel") == "next"]
        assert [e for e in elements(second) if e.attributes.get("rel") == "prev"]
        links = [e.attributes.get("href", "") for page in (first, second) for e in elements(page)]
        listed = [link for link in links if "inferenceservice-s" in link]
        assert len(listed) == len(set(listed)) == count
    assert made[INDEX_SCRIPT].count(b"\n") == count + 2


def test_a_long_object_goes_on_on_the_next_page(tmp_path: Path) -> None:
    """An object with more lines than a page has room for is split, and each of its lines is on one page."""
    many = "".join(f"        - name: V{n}\n          value: v{n}\n" for n in range(MOST_LINES))
    spec = service().replace("      resources:", f"      env:\n{many}      resources:")
    made = site(project(tmp_path, {"services/fraud.yaml": spec}))
    parts = [made[UNIT], *(page for path, page in made.items() if path.startswith(f"{UNIT.removesuffix('.html')}.p"))]
    assert len(parts) > 2
    assert max(map(len, parts)) < LARGEST_PAGE
    for n in (0, MOST_LINES // 2, MOST_LINES - 1):
        assert sum(page.count(f"  value: v{n}</td>".encode()) for page in parts) == 1
    assert any(path.startswith("sources/") and ".p2.html" in path for path in made)


def test_other_units_do_not_change_the_page_of_a_unit(tmp_path: Path) -> None:
    """Only the numbers in the navigation tell that there are more units."""
    alone = site(project(tmp_path / "a", {"services/fraud.yaml": service()}))
    with_others = site(
        project(tmp_path / "b", {"services/fraud.yaml": service(), "services/other.yaml": service("other", "vision")})
    )

    def main(page: bytes) -> str:
        return page.decode().partition("<main")[2]

    assert main(alone[UNIT]) == main(with_others[UNIT])


def test_the_way_of_requests_is_drawn_with_links(tmp_path: Path) -> None:
    """The page of a unit has its picture, whose nodes lead to the lines of the objects that they stand for."""
    made = site(project(tmp_path, {"services/fraud.yaml": service()}))
    page = made[UNIT].decode()
    picture = page[page.index("<svg") : page.index("</svg>")]
    assert "fraud-predictor" in picture
    links = [e.attributes["href"] for e in elements(picture.encode()) if e.name == "a"]
    assert links
    assert {link.rpartition("#")[2] for link in links} <= {e.attributes.get("id", "") for e in elements(made[UNIT])}
    assert b".kservec-picture" in made["style.css"]
