"""Sends OpenTelemetry spans to a collector using OTLP over HTTP. Loaded only if a collector is configured.

Ended spans are put into a bounded queue, and a thread of the OpenTelemetry library sends them. No call waits for the
collector. If the queue is full, spans are dropped.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from urllib.parse import urlsplit

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE
from opentelemetry.semconv.attributes.http_attributes import (
    HTTP_REQUEST_METHOD,
    HTTP_RESPONSE_STATUS_CODE,
    HTTP_ROUTE,
)
from opentelemetry.semconv.attributes.server_attributes import SERVER_ADDRESS, SERVER_PORT
from opentelemetry.semconv.attributes.url_attributes import URL_FULL, URL_PATH
from opentelemetry.trace import SpanKind, Status, StatusCode

from simulator.engine.records import origins
from simulator.engine.server.http.messages import Outgoing
from simulator.engine.server.http.request import Request
from simulator.engine.webhooks import Attempt, Outcome
from simulator.kernel.world import World
from simulator.version import __version__

WORLD, OPERATION, REQUEST = "rampsim.world", "rampsim.operation", "rampsim.request_id"
EVENT, EVENT_TYPE, ATTEMPT, NUMBER = "rampsim.event", "rampsim.event_type", "rampsim.attempt", "rampsim.attempt_number"

_UNANSWERED = "unanswered"
_log = logging.getLogger(__name__)


class _Ids(RandomIdGenerator):
    """Generates random span ids. A `given` id, which was already sent in a webhook, is used next."""

    given = 0

    def generate_span_id(self) -> int:
        given, self.given = self.given, 0
        return given or super().generate_span_id()


class OtlpSpans:
    """Exports the spans of one server. Raises `ValueError` if an OpenTelemetry environment variable is invalid."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        is_named = "OTEL_SERVICE_NAME" in environ or f"{SERVICE_NAME}=" in environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
        names = {SERVICE_VERSION: __version__} | ({} if is_named else {SERVICE_NAME: "rampsim"})
        self._ids = _Ids()
        self._provider = TracerProvider(resource=Resource.create(names), id_generator=self._ids, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("rampsim", __version__)

    def called(self, request: Request, outgoing: Outgoing) -> None:
        """Export a span for an API call whose response is ready to be sent."""
        with _errors_logged():
            ended_ns = time.time_ns()
            started_ns = ended_ns - int((perf_counter() - request.started) * 1e9)
            incoming, operation = request.incoming, request.operation
            route = "" if operation is None else incoming.path.removesuffix(request.path) + operation.path
            attributes: dict[str, str | int] = {
                HTTP_REQUEST_METHOD: incoming.method,
                URL_PATH: incoming.path,
                WORLD: request.world.id,
                REQUEST: request.request_id,
            }
            if operation is not None:
                attributes |= {HTTP_ROUTE: route, OPERATION: operation.name}
            if not outgoing.cut:
                attributes[HTTP_RESPONSE_STATUS_CODE] = outgoing.status
            failed = outgoing.cut or outgoing.status >= 500
            if failed:
                attributes[ERROR_TYPE] = _UNANSWERED if outgoing.cut else str(outgoing.status)
            span = self._tracer.start_span(
                f"{incoming.method} {route}".rstrip(),
                _parent(origins.parent_of(incoming.headers)),
                SpanKind.SERVER,
                attributes,
                start_time=started_ns,
            )
            if failed:
                span.set_status(Status(StatusCode.ERROR))
            span.end(ended_ns)

    def delivered(self, world: World, attempt: Attempt, outcome: Outcome) -> None:
        """Export a span for a delivery attempt that has ended."""
        with _errors_logged():
            ended_ns = time.time_ns()
            started_ns = ended_ns - outcome.duration_ms * 1_000_000
            event = world.journal.event(attempt.event_id)
            sent = dict(outcome.request_headers).get(origins.TRACE_HEADER, "")
            url = urlsplit(attempt.url)
            attributes: dict[str, str | int] = {
                HTTP_REQUEST_METHOD: "POST",
                URL_FULL: f"{url.scheme}://{url.hostname}{f':{url.port}' if url.port else ''}{url.path}",
                SERVER_ADDRESS: url.hostname or "",
                SERVER_PORT: url.port or (443 if url.scheme == "https" else 80),
                WORLD: world.id,
                EVENT: attempt.event_id,
                EVENT_TYPE: "" if event is None else event.type,
                ATTEMPT: attempt.id,
                NUMBER: attempt.number,
            }
            if outcome.status is not None:
                attributes[HTTP_RESPONSE_STATUS_CODE] = outcome.status
            if not outcome.succeeded:
                attributes[ERROR_TYPE] = _UNANSWERED if outcome.status is None or outcome.error else str(outcome.status)
            self._ids.given = int(sent.split("-")[2], 16) if sent else 0
            parent = origins.trace_of(world, event) if sent and event is not None else ""
            span = self._tracer.start_span("POST", _parent(parent), SpanKind.CLIENT, attributes, start_time=started_ns)
            self._ids.given = 0
            if not outcome.succeeded:
                span.set_status(Status(StatusCode.ERROR, outcome.error))
            span.end(ended_ns)

    def end(self, patience_seconds: float) -> None:
        """Send the remaining spans. Stop after `patience_seconds`."""
        ending = threading.Thread(target=self._provider.shutdown, name="last spans", daemon=True)
        ending.start()
        ending.join(patience_seconds)


@contextmanager
def _errors_logged() -> Iterator[None]:
    try:
        yield
    except Exception:
        _log.exception("a span could not be made")


def _parent(traceparent: str) -> Context:
    """Return the trace context for a valid `traceparent` header, or an empty context for ""."""
    above = Context()
    if not traceparent:
        return above
    _, trace_id, span_id, flags = traceparent.split("-")
    known = trace.SpanContext(int(trace_id, 16), int(span_id, 16), True, trace.TraceFlags(int(flags, 16)))
    return trace.set_span_in_context(trace.NonRecordingSpan(known), above)
