"""How steps are called: headers, time limits, repetition, hedging, and traces."""

from __future__ import annotations

import asyncio
import gzip
import re
import time
from typing import Any

import pytest

from kservec_router.errors import SettingsError
from kservec_router.policies import Policy, parse_policies
from kservec_router.propagation import Propagation, compile_pattern

from .graphs import Answer, Services, app_for, ask, node, plan_of, step

ONE = {"root": node("Sequence", step("a"))}
TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def lines_of(services: Services, name: str = "a", call: int = 0) -> dict[str, str]:
    """The header lines that a service got with a call."""
    lines = services.seen[name][call].lines.decode("latin-1").split("\r\n")
    return dict(line.split(": ", 1) for line in lines if line)


def asked(nodes: dict[str, Any], settings: dict[str, Any] | None = None, **headers: str) -> Services:
    """The services after a request with these headers."""
    services = Services({name: {"json": {}} for name in "abc"})
    asyncio.run(ask(app_for(plan_of(nodes), services, **(settings or {})), **headers))
    return services


@pytest.mark.parametrize(
    ("patterns", "passed"),
    [
        ("", set()),
        ("X-Trace-Id", {"x-trace-id"}),
        ("x-trace-id", {"x-trace-id"}),
        (" X-Other , X-Trace-Id", {"x-trace-id", "x-other"}),
        ("X-Other,", {"x-other"}),
        ("Trace", {"x-trace-id"}),
        ("^X-Trace$", set()),
        ("*Trace*,X-Other", {"x-other"}),
        ("X-(?!Secret),X-Other", {"x-other"}),
        ("X-[[:alpha:]]+$", {"x-other"}),
        (".*", {"x-trace-id", "x-other", "authorization"}),
    ],
)
def test_headers_pass_by_pattern(patterns: str, passed: set[str]) -> None:
    """A header goes on when a pattern matches within its name; invalid patterns and empty ones count for nothing."""
    sent = {"x_trace_id": "t", "x_other": "o", "authorization": "Bearer b", "te": "trailers", "host": "h"}
    services = asked(ONE, settings={"propagate_headers": patterns}, **sent)
    own = {"content-type", "traceparent", "x-envoy-expected-rq-timeout-ms"}
    assert set(lines_of(services)) - own == passed


def test_headers_of_the_connection_do_not_pass() -> None:
    """Neither hop-by-hop headers, nor those that Connection names, whatever the pattern."""
    sent = {
        "connection": "keep-alive, X-Hop",
        "x_hop": "1",
        "keep_alive": "5",
        "proxy_authorization": "p",
        "expect": "x",
    }
    services = asked(ONE, settings={"propagate_headers": ".*"}, **sent, upgrade="h2c", x_other="o")
    own = {"content-type", "traceparent", "x-envoy-expected-rq-timeout-ms"}
    assert set(lines_of(services)) - own == {"x-other"}


@pytest.mark.parametrize(
    "pattern",
    ["(", "[a-", "*x", r"(a)\1", "(?<=a)b", "a++", "(?P=x)", r"a\Z", "(?>a)", "x{1001}{1001}", "x{" + "9" * 5000 + "}"],
)
def test_what_go_would_not_compile_is_no_pattern(pattern: str) -> None:
    """Expressions that RE2 refuses are refused, also where Python would take them."""
    assert compile_pattern(pattern) is None
    assert Propagation([pattern]).lines([(b"x", b"1")], {}).others == b""


@pytest.mark.parametrize("pattern", ["a+", r"\bX\b", "[+*?]+", r"a\++", "(?i)x", "(?:a|b)", "(?P<n>a)", r"x\z", "[^a]"])
def test_what_go_would_compile_is_a_pattern(pattern: str) -> None:
    """Ordinary expressions are taken."""
    assert compile_pattern(pattern) is not None


@pytest.mark.parametrize(
    ("sent", "got"),
    [
        (None, "application/json"),
        ("text/csv", "text/csv"),
        ("application/x-protobuf", "application/x-protobuf"),
        ("application/x-www-form-urlencoded", "application/json"),
    ],
)
def test_the_content_type_goes_with_the_body(sent: str | None, got: str) -> None:
    """The client's type goes to steps that get its body; what curl says when nobody tells it otherwise is JSON."""
    services = asked(ONE, **({"content_type": sent} if sent else {}))
    assert lines_of(services)["content-type"] == got


def test_a_step_that_gets_a_reply_gets_its_content_type() -> None:
    """The type of the reply before, JSON for plain text, or the client's own if a pattern says so."""
    nodes = {"root": node("Sequence", step("a"), step("b", data="$response"))}
    for kind, got in (("text/plain", "application/json"), ("application/x-protobuf", "application/x-protobuf")):
        services = Services({"a": {"headers": {"Content-Type": kind}}, "b": {"json": {}}})
        asyncio.run(ask(app_for(plan_of(nodes), services)))
        assert lines_of(services, "b")["content-type"] == got
    services = Services({"a": {"json": {}}, "b": {"json": {}}})
    app = app_for(plan_of(nodes), services, propagate_headers="Content-Type")
    asyncio.run(ask(app, content_type="text/csv"))
    assert lines_of(services, "b")["content-type"] == "text/csv"


def test_a_coded_body_is_passed_on_as_it_is_and_looked_into_decoded() -> None:
    """A gzip request goes on with its coding, and a Switch still sees what is in it."""
    services = Services({"a": {"json": {}}})
    plan = plan_of({"root": node("Switch", step("a", condition="kind"))})
    body = gzip.compress(b'{"kind":1}', mtime=0)
    answer = asyncio.run(ask(app_for(plan, services), body, content_encoding="gzip"))
    assert answer.status == 200
    assert services.bodies("a") == [body]
    assert lines_of(services)["content-encoding"] == "gzip"


@pytest.mark.parametrize(
    "body", [gzip.compress(b"x" * 2_000_000, mtime=0), b"no gzip", gzip.compress(b"{}", mtime=0)[:-4]]
)
def test_a_coding_that_is_broken_or_a_bomb_is_a_bad_request(body: bytes) -> None:
    """What does not decode, or decodes to more than the limit, is answered with 400."""
    services = Services({"a": {"json": {}}})
    plan = plan_of({"root": node("Switch", step("a", condition="@this"))})
    app = app_for(plan, services, body_limit=1 << 20)
    assert asyncio.run(ask(app, body, content_encoding="gzip")).status == 400


def test_a_trace_goes_on_with_a_span_of_its_own() -> None:
    """Trace id, flags and state are the client's, the span id is new for each call."""
    nodes = {"root": node("Sequence", step("a"), step("b"))}
    services = asked(nodes, traceparent=TRACE, tracestate="v=1")
    first, second = lines_of(services, "a"), lines_of(services, "b")
    pattern = r"00-0af7651916cd43dd8448eb211c80319c-([0-9a-f]{16})-01"
    spans = {re.fullmatch(pattern, lines["traceparent"])[1] for lines in (first, second)}  # type: ignore[index]
    assert len(spans) == 2
    assert "b7ad6b7169203331" not in spans
    assert first["tracestate"] == "v=1"


@pytest.mark.parametrize(
    "parent",
    [
        None, "", "00-0-0-01", "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "00-0AF7651916CD43DD8448EB211C80319C-B7AD6B7169203331-01",
    ],
)  # fmt: skip
def test_a_trace_that_is_not_well_formed_is_a_new_one(parent: str | None) -> None:
    """Without a proper traceparent a trace begins here, and the client's tracestate is not taken over."""
    services = asked(ONE, tracestate="v=1", **({"traceparent": parent} if parent is not None else {}))
    lines = lines_of(services)
    assert re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", lines["traceparent"])
    assert "0af7651916cd43dd8448eb211c80319c" not in lines["traceparent"]
    assert "tracestate" not in lines


def test_a_header_cannot_be_smuggled_in_by_a_pattern() -> None:
    """Traceparent is written once, also when a pattern matches it."""
    services = asked(ONE, settings={"propagate_headers": ".*"}, traceparent=TRACE)
    assert services.seen["a"][0].lines.count(b"traceparent") == 1


@pytest.mark.parametrize(
    ("spec", "sent", "milliseconds"),
    [
        ({}, None, 60_000),
        ({"timeout": 10}, None, 10_000),
        ({"timeout": 10}, "3000", 3_000),
        ({"timeout": 10}, "30000", 10_000),
        ({"timeout": 10}, "x", 10_000),
        ({"timeout": 10, "routerTimeouts": {"serviceClient": 4}}, None, 4_000),
        ({"routerTimeouts": {"serverWrite": 0}}, None, None),
    ],
)
def test_the_time_that_is_left_goes_on(spec: dict[str, Any], sent: str | None, milliseconds: int | None) -> None:
    """Each call is told how long it may take: the shortest of the graph's limits and what the client may wait."""
    services = Services({"a": {"json": {}}})
    headers = {"x_envoy_expected_rq_timeout_ms": sent} if sent else {}
    asyncio.run(ask(app_for(plan_of(ONE, **spec), services), **headers))
    told = lines_of(services).get("x-envoy-expected-rq-timeout-ms")
    if milliseconds is None:
        assert told is None
        assert services.seen["a"][0].deadline == 0
    else:
        assert told is not None
        assert milliseconds - 100 <= int(told) <= milliseconds
        call = services.seen["a"][0]
        assert 0 < call.deadline - call.begin <= milliseconds / 1000


def test_a_step_has_a_time_limit_of_its_own() -> None:
    """The policy's limit wins over the graph's for calls."""
    services = Services({"a": {"json": {}}})
    plan = plan_of(ONE, "root/*=timeout:2.5", routerTimeouts={"serviceClient": 9})
    asyncio.run(ask(app_for(plan, services)))
    call = services.seen["a"][0]
    assert call.deadline - call.begin == pytest.approx(2.5)


FAILS_TWICE = [{"status": 503, "json": {}}, {"down": True}, {"json": {"ok": 1}}]


@pytest.mark.parametrize(
    ("policy", "replies", "status", "calls"),
    [
        (None, FAILS_TWICE, 503, 1),
        ("root/0=retries:1", FAILS_TWICE, 500, 2),
        ("root/0=retries:2", FAILS_TWICE, 200, 3),
        ("*/*=retries:5", FAILS_TWICE, 200, 3),
        ("root/0=retries:2", {"status": 422, "json": {}}, 422, 1),
        ("root/0=retries:2", {"status": 503, "json": {}}, 503, 3),
    ],
)
def test_a_marked_step_is_called_again(policy: str | None, replies: Any, status: int, calls: int) -> None:
    """As often as it is marked for, while it fails in a way that may pass; other steps are called once."""
    services = Services({"a": replies})
    app = app_for(plan_of(ONE, *([policy] if policy else [])), services, backoff_seconds=0.001)
    assert asyncio.run(ask(app)).status == status
    assert len(services.seen["a"]) == calls


def test_a_request_with_an_idempotency_key_is_repeated_when_services_get_the_key() -> None:
    """The key makes calls repeatable only if the services see it."""
    for patterns, calls in (("Idempotency-Key", 3), ("", 1)):
        services = Services({"a": FAILS_TWICE})
        app = app_for(plan_of(ONE), services, propagate_headers=patterns, backoff_seconds=0.001)
        asyncio.run(ask(app, idempotency_key="k"))
        assert len(services.seen["a"]) == calls


def test_there_is_no_retry_for_which_there_is_no_time() -> None:
    """When the pause would outlast the deadline, the failure is the answer."""
    services = Services({"a": {"status": 503, "json": {}}})
    app = app_for(plan_of(ONE, "root/0=retries:9"), services, backoff_seconds=10)
    begin = time.perf_counter()
    assert asyncio.run(ask(app, x_envoy_expected_rq_timeout_ms="300")).status == 503
    assert time.perf_counter() - begin < 1
    assert len(services.seen["a"]) == 1


def test_a_slow_call_is_hedged() -> None:
    """After the given time there is a second call; the first good reply counts, and the other call is given up."""
    services = Services({"a": [{"json": {"n": 1}, "seconds": 2}, {"json": {"n": 2}}]})
    app = app_for(plan_of(ONE, "root/0=hedge:0.03"), services)

    async def run() -> Answer:
        answer = await asyncio.wait_for(ask(app), 1)
        await asyncio.sleep(0)
        return answer

    assert asyncio.run(run()).json() == {"n": 2}
    assert services.given_up == ["a"]


def test_a_call_that_is_not_slow_is_not_hedged() -> None:
    """A reply within the time is the answer of one call."""
    services = Services({"a": {"json": {}}})
    asyncio.run(ask(app_for(plan_of(ONE, "root/0=hedge:0.5"), services)))
    assert len(services.seen["a"]) == 1


@pytest.mark.parametrize("text", ["x", "root=retries:1", "a/b=retries:x", "a/b=foo:1", "a/b=retries:-1", "a/b="])
def test_a_policy_that_is_not_well_formed_is_refused(text: str) -> None:
    """The form is NODE/STEP=name:number,..."""
    with pytest.raises(SettingsError):
        parse_policies((text,))


def test_the_first_policy_that_matches_counts() -> None:
    """Patterns are looked at in their order."""
    policies = parse_policies(("root/a=retries:1", "root/*=timeout:3,hedge:0.1"))
    assert policies.of("root", "a") == Policy(0, 1, 0)
    assert policies.of("root", "b") == Policy(3, 0, 0.1)
    assert policies.of("x", "b") == Policy()


def test_too_many_requests_at_a_time_are_refused() -> None:
    """The third of three requests is answered with 503 and Retry-After when two are allowed; later ones are served."""
    services = Services({"a": {"json": {}, "seconds": 0.05}})
    app = app_for(plan_of(ONE), services, max_requests=2)

    async def run() -> tuple[list[Answer], Answer]:
        return list(await asyncio.gather(*(ask(app) for _ in range(3)))), await ask(app)

    answers, later = asyncio.run(run())
    assert sorted(answer.status for answer in answers) == [200, 200, 503]
    refused = next(answer for answer in answers if answer.status == 503)
    assert refused.header("retry-after") == "1"
    assert later.status == 200


@pytest.mark.parametrize(("length", "status"), [(1000, 200), (1001, 413)])
def test_a_body_that_is_too_long_to_hold_is_refused(length: int, status: int) -> None:
    """Where the body is needed as a whole, the limit holds."""
    services = Services({"a": {"json": {}}, "b": {"json": {}}})
    plan = plan_of({"root": node("Sequence", step("a"), step("b"))})
    answer = asyncio.run(ask(app_for(plan, services, body_limit=1000), b"x" * length))
    assert answer.status == status
    assert (len(services.seen) == 2) is (status == 200)


@pytest.mark.parametrize(
    ("path", "method", "status", "called"),
    [
        ("/readyz", "GET", 200, False), ("/readyz", "POST", 200, False), ("/healthz", "GET", 200, False),
        ("/healthz", "POST", 200, True), ("/metrics", "POST", 200, True), ("/metrics", "GET", 200, False),
        ("/readyz/", "POST", 200, True), ("/v2/health/ready", "GET", 200, True),
    ],
)  # fmt: skip
def test_all_but_a_few_paths_are_for_the_graph(path: str, method: str, status: int, called: bool) -> None:
    """Health and metrics are answered by the router, everything else by the graph."""
    services = Services({"a": {"json": {}}})
    answer = asyncio.run(ask(app_for(plan_of(ONE), services), path=path, method=method))
    assert (answer.status, bool(services.seen)) == (status, called)


def test_a_draining_router_is_not_ready_and_still_serves() -> None:
    """/readyz says 503 and requests are answered, with the word that the connection ends."""
    app = app_for(plan_of(ONE), Services({"a": {"json": {}}}))
    app.router.is_draining = True
    ready, answer = asyncio.run(ask(app, path="/readyz", method="GET")), asyncio.run(ask(app))
    assert (ready.status, ready.body) == (503, b"shutting down\n")
    assert (answer.status, answer.header("connection")) == (200, "close")


def test_requests_end_with_the_graph_that_they_began_with() -> None:
    """A new graph takes new requests; the hosts of the old one can be called until its last request is over."""
    services = Services({"a": {"json": {"from": "a"}, "seconds": 0.05}, "b": {"json": {"from": "b"}}})
    app = app_for(plan_of({"root": node("Sequence", step("a"), step("a"))}), services)
    allowed: list[set[str]] = []
    app.router.on_origins = lambda origins: allowed.append({origin.host for origin in origins})

    async def run() -> tuple[Answer, Answer]:
        old = asyncio.create_task(ask(app))
        await asyncio.sleep(0.01)
        app.router.use(plan_of({"root": node("Sequence", step("b"))}))
        new = await ask(app)
        return await old, new

    old, new = asyncio.run(run())
    assert (old.json(), new.json()) == ({"from": "a"}, {"from": "b"})
    assert allowed == [{"a", "b"}, {"b"}]
