"""A correct webhook receiver, small enough to read. It passes all rules of `rampsim certify`.

    python -m simulator.certification.receiver --port 5000 --file shop.db

The receiver verifies a request before it parses the body, and stores the event before it responds. Afterwards a
worker reads the transaction from the API and writes its order into the books, which GET /books returns. The receiver
needs only the standard library.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import re
import sqlite3
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError
from urllib.parse import quote
from urllib.request import Request, urlopen

WINDOW_MS = 5 * 60 * 1000
MOST_BYTES = 1024 * 1024
DELIVERED = {"onramp": ("destination_amount", "asset"), "send": ("net_amount", "symbol")}
"""The fields that contain the received amount and its currency, by transaction type."""
TABLES = """
CREATE TABLE IF NOT EXISTS inbox (number INTEGER PRIMARY KEY, event_id TEXT UNIQUE, body BLOB, done INTEGER DEFAULT 0);
CREATE TABLE IF NOT EXISTS orders (name TEXT PRIMARY KEY, state TEXT, amount TEXT, currency TEXT);
"""


def is_genuine(key: str, headers: Mapping[str, str], body: bytes, now_ms: float | None = None) -> bool:
    """Return True if the signature matches the body and is at most five minutes old at `now_ms` (default: now)."""
    headers = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = headers.get("x-timestamp", ""), headers.get("x-signature", "")
    now_ms = time.time() * 1000 if now_ms is None else now_ms
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now_ms - int(timestamp)) > WINDOW_MS:
        return False
    expected = hmac.new(key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


def transaction_of(event: Any) -> str | None:
    """Return the id of the transaction that an event is about, or None. An event without one is only stored."""
    thing = event["data"]["object"]
    if event["type"] == "recurring_payment.run_succeeded":
        return str(thing["run"]["transaction_id"])
    return str(thing["id"]) if event["type"].startswith("transaction.") else None


class Service:
    """Reads transactions from the API. Requests a token when needed."""

    def __init__(self, base_url: str, public_key: str, secret_key: str) -> None:
        self.base_url, self.keys, self.token = base_url, {"public_key": public_key, "secret_key": secret_key}, ""

    def transaction(self, transaction_id: str) -> Any:
        """Return the current transaction, or None if it does not exist. Raise `OSError` if the API is unavailable."""
        for _ in range(2):
            try:
                return self._ask(f"/transactions/{quote(transaction_id, safe='')}")
            except HTTPError as error:
                error.close()
                if error.code == 404:
                    return None
                if error.code != 401:
                    raise
                self.token = self._ask("/auth/token", self.keys)["access_token"]
        raise PermissionError("a fresh token is refused")

    def _ask(self, path: str, body: object = None) -> Any:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.token}"}
        data = None if body is None else json.dumps(body).encode()
        with urlopen(Request(self.base_url + path, data, headers), timeout=10) as answer:
            return json.load(answer)


class Shop:
    """The event inbox and the order records, in one SQLite file."""

    def __init__(self, file: str, service: Service) -> None:
        self.service, self.lock, self.more = service, threading.Lock(), threading.Event()
        self.rows = sqlite3.connect(file, check_same_thread=False)
        self.rows.executescript(TABLES)

    def store(self, event_id: str, body: bytes) -> None:
        """Save an event until it is processed. One statement both checks for duplicates and inserts the event."""
        with self.lock, self.rows:
            self.rows.execute("INSERT OR IGNORE INTO inbox (event_id, body) VALUES (?, ?)", (event_id, body))
        self.more.set()

    def work(self) -> None:
        """Process the inbox forever. While the API is unavailable, retry the same event."""
        pause = 0.1
        while True:
            self.more.clear()
            with self.lock:
                found = self.rows.execute("SELECT number, body FROM inbox WHERE NOT done ORDER BY number").fetchone()
            if found is None:
                self.more.wait()
                continue
            try:
                self.book(*found)
                pause = 0.1
            except OSError:
                time.sleep(pause)
                pause = min(2 * pause, 60)

    def book(self, number: int, body: bytes) -> None:
        """Update an order's record with the current state of its transaction, and mark the event as processed."""
        named = transaction_of(json.loads(body))
        found = None if named is None else self.service.transaction(named)
        with self.lock, self.rows:
            if found is not None and found["type"] in DELIVERED:
                delivered, currency = (found[name] for name in DELIVERED[found["type"]])
                amount = delivered if found["status"] == "completed" else "0"
                self.rows.execute(
                    "INSERT OR REPLACE INTO orders VALUES (?, ?, ?, ?)",
                    (found["reference"] or found["id"], found["status"], amount, currency),
                )
            self.rows.execute("UPDATE inbox SET done = 1 WHERE number = ?", (number,))

    def books(self) -> str:
        """Return a line of JSON for each order. `amount` is the amount that the customer has received."""
        with self.lock:
            found = self.rows.execute("SELECT name, state, amount, currency FROM orders ORDER BY name").fetchall()
        names = ("order", "state", "amount", "currency")
        return "".join(json.dumps(dict(zip(names, row, strict=True))) + "\n" for row in found)


class Handler(BaseHTTPRequestHandler):
    """POST receives an event. GET returns the order records."""

    shop: Shop
    key: str

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > MOST_BYTES:
            self.close_connection = True
            self.answer(413)
        else:
            self.answer(self.receive(self.rfile.read(length)))

    def receive(self, body: bytes) -> int:
        """Verify and store an event. Return the response status. The worker processes the event later."""
        if not self.verify(body):
            return 401
        self.shop.store(json.loads(body)["id"], body)
        return 200

    def verify(self, body: bytes) -> bool:
        return is_genuine(self.key, dict(self.headers.items()), body)

    def do_GET(self) -> None:
        self.answer(200, self.shop.books().encode())

    def answer(self, status: int, body: bytes = b"") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Do not log requests."""


def server_of(key: str, shop: Shop, *, port: int = 0, handler: type[Handler] = Handler) -> ThreadingHTTPServer:
    """Return a receiver on loopback that is ready to serve, with a running worker. Port 0 selects a free port."""
    threading.Thread(target=shop.work, daemon=True).start()
    return ThreadingHTTPServer(("127.0.0.1", port), type("Receiver", (handler,), {"shop": shop, "key": key}))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m simulator.certification.receiver", description=__doc__)
    parser.add_argument("--port", type=int, default=5000)
    parser.add_argument("--key", default="whk_test_simulator", help="the webhook key")
    parser.add_argument("--base-url", default="http://127.0.0.1:8642/v1", help="where transactions are read")
    parser.add_argument("--public-key", default="pk_test_simulator")
    parser.add_argument("--secret-key", default="sk_test_simulator")
    parser.add_argument("--file", default=":memory:", help="the SQLite file of inbox and books")
    given = parser.parse_args()
    shop = Shop(given.file, Service(given.base_url, given.public_key, given.secret_key))
    with server_of(given.key, shop, port=given.port) as server:
        origin = f"http://127.0.0.1:{server.server_port}"
        print(f"Receiving on {origin}/webhooks, books at {origin}/books", flush=True)  # noqa: T201
        server.serve_forever()


if __name__ == "__main__":
    main()
