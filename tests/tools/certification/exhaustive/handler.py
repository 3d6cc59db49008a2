"""The recommended handler: verify, read the order from the API, book it unless the books are newer, acknowledge."""

import hashlib
import hmac
import json
import sqlite3
import time
from typing import Any

TABLE = "CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, reference, state, amount, currency, updated_at)"
BOOK = """INSERT INTO orders VALUES (:id, :reference, :status, :amount, :currency, :updated_at) ON CONFLICT DO UPDATE
SET state = excluded.state, amount = excluded.amount, updated_at = excluded.updated_at
WHERE excluded.updated_at >= updated_at AND excluded.state != state"""


class Handler:
    def __init__(self, file: str, key: str, api: Any) -> None:
        self.key, self.api, self.db = key, api, sqlite3.connect(file, check_same_thread=False, isolation_level=None)
        self.db.execute(TABLE)

    def receive(self, timestamp: str, signature: str, body: bytes) -> int:
        expected = hmac.new(self.key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        is_recent = timestamp.isdecimal() and abs(time.time() * 1000 - int(timestamp)) <= 300_000
        if not is_recent or not hmac.compare_digest(expected.encode(), signature.encode()):
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
