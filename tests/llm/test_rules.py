"""What KServe's API refuses in a service and in a config, each with what breaks it and what does not."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.llm.rules.http_rules import MOST_MATCHES

from .judging import SERVICE, Row, admitted, quoted, rows

TABLE = [*rows("rules.yaml")]


@pytest.mark.parametrize("row", TABLE, ids=[row.settings["title"] for row in TABLE])
def test_findings(row: Row) -> None:
    """Each document of the table gets exactly the findings that stand beside it, at the lines that they quote."""
    found = admitted(row.given, row.settings.get("kind", SERVICE), row.settings.get("version", "v1alpha2"))
    assert quoted(found.diagnostics, found) == row.expected
    for finding in found.diagnostics:
        assert finding.message
        assert finding.help
        assert finding.subject is not None
        assert finding.subject.name == "chat"


@pytest.mark.parametrize(("extra", "slugs"), [(0, []), (1, ["llm/route-too-many-matches"])])
def test_matches_of_a_whole_route(extra: int, slugs: list[str]) -> None:
    """All rules of a route have 128 matches together."""
    match = "{path: {type: PathPrefix, value: /}}"
    rule: Any = f"{{matches: [{', '.join([match] * 64)}]}}"
    rest = f"{{matches: [{', '.join([match] * (MOST_MATCHES - 64 + extra))}]}}"
    found = admitted(f"spec: {{router: {{route: {{http: {{spec: {{rules: [{rule}, {rest}]}}}}}}}}}}")
    assert [d.code.slug for d in found.diagnostics] == slugs
