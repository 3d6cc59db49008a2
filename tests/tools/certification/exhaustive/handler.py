"""The recommended handler: verify, read the order from the API, book it unless the books are newer, acknowledge."""

import hashlib
import hmac
import json
import re
import sqlite3
import time
from collections.abc import Mapping
from typing import Any

TABLE = "CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, reference, state, amount, currency, updated_at)"
BOOK = """INSERT INTO orders VALUES (:id, :reference, :status, :amount, :currency, :updated_at) ON CONFLICT DO UPDATE
SET state = excluded.state, amount = excluded.amount, updated_at = excluded.updated_at
WHERE excluded.updated_at >= updated_at AND excluded.state != state"""


def is_genuine(key: str, headers: Mapping[str, str], body: bytes, now_ms: float | None = None) -> bool:
    headers = {name.lower(): value for name, value in headers.items()}
    timestamp, signature = headers.get("x-timestamp", ""), headers.get("x-signature", "")
    now_ms = time.time() * 1000 if now_ms is None else now_ms
    if not re.fullmatch("[0-9]{1,15}", timestamp) or abs(now_ms - int(timestamp)) > 300_000:
        return False
    expected = hmac.new(key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


class Handler:
    def __init__(self, file: str, key: str, api: Any) -> None:
        self.key, self.api, self.db = key, api, sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self.db.execute(TABLE)

    def receive(self, headers: Mapping[str, str], body: bytes) -> int:
        if not is_genuine(self.key, headers, body):
            return 401
        self.take(json.loads(body))
        return 200

    def take(self, event: dict[str, Any]) -> None:
        if event["type"].startswith("transaction."):
            self.book(self.api.transaction(event["data"]["object"]["id"]))

    def book(self, order: dict[str, Any]) -> None:
        amount = order["destination_amount"] if order["status"] == "completed" else "0"
        currency = order["asset" if order["type"] == "onramp" else "fiat_currency"]
        self.db.execute(BOOK, {**order, "amount": amount, "currency": currency})

    def settle(self) -> None:  # regularly, including finished orders, because a refund may come later
        for order in self.api.transactions():
            self.book(order)
