"""Flags, environment variables and defaults."""

from __future__ import annotations

import pytest

from kservec_router.__main__ import main
from kservec_router.errors import SettingsError
from kservec_router.settings import Settings, parse_arguments

GRAPH = '{"nodes":{"root":{"routerType":"Sequence","steps":[{"serviceUrl":"http://a/"}]}}}'


def test_kserves_own_flag_and_variable_work() -> None:
    """The arguments that KServe's controller gives its router are understood."""
    settings, only_check = parse_arguments(["--graph-json", GRAPH], {"PROPAGATE_HEADERS": "A,B"})
    assert (settings.graph_json, settings.patterns, settings.port, only_check) == (GRAPH, ["A", "B"], 8080, False)


def test_a_flag_wins_over_a_variable_and_that_over_the_default() -> None:
    """The order of precedence holds for each setting alone."""
    variables = {"KSERVEC_ROUTER_PORT": "81", "KSERVEC_ROUTER_BODY_LIMIT": "2Mi", "KSERVEC_ROUTER_ACCESS_LOG": "false"}
    settings, _ = parse_arguments(["--port", "82"], variables)
    assert (settings.port, settings.body_limit, settings.access_log) == (82, 2 << 20, False)
    assert settings.max_requests == Settings().max_requests


@pytest.mark.parametrize(
    ("words", "variables"),
    [
        (["--port", "x"], {}),
        (["--port", "-1"], {}),
        ([], {"KSERVEC_ROUTER_BODY_LIMIT": "2MB"}),
        ([], {"KSERVEC_ROUTER_ACCESS_LOG": "yes"}),
        (["--idle-seconds", "nope"], {}),
        (["--shutdown-seconds", "inf"], {}),
        (["--drain-seconds", "nan"], {}),
        (["--port", "9" * 5000], {}),
    ],
)
def test_a_value_that_cannot_be_read_is_refused(words: list[str], variables: dict[str, str]) -> None:
    """The message names the flag or the variable."""
    with pytest.raises(SettingsError, match=r"--|KSERVEC"):
        parse_arguments(words, variables)


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["--check", "--graph-json", GRAPH], 0, ""),
        (["--check", "--graph-json", "[]"], 1, "must be a JSON object"),
        (["--graph", "/nonexistent.json"], 1, "No such file"),
        ([], 2, "give the graph"),
        (["--port", "x"], 2, "--port"),
        (["--graph-json", GRAPH, "--steps", "x"], 2, "NODE/STEP"),
        (["--graph-json", GRAPH, "--steps", "a/b=timeout:inf"], 2, "must be finite"),
        (["--graph-json", GRAPH, "--steps", "a/b=hedge:nan"], 2, "must be finite"),
        (["--graph-json", GRAPH, "--steps", "a/b=retries:" + "9" * 5000], 2, "must be numbers"),
    ],
)
def test_what_is_wrong_at_the_start_is_said(
    words: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong graph ends with 1, a wrong setting with 2, and both with a reason; --check of a good one with 0."""
    monkeypatch.delenv("KSERVEC_ROUTER_GRAPH", raising=False)
    assert main(words) == status
    assert message in capsys.readouterr().err


def test_help_names_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    """--help lists the flags and says how they are set in the environment."""
    with pytest.raises(SystemExit):
        main(["--help"])
    text = capsys.readouterr().out
    assert "--drain-seconds" in text
    assert "KSERVEC_ROUTER_MAX_REQUESTS" in text
