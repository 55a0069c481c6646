"""Export of spans by OpenTelemetry (extra `router-spans`), set up by its own OTEL_* variables."""

from __future__ import annotations

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from kservec_router.tracing import Recorder, Span


def make_recorder(processor: SpanProcessor | None = None) -> Recorder:
    """A recorder that hands spans to *processor*, or else to the collector that OTEL_EXPORTER_OTLP_ENDPOINT names."""
    chosen = processor or BatchSpanProcessor(OTLPSpanExporter())
    resource = Resource.create({"service.name": "kservec-router"})

    def record(span: Span) -> None:
        chosen.on_end(_readable(span, resource))

    return record


def _readable(span: Span, resource: Resource) -> ReadableSpan:
    kind = SpanKind.SERVER if span.is_server else SpanKind.CLIENT
    parent = _context(span.trace_id, span.parent_id) if span.parent_id else None
    return ReadableSpan(
        name=span.name,
        context=_context(span.trace_id, span.span_id),
        parent=parent,
        resource=resource,
        attributes={**dict(span.attributes), "http.response.status_code": span.status},
        kind=kind,
        status=Status(StatusCode.ERROR) if span.status >= 500 else Status(StatusCode.UNSET),
        start_time=span.start,
        end_time=span.end,
    )


def _context(trace_id: bytes, span_id: bytes) -> SpanContext:
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=False, trace_flags=TraceFlags(TraceFlags.SAMPLED))
