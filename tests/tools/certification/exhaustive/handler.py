"""The recommended handler: verify, store, acknowledge; read the order from the API; never go back in time."""

import hashlib, hmac, json, sqlite3, time

TABLES = """CREATE TABLE IF NOT EXISTS events (id TEXT PRIMARY KEY, body BLOB);
CREATE TABLE IF NOT EXISTS orders (id TEXT PRIMARY KEY, reference, state, amount, currency, updated_at)"""
BOOK = """INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET state = excluded.state,
amount = excluded.amount, updated_at = excluded.updated_at WHERE excluded.updated_at >= updated_at"""


class Handler:
    def __init__(self, file, key, api):
        self.key, self.api, self.db = key, api, sqlite3.connect(file, check_same_thread=False)
        self.db.executescript(TABLES)

    def receive(self, timestamp, signature, body):
        """Return the status of the response. It is 200 as soon as the event is stored."""
        expected = hmac.new(self.key.encode(), timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        is_recent = timestamp.isdecimal() and abs(time.time() * 1000 - int(timestamp)) <= 300_000
        if not is_recent or not hmac.compare_digest(expected.encode(), signature.encode()):
            return 401
        event = json.loads(body)
        with self.db:
            self.db.execute("INSERT OR IGNORE INTO events VALUES (?, ?)", (event["id"], body))
        if event["type"].startswith("transaction."):
            self.book(self.api.transaction(event["data"]["object"]["id"]))
        return 200

    def book(self, order):
        amount = order["destination_amount"] if order["status"] == "completed" else "0"
        currency = order["asset" if order["type"] == "onramp" else "fiat_currency"]
        row = order["id"], order["reference"], order["status"], amount, currency, order["updated_at"]
        with self.db:
            self.db.execute(BOOK, row)

    def settle(self):
        """Book every order, finished or not. Run this regularly."""
        for order in self.api.transactions():
            self.book(order)
