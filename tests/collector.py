"""A loopback collector for OTLP spans over HTTP. It accepts them, refuses them, or delays its response."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """`spans` are those that came in, `resources` of whom. It answers with `status`, once `may_answer` is set."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.resources: list[dict[str, str]] = []
        self.status = 200
        self.may_answer = threading.Event()
        self.may_answer.set()
        self.was_asked = threading.Event()
        self.endpoint = ""

    def take(self, body: bytes) -> None:
        self.was_asked.set()
        self.may_answer.wait()
        for group in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.resources.append(attributes(group.resource))
            for scope in group.scope_spans:
                self.spans += scope.spans


def attributes(of: Any) -> dict[str, Any]:
    """The attributes of a span or a resource."""
    return {row.key: row.value.int_value if row.value.HasField("int_value") else row.value.string_value
            for row in of.attributes}  # fmt: skip


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that listens."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/traces"
            collector.take(body)
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        collector.endpoint = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield collector
        finally:
            collector.may_answer.set()
            server.shutdown()
            thread.join()
