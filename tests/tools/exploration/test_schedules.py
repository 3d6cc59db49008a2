"""`delivered-at-once`: the events of a call arrive before its response."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.exploration.suite import Explored, explore, write_suite

SHOP = """
import sqlite3, threading

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5",
        "destination": {"type": "platform_user", "email": "amina@example.test"}}
FINAL = ("completed", "failed")

class Shop:
    def __init__(self, world):
        self.world = world
        self.early = {}
        self.stored = threading.Event()
        self.db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self.db.execute("CREATE TABLE orders (reference PRIMARY KEY, state, amount)")

    def send(self, reference):
        @BEFORE@
        self.world.client.post("/wallet/send", headers={"Idempotency-Key": reference},
                               json={**SEND, "reference": reference})
        @AFTER@

    def store(self, reference):
        self.db.execute("INSERT INTO orders VALUES (?, 'new', '0')", (reference,))
        self.stored.set()
        if reference in self.early:
            self.book(self.early.pop(reference))

    def handle(self, delivery):
        about = delivery.event["data"]["object"]
        self.stored.wait(0.5)  # without a fault, the response arrives within this time
        if self.state(about["reference"]) is None:
            @UNKNOWN@
        else:
            self.book(about)
        return 200

    def state(self, reference):
        row = self.db.execute("SELECT state FROM orders WHERE reference = ?", (reference,)).fetchone()
        return row and row[0]

    def book(self, about):
        if self.state(about["reference"]) not in FINAL:
            amount = about["net_amount"] if about["status"] == "completed" else "0"
            row = (about["status"], amount, about["reference"])
            self.db.execute("UPDATE orders SET state = ?, amount = ? WHERE reference = ?", row)
"""
TEST = """
import pytest

@pytest.mark.scenario("autopilot")
def test_send(shop):
    shop.send("A-1")
    shop.world.advance("1m")
"""
STORE = "self.store(reference)"
SHOPS = {
    "stores first": (STORE, "pass", "raise KeyError(about['reference'])"),
    "keeps the first early event": ("pass", STORE, "self.early.setdefault(about['reference'], about)"),
    "keeps the last early event": ("pass", STORE, "self.early[about['reference']] = about"),
}
"""Before the call, after it, and what the handler does about an order that it does not know."""


def explored(directory: Path, shop: str, *words: str) -> Explored:
    marks = zip(("@BEFORE@", "@AFTER@", "@UNKNOWN@"), SHOPS[shop], strict=True)
    write_suite(directory, SHOP, TEST, marks=dict(marks))
    return explore(directory, *words)


@pytest.mark.parametrize(
    ("shop", "verdict"),
    [
        ("stores first", "survived"),
        ("keeps the first early event", "lost"),
        ("keeps the last early event", "survived"),
    ],
)
def test_delivered_at_once_finds_a_handler_that_keeps_one_event(shop: str, verdict: str, tmp_path: Path) -> None:
    found = explored(tmp_path, shop, "--faults", "delivered-at-once")
    assert [(row["site"], row["verdict"]) for row in found.report["runs"]] == [("all calls #1", verdict)], found.said


def test_delivered_at_once_is_the_same_on_two_workers(tmp_path: Path) -> None:
    explored(tmp_path, "keeps the first early event", "--faults", "delivered-at-once")
    report = (tmp_path / ".rampsim/explore/report.json").read_bytes()
    explored(tmp_path, "keeps the first early event", "--faults", "delivered-at-once", "--workers", "2")
    assert (tmp_path / ".rampsim/explore/report.json").read_bytes() == report
