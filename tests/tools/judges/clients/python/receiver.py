"""A webhook receiver in plain Python, as in a typical integration: it accepts genuine webhooks and refuses others."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread
from urllib.request import Request, urlopen

WEBHOOK_KEY = "whk_test_simulator"


def is_genuine(key: str, headers: Mapping[str, str], body: bytes, now_ms: float | None = None) -> bool:
    headers = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = headers.get("x-timestamp", ""), headers.get("x-signature", "")
    now_ms = time.time() * 1000 if now_ms is None else now_ms
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now_ms - int(timestamp)) > 300_000:
        return False
    expected = hmac.new(key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


class Receiver:
    """Listens from its construction on; the bodies of genuine deliveries wait in `bodies`."""

    def __init__(self) -> None:
        self.bodies: Queue[bytes] = Queue()
        bodies = self.bodies

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                genuine = is_genuine(WEBHOOK_KEY, dict(self.headers.items()), body)
                if genuine:
                    bodies.put(body)
                self.send_response(200 if genuine else 401)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, daemon=True).start()

    def wait_for(self, event_type: str) -> bytes:
        """The body of the next event of a type; queue.Empty when none comes within 20 seconds."""
        while True:
            body = self.bodies.get(timeout=20)
            if json.loads(body)["type"] == event_type:
                return body


def act(origin: str, action: str, target: str) -> None:
    """Let the outside world do something: a call of the control interface, which no client of the service has."""
    body = json.dumps({"target": target}).encode()
    request = Request(f"{origin}/_simulator/actions/{action}", body, {"Content-Type": "application/json"})
    with urlopen(request, timeout=20) as answer:
        answer.read()
