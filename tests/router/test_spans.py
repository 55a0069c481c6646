"""Spans as OpenTelemetry gets them."""

from __future__ import annotations

import pytest

from kservec_router.tracing import Span

export = pytest.importorskip("opentelemetry.sdk.trace.export")
memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
spans = pytest.importorskip("kservec_router.spans")


def test_a_span_is_handed_on_with_its_ids_times_and_status() -> None:
    """Ids, parent, times, kind, attributes and error status arrive at a span processor."""
    exporter = memory.InMemorySpanExporter()
    record = spans.make_recorder(export.SimpleSpanProcessor(exporter))
    record(Span("root/a", b"1" * 32, b"2" * 16, b"3" * 16, 5, 9, 503, (("kservec.node", "root"),), False))
    record(Span("POST", b"1" * 32, b"3" * 16, b"", 4, 10, 200, (), True))
    call, request = exporter.get_finished_spans()
    assert (call.context.trace_id, call.context.span_id) == (int("1" * 32, 16), int("2" * 16, 16))
    assert call.parent is not None
    assert call.parent.span_id == request.context.span_id
    assert (call.start_time, call.end_time, call.status.is_ok) == (5, 9, False)
    assert dict(call.attributes or {}) == {"kservec.node": "root", "http.response.status_code": 503}
    assert (request.parent, request.kind.name, request.resource.attributes["service.name"]) == (
        None,
        "SERVER",
        "kservec-router",
    )
