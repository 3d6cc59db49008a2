"""`crash-in-handler` and `crash-in-call`: an application in the tests' process dies between two statements."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextvars import copy_context
from pathlib import Path
from threading import Thread

import pytest

from simulator.exploration.runs.tracing import crashing, scenes
from tests.tools.exploration.suite import SHOP_CONFTEST, Explored, explore, write_suite

SHOP = """
import contextlib, socket, sqlite3

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5",
        "destination": {"type": "address", "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}
TABLES = "CREATE TABLE orders (reference PRIMARY KEY, state, amount); CREATE TABLE seen (id PRIMARY KEY)"

class Shop:
    def __init__(self, world):
        self.world = world
        self.handled = set()
        self.db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self.db.executescript(TABLES)

    def send(self, reference):
        @BEFORE@
        sent = self.world.client.post("/wallet/send", headers={"Idempotency-Key": reference},
                                      json={**SEND, "reference": reference}).json()
        @AFTER@

    def handle(self, delivery):
        event = delivery.event
        @HANDLE@
        return 200

    def wake(self):
        one, other = socket.socketpair()
        one.send(b"wake")
        one.close()
        with contextlib.suppress(OSError):
            one.send(b"the loop has ended")
        other.close()

    def book(self, event):
        about = event["data"]["object"]
        if event["type"] == "transaction.completed":
            row = (about["net_amount"], about["reference"])
            self.db.execute("UPDATE orders SET state = 'completed', amount = ? WHERE reference = ?", row)
"""
STORES = {
    "first": ("self.db.execute(\"INSERT INTO orders VALUES (?, 'new', '0')\", (reference,))", "pass"),
    "late": ("pass", "self.db.execute(\"INSERT INTO orders VALUES (?, 'new', '0')\", (reference,))"),
}
HANDLERS = {
    "one transaction": """
        with self.db:
            self.db.execute("BEGIN IMMEDIATE")
            self.db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (event["id"],))
            self.book(event)""",
    "seen before booked": """
        if self.db.execute("SELECT 1 FROM seen WHERE id = ?", (event["id"],)).fetchone():
            return 200
        self.db.execute("INSERT INTO seen VALUES (?)", (event["id"],))
        self.book(event)""",
    "wakes an event loop": """
        if self.db.execute("SELECT 1 FROM seen WHERE id = ?", (event["id"],)).fetchone():
            return 200
        self.db.execute("INSERT INTO seen VALUES (?)", (event["id"],))
        self.wake()
        self.book(event)""",
    "seen in memory": """
        if event["id"] in self.handled:
            return 200
        self.handled.add(event["id"])
        self.db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (event["id"],))
        self.book(event)""",
}
RESTART = """
def pytest_rampsim_restart(item):
    item.funcargs["shop"].handled = set()
"""
TEST = """
import pytest

@pytest.mark.scenario("autopilot")
def test_send(shop):
    shop.send("A-1")
    shop.world.advance("1m")
"""


def explored(directory: Path, fault: str, *, store: str = "first", handler: str, restart: bool = False) -> Explored:
    before, after = STORES[store]
    marks = {"@BEFORE@": before, "@AFTER@": after, "@HANDLE@": HANDLERS[handler]}
    write_suite(directory, SHOP, TEST, SHOP_CONFTEST + RESTART * restart, marks)
    return explore(directory, "--faults", fault)


def lost(found: Explored) -> list[str]:
    """The places at which a death loses money, without the line numbers."""
    rows = {row["id"]: row for row in found.report["runs"]}
    places = [rows[name]["site"].partition(" ")[2] for name in found.report["findings"]]
    assert {rows[name]["verdict"] for name in found.report["findings"]} <= {"lost"}
    return places


@pytest.mark.parametrize(
    ("handler", "restart", "places"),
    [
        ("one transaction", False, []),
        ("seen before booked", False, ["in handle at transaction.completed #1"]),
        ("seen in memory", False, ["in handle at transaction.completed #1"]),
        ("seen in memory", True, []),
    ],
)
def test_crash_in_handler_finds_work_that_is_not_whole(
    handler: str, restart: bool, places: list[str], tmp_path: Path
) -> None:
    """The event is delivered again, to an application that the suite can build again."""
    found = explored(tmp_path, "crash-in-handler", handler=handler, restart=restart)
    assert lost(found) == places, found.said
    assert "not-reached" not in found.report["summary"]
    assert {row["test_outcome"] for row in found.report["runs"]} == {"passed"}


@pytest.mark.parametrize(("store", "places"), [("first", []), ("late", ["in send #1"])])
def test_crash_in_call_finds_an_order_that_is_stored_late(store: str, places: list[str], tmp_path: Path) -> None:
    found = explored(tmp_path, "crash-in-call", store=store, handler="one transaction")
    assert lost(found) == places, found.said
    assert {row["test_outcome"] for row in found.report["runs"]} == {"failed"}


@pytest.mark.parametrize("handler", ["seen before booked", "wakes an event loop"])
def test_lines_between_two_writes_are_one_place(handler: str, tmp_path: Path) -> None:
    found = explored(tmp_path, "crash-in-handler", handler=handler)
    sites = [row["site"] for row in found.report["runs"] if "transaction.completed" in row["site"]]
    functions = [site.split(" in ")[1].split(" at ")[0] for site in sites]
    assert functions == ["handle", "handle", "handle"]  # at the beginning, after the mark, after the booking


@pytest.mark.parametrize(
    "connect",
    [
        lambda: sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False),
        lambda: sqlite3.connect(":memory:", 5.0, 0, None, False, sqlite3.Connection),
        lambda: sqlite3.connect(":memory:", 5.0, 0, None, False, sqlite3.Connection, 64),
    ],
    ids=["by name", "factory by position", "more by position"],
)
def test_a_write_belongs_to_the_work_that_commits_it(connect: Callable[[], sqlite3.Connection]) -> None:
    """Two pieces of work and a thread without one use the same connection."""
    tracer = crashing.Tracer(None, None)
    with tracer.following():
        database = connect()
        writer, other = copy_context(), copy_context()
        begun = [context.run(scenes.begin, scenes.CALL) for context in (writer, other)]
        writer.run(database.executescript, "CREATE TABLE seen (id)")
        writer.run(database.execute, "BEGIN")
        writer.run(database.cursor().execute, "INSERT INTO seen VALUES (1)")
        assert [scene.wrote for scene in begun] == [0, 0]
        writer.run(database.commit)
        assert [scene.wrote for scene in begun] == [1, 0]
        database.execute("INSERT INTO seen VALUES (2)")  # the main thread, between pieces of work
        assert not tracer.databases.have_changed()
        thread = Thread(target=database.execute, args=("INSERT INTO seen VALUES (3)",))
        thread.start()
        thread.join()
        assert [tracer.databases.have_changed() for _ in range(2)] == [True, False]
        database.close()


def test_new_threads_are_traced_as_before_afterwards() -> None:
    """A coverage measurement traces each thread with a tracer of its own. One that two threads share crashes Python."""

    def noted(frame: object, event: str, argument: object) -> None:
        pass

    before = threading.gettrace()
    threading.settrace(noted)
    try:
        with crashing.Tracer(None, None).following():
            assert threading.gettrace() is not noted
        assert threading.gettrace() is noted
    finally:
        threading.settrace(before)


def test_a_death_is_replayed_and_the_same_on_two_workers(tmp_path: Path) -> None:
    found = explored(tmp_path, "crash-in-handler", handler="seen before booked")
    (name,) = found.report["findings"]
    report = (tmp_path / ".rampsim/explore/report.json").read_bytes()
    assert explore(tmp_path, "--replay", name).code == 1
    explore(tmp_path, "--faults", "crash-in-handler", "--workers", "2")
    assert (tmp_path / ".rampsim/explore/report.json").read_bytes() == report


def test_timelines_name_the_line_that_calls_and_the_amount(tmp_path: Path) -> None:
    explored(tmp_path, "crash-in-handler", handler="seen before booked")
    page = (tmp_path / ".rampsim/explore/report.html").read_text("utf-8")
    line = next(n for n, text in enumerate((tmp_path / "shop.py").read_text().splitlines(), 1) if "client.post" in text)
    assert f"pending (5 USDC, by shop.py:{line})" in page
