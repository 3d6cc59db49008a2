"""`worker-held-back`: a piece of work pauses before a write while another one goes on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.exploration.suite import Explored, explore, write_suite

SHOP = """
import sqlite3, threading

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5",
        "destination": {"type": "platform_user", "email": "amina@example.test"}}
TABLES = "CREATE TABLE orders (reference PRIMARY KEY, state, amount, id); CREATE TABLE seen (id PRIMARY KEY)"

class Shop:
    def __init__(self, world, path):
        self.world = world
        self.path = path
        self.lock = threading.Lock()
        self.slots = threading.Semaphore(1)
        self.sent = threading.Event()
        self.connect().executescript(TABLES)

    def connect(self):
        return sqlite3.connect(self.path, isolation_level=None)

    def send(self, reference):
        db = self.connect()
        db.execute("INSERT INTO orders VALUES (?, 'new', 0, '')", (reference,))
        sent = self.world.client.post("/wallet/send", headers={"Idempotency-Key": reference},
                                      json={**SEND, "reference": reference}).json()
        @NOTE@
        self.sent.set()

    def handle(self, delivery):
        self.sent.wait(0.3)  # without a fault, the response arrives within this time
        event, about, db = delivery.event, delivery.event["data"]["object"], self.connect()
        @HANDLE@
        return 200

    def book(self, db, event):
        about = event["data"]["object"]
        if event["type"] == "transaction.completed":
            @BOOK@
"""
NOTES = {
    "column": """db.execute("UPDATE orders SET id = ? WHERE reference = ?", (sent["id"], reference))""",
    "row": """
        row = db.execute("SELECT reference, state, amount FROM orders WHERE reference = ?", (reference,)).fetchone()
        db.execute("INSERT OR REPLACE INTO orders VALUES (?, ?, ?, ?)", (*row, sent["id"]))""",
}
"""How the shop notes the id of its transaction: in its own column, or in the row that it has read."""
BOOKINGS = {
    "columns": """
            row = (float(about["net_amount"]), about["reference"])
            db.execute("UPDATE orders SET state = 'completed', amount = amount + ? WHERE reference = ?", row)""",
    "row": """
            old = db.execute("SELECT amount, id FROM orders WHERE reference = ?", (about["reference"],)).fetchone()
            row = (about["reference"], "completed", old[0] + float(about["net_amount"]), old[1])
            db.execute("INSERT OR REPLACE INTO orders VALUES (?, ?, ?, ?)", row)""",
}
"""How the shop books an event: in the columns of its own, or in the row that it has read."""
CHECKED = """
        {0}
            if not db.execute("SELECT 1 FROM seen WHERE id = ?", (event["id"],)).fetchone():
                db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (event["id"],))
                self.book(db, event)"""
HANDLERS = {
    "checks first": CHECKED.format("if True:"),
    "holds a lock": CHECKED.format("with self.lock:"),
    "holds a semaphore": CHECKED.format("with self.slots:"),
    "unique key": """
        with db:
            db.execute("BEGIN IMMEDIATE")
            if db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (event["id"],)).rowcount:
                self.book(db, event)""",
}
CONFTEST = """
import pytest
from shop import Shop

@pytest.fixture
def shop(world, webhooks, tmp_path):
    made = Shop(world, tmp_path / "shop.db")
    webhooks.respond_with(lambda delivery: made.handle(delivery))
    return made

def pytest_rampsim_books(item):
    rows = item.funcargs["shop"].connect().execute("SELECT reference, state, amount FROM orders WHERE id <> ''")
    return [(reference, state, str(amount), "USDC") for reference, state, amount in rows]
"""
TEST = """
def test_send(shop):
    shop.send("A-1")
    shop.world.advance("1m")
"""


def explored(
    directory: Path, *words: str, handler: str = "unique key", note: str = "column", booking: str = "columns"
) -> Explored:
    marks = {"@NOTE@": NOTES[note], "@HANDLE@": HANDLERS[handler], "@BOOK@": BOOKINGS[booking]}
    write_suite(directory, SHOP, TEST, CONFTEST, marks)
    return explore(directory, *(words or ("--faults", "worker-held-back")))


def verdicts(found: Explored) -> list[tuple[str, str]]:
    """The function and the event of each place, and the verdict there."""
    return [(row["site"].partition(" in ")[2], row["verdict"]) for row in found.report["runs"]]


PROCESSING, COMPLETED = "transaction.processing", "transaction.completed"


@pytest.mark.parametrize(
    ("handler", "events"),
    [
        ("unique key", {PROCESSING: ["survived"], COMPLETED: ["survived"]}),
        ("holds a lock", {PROCESSING: ["survived"], COMPLETED: ["survived"]}),
        ("checks first", {PROCESSING: ["survived"], COMPLETED: ["doubled", "survived"]}),
        ("holds a semaphore", {PROCESSING: ["not-reached"], COMPLETED: ["not-reached", "not-reached"]}),
    ],
)
def test_a_held_handler_finds_a_check_before_an_insert(
    handler: str, events: dict[str, list[str]], tmp_path: Path
) -> None:
    """A handler is never held in a transaction or with a lock. A semaphore is not recognised, and ends the hold."""
    found = explored(tmp_path, handler=handler)
    seen: dict[str, list[str]] = {}
    for place, verdict in verdicts(found):
        if " at " in place:
            seen.setdefault(place.partition(" at ")[2].partition(" #")[0], []).append(verdict)
    for event in (PROCESSING, COMPLETED):
        assert {*seen.pop(f"{event} while the call goes on", ["survived"])} == {"survived"}, found.said
    assert seen == events, found.said


@pytest.mark.parametrize(("note", "verdict"), [("column", "survived"), ("row", "lost")])
def test_a_held_call_finds_a_lost_update(note: str, verdict: str, tmp_path: Path) -> None:
    found = explored(tmp_path, note=note)
    assert [one for one in verdicts(found) if " at " not in one[0]] == [("send #1", verdict)], found.said


@pytest.mark.parametrize(("booking", "verdict"), [("columns", "survived"), ("row", "lost")])
def test_a_handler_held_while_the_call_goes_on_finds_a_lost_update(booking: str, verdict: str, tmp_path: Path) -> None:
    """The call notes the id of the transaction in a row that the handler has read and writes back."""
    found = explored(tmp_path, handler="checks first", booking=booking)
    held = [seen for place, seen in verdicts(found) if f"{COMPLETED} while the call goes on" in place]
    assert held == ["survived", verdict], found.said
    assert not [one for one in found.report["causes"] if "goes on:" in one["cause"]], "a cause is a line"


def test_only_worker_held_back_finds_a_lost_update(tmp_path: Path) -> None:
    others = "webhook-doubled,webhook-reordered,crash-in-handler"
    found = explored(tmp_path, "--faults", others, note="row")
    assert found.findings == set(), found.said


def test_a_held_worker_is_replayed_and_the_same_on_two_workers(tmp_path: Path) -> None:
    found = explored(tmp_path, handler="checks first", note="row")
    report = (tmp_path / ".rampsim/explore/report.json").read_bytes()
    assert {explore(tmp_path, "--replay", name).code for name in found.report["findings"]} == {1}
    explore(tmp_path, "--faults", "worker-held-back", "--workers", "2")
    assert (tmp_path / ".rampsim/explore/report.json").read_bytes() == report


def test_quick_holds_once_for_each_event_and_function(tmp_path: Path) -> None:
    found = explored(tmp_path, "--faults", "worker-held-back", "--plan", "quick", handler="checks first")
    assert [place for place, _ in verdicts(found)] == [
        f"handle at {PROCESSING} #1", f"handle at {COMPLETED} #1", "send #1",
        f"handle at {PROCESSING} while the call goes on #1", f"handle at {COMPLETED} while the call goes on #1",
    ]  # fmt: skip
