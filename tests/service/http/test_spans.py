"""Spans of calls and deliveries, as an OpenTelemetry collector receives them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from simulator.engine.server.telemetry import tracing
from tests.collector import Collector, attributes, collecting
from tests.remote import EMPTY, TLS, Remote, running
from tests.service.http.test_traces import HEADERS, SPAN, TRACE, traced
from tests.support import QUOTE


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with collecting() as made:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", made.endpoint)
        monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "20")
        yield made


@contextmanager
def traced_server(http: httpx.Client, patience_seconds: float = 20) -> Iterator[Remote]:
    """A server whose spans are all sent when this ends."""
    with (
        running(EMPTY) as (origin, application),
        tracing.exporting(application.runtime, os.environ, patience_seconds=patience_seconds),
    ):
        yield Remote(origin, http).another(scenarios=[])


def test_a_call_is_a_span_of_the_trace_that_it_brings_along(http: httpx.Client, collector: Collector) -> None:
    with traced_server(http) as world:
        request_id = world.api("POST", "/quotes", QUOTE, HEADERS).headers["x-request-id"]
        world.api("GET", "/quotes/quo_unknown")
        world.api("GET", "/nowhere")
    spans = {span.name: span for span in collector.spans}
    made, looked, lost = spans["POST /v1/quotes"], spans["GET /v1/quotes/{id}"], spans["GET"]
    assert (made.trace_id.hex(), made.parent_span_id.hex(), made.kind) == (TRACE, SPAN, 2)
    assert 0 < made.start_time_unix_nano <= made.end_time_unix_nano
    told = attributes(made)
    assert told == {
        "http.request.method": "POST",
        "http.response.status_code": 201,
        "http.route": "/v1/quotes",
        "url.path": "/v1/quotes",
        "rampsim.world": world.world["id"],
        "rampsim.operation": "create_quote",
        "rampsim.request_id": request_id,
    }
    assert not looked.parent_span_id
    assert looked.trace_id.hex() != TRACE
    assert (attributes(lost)["http.response.status_code"], "http.route" in attributes(lost)) == (404, False)
    assert looked.status.code == lost.status.code == 0  # the callers' faults, not the server's
    assert {row["service.name"] for row in collector.resources} == {"rampsim"}


def test_a_delivery_span_is_the_one_sent_to_the_receiver(http: httpx.Client, collector: Collector) -> None:
    with traced_server(http) as world:
        _, headers = traced(world, HEADERS, "spans")
        rows = world.control("GET", "/deliveries").body["data"]
    sent = {row["traceparent"].split("-")[2] for row in headers}
    deliveries = {span.span_id.hex(): span for span in collector.spans if span.kind == 3}
    assert len(deliveries) == len(rows)
    assert sent == {span for span, row in deliveries.items() if row.trace_id.hex() == TRACE}
    assert {deliveries[span].parent_span_id.hex() for span in sent} == {SPAN}
    told = [attributes(deliveries[span]) for span in sent]
    assert {row["rampsim.attempt"] for row in told} <= {row["id"] for row in rows}
    assert {(row["http.response.status_code"], row["url.full"]) for row in told} == {
        (200, f"{world.origin}/_simulator/inbox/spans")
    }


def test_the_span_of_a_failed_attempt_has_no_secrets_of_its_url(http: httpx.Client, collector: Collector) -> None:
    with traced_server(http) as world:
        url = f"{world.origin}/_simulator/inbox/failing"
        assert world.api("POST", "/webhooks", {"url": f"{url}?key=a-canary", "events": ["*"]}).status == 201
        world.control("PUT", "/inbox/failing", {"respond": [500]})
        world.act("set_kyc", status="action_required")
        world.control("POST", "/settle")
    failed = next(span for span in collector.spans if attributes(span).get("http.response.status_code") == 500)
    assert (attributes(failed)["error.type"], attributes(failed)["url.full"], failed.status.code) == ("500", url, 2)
    assert "a-canary" not in str(collector.spans)


def test_a_trace_that_its_caller_does_not_record_is_not_recorded_here(http: httpx.Client, collector: Collector) -> None:
    with traced_server(http) as world:
        world.api("POST", "/quotes", QUOTE, {"traceparent": f"00-{TRACE}-{SPAN}-00"})
    assert collector.spans
    assert all(span.name != "POST /v1/quotes" for span in collector.spans)


def test_the_service_has_the_name_that_it_is_given(
    http: httpx.Client, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "ramp-of-team-a")
    with traced_server(http) as world:
        world.token()
    assert {row["service.name"] for row in collector.resources} == {"ramp-of-team-a"}


def test_a_collector_that_hangs_holds_up_no_call_and_not_the_end(http: httpx.Client, collector: Collector) -> None:
    collector.may_answer.clear()
    with traced_server(http, patience_seconds=0.01) as world:
        world.token()
        assert collector.was_asked.wait(20)
        answers = [world.api("POST", "/quotes", QUOTE).status for _ in range(20)]
        assert not collector.may_answer.is_set()
    assert answers == [201] * 20
    assert not collector.spans


@pytest.mark.parametrize("status", [400, 500])
def test_a_collector_that_refuses_breaks_no_call(http: httpx.Client, collector: Collector, status: int) -> None:
    collector.status = status
    with traced_server(http, patience_seconds=0.01) as world:
        world.token()
        assert collector.was_asked.wait(20)
        assert world.api("POST", "/quotes", QUOTE).status == 201


ENDPOINT = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_SERVICE_NAME": "rampsim"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": ""},
        {**ENDPOINT, "OTEL_SDK_DISABLED": "TRUE"},
        {**ENDPOINT, "OTEL_TRACES_EXPORTER": "none"},
    ],
)
def test_nothing_is_reported_without_a_listener(environ: dict[str, str]) -> None:
    assert not tracing.is_asked(environ)
    assert tracing.is_asked(ENDPOINT)
    assert tracing.is_asked({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://collector:4318/v1/traces"})


@pytest.mark.parametrize(
    ("environ", "missing", "told"),
    [
        ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, False, "configured for grpc, and only http/protobuf is supported"),
        ({}, True, "is not installed: pip install './rampsim-0.1.0-py3-none-any.whl[otel]'"),
    ],
)
def test_an_invalid_span_setting_is_logged_and_ignored(
    environ: dict[str, str],
    missing: bool,
    told: str,
    http: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    if missing:
        monkeypatch.setattr(tracing, "find_spec", lambda name: None)
    with running(EMPTY) as (origin, application), tracing.exporting(application.runtime, {**ENDPOINT, **environ}):
        assert application.runtime.meter.tracing is None
        assert Remote(origin, http).another().api("POST", "/quotes", QUOTE).status == 201
    (message,) = [row.getMessage() for row in caplog.records if row.name == tracing.__name__]
    assert message.startswith("no spans are exported: ")
    assert "http://127.0.0.1:4318" in message
    assert told in message


@pytest.mark.parametrize("is_asked", [True, False])
def test_a_served_process_exports_spans_only_if_configured(is_asked: bool) -> None:
    program = (
        "import sys, threading, time\n"
        "from simulator.cli import main\n"
        "try:\n"
        "    main(['serve', '--port', '0', '--end-with-stdin'])\n"
        "except SystemExit:\n"
        "    pass\n"
        "print(any(name.startswith(('opentelemetry', 'google.protobuf')) for name in sys.modules))\n"
    )
    environ = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
    with collecting() as collector:
        if is_asked:
            environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.endpoint
        words = [sys.executable, "-c", program]
        with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ) as server:
            assert server.stdout is not None
            origin = next(line for line in server.stdout if line.startswith("Ready on ")).split()[-1]
            assert httpx.get(f"{origin}/v1/profile", trust_env=False, verify=TLS).status_code == 401
            told, _ = server.communicate("", 30)
    assert told.split() == [str(is_asked)]
    assert [span.name for span in collector.spans] == (["GET /v1/profile"] if is_asked else [])
