"""Certify on the toy service: receivers of the library of `tests/toy` are certified."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from simulator.certification.report import Report
from simulator.certification.running import Settings, certify
from simulator.certification.stage import Service
from tests.remote import new_client
from tests.served_library import running_library
from tests.toy import PLAYBOOK, PROVIDER
from tests.toy.seal import SIGNATURE

NEEDS_MORE_EVENTS = {"late-after-final", "out-of-order", "two-at-once"}
NEEDS_STANDING_ORDERS = {"same-type-again"}
NEEDS_BOOKS = {"booked-once", "refund-not-booked", "forged-not-booked"}


class Reader(BaseHTTPRequestHandler):
    """A receiver that refuses events without the seal of the library."""

    key = ""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200 if self.is_genuine(body) else 401)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def is_genuine(self, body: bytes) -> bool:
        headers = {name.lower(): value for name, value in self.headers.items()}
        return not SIGNATURE.problem(headers, body, [self.key], time.time() * 1000)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing of each request."""


class Trusting(Reader):
    """Accepts any JSON."""

    def is_genuine(self, body: bytes) -> bool:
        return bool(json.loads(body))


@contextmanager
def listening(kind: type[Reader], key: str) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Receiver", (kind,), {"key": key}))
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.01))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/notices"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def certified(kind: type[Reader], environment: str = "practice") -> Report:
    with running_library() as origin, new_client() as http:
        keys = http.get(f"{origin}/_simulator/worlds/default").json()["credentials"][environment]
        key = keys["webhook_key"]
        with listening(kind, key) as url:
            settings = Settings(
                url, key, "http://127.0.0.1:1", simulator=origin, service=Service(PROVIDER, PLAYBOOK),
                patience_seconds=1.0, outage_seconds=0.1,
            )  # fmt: skip
            return asyncio.run(certify(settings))


def test_a_correct_receiver_breaks_no_rule() -> None:
    for environment in PROVIDER.environments:
        results = {one.rule.name: one for one in certified(Reader, environment).results}
        skipped = {name: one.got for name, one in results.items() if one.verdict == "skipped"}
        assert [one.line for one in results.values() if one.verdict == "fail"] == []
        assert skipped.keys() == NEEDS_MORE_EVENTS | NEEDS_STANDING_ORDERS | NEEDS_BOOKS
        assert {skipped[name] for name in NEEDS_MORE_EVENTS} == {
            "an order of this service has fewer than three events, which this rule needs"
        }
        assert {skipped[name] for name in NEEDS_STANDING_ORDERS} == {"the service does not offer standing orders"}


def test_a_receiver_without_verification_breaks_signature_rules() -> None:
    results = {one.rule.name: one.verdict for one in certified(Trusting).results}
    assert {name for name, verdict in results.items() if verdict == "fail"} == {"unknown-signature"}
    assert results["valid-event"] == "pass"
    assert results["other-environment-key"] == "skipped"
