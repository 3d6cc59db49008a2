"""What `worker-held-back` sees of an application: its databases, its locks, its threads and its tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.exploration.suite import SHOP_CONFTEST, Explored, explore, write_suite

SHOP = """
import asyncio, gc, sqlite3, threading
import anyio
from sqlite3 import connect, dbapi2
from threading import Lock

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5",
        "destination": {"type": "platform_user", "email": "amina@example.test"}}
TABLES = "CREATE TABLE orders (reference PRIMARY KEY, state, amount); CREATE TABLE seen (id PRIMARY KEY)"
LOCK = Lock()

class Shop:
    def __init__(self, world):
        self.world = world
        self.path = f"file:{world.id}?mode=memory&cache=shared"
        self.db = self.connect()
        self.db.executescript(TABLES)
        self.own = Lock()
        self.of_tasks = anyio.Lock()
        self.idle = threading.Condition()
        self.busy = 0

    def connect(self):
        return @CONNECT@(self.path, uri=True, isolation_level=None, check_same_thread=False)

    def send(self, reference):
        self.db.execute("INSERT INTO orders VALUES (?, 'new', 0)", (reference,))
        self.world.client.post("/wallet/send", headers={"Idempotency-Key": reference},
                               json={**SEND, "reference": reference})

    @HANDLE@

    def once(self, event):
        db = self.connect()
        if not db.execute("SELECT 1 FROM seen WHERE id = ?", (event["id"],)).fetchone():
            db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (event["id"],))
            self.book(db, event)

    def rolled_back(self, event):
        db = self.connect()
        db.execute("BEGIN")
        db.execute("UPDATE orders SET state = state")
        db.rollback()
        other = self.connect()
        other.execute("BEGIN")
        other.close()
        self.once(event)

    def atomic(self, event):
        db = self.connect()
        if db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (event["id"],)).rowcount:
            self.book(db, event)

    def book(self, db, event):
        about = event["data"]["object"]
        if event["type"] == "transaction.completed":
            row = (float(about["net_amount"]), about["reference"])
            db.execute("UPDATE orders SET state = 'completed', amount = amount + ? WHERE reference = ?", row)

    async def ask(self):
        await asyncio.to_thread(self.world.client.get, "/transactions")

    async def give_up(self):
        task = asyncio.create_task(self.ask())
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    async def claim(self, event):
        db = self.connect()
        if not db.execute("INSERT OR IGNORE INTO seen VALUES (?)", (event["id"],)).rowcount:
            return 503
        try:
            async with asyncio.timeout(0.2):
                await asyncio.sleep(0)
                self.book(db, event)
        except TimeoutError:
            db.execute("DELETE FROM seen WHERE id = ?", (event["id"],))
            return 503
        return 200

    def working(self, event):
        with self.idle:
            self.busy += 1
        try:
            self.atomic(event)
        finally:
            with self.idle:
                self.busy -= 1
                self.idle.notify_all()

    def wait(self):
        with self.idle:
            self.idle.wait_for(lambda: not self.busy)
"""
SYNC = """
    def handle(self, delivery):
        self.{0}(delivery.event)"""
LOCKED = """
    def handle(self, delivery):
        with {0}:
            self.once(delivery.event)"""
ASYNC = """
    async def handle(self, delivery):
        {0}"""
HOOK = """
def pytest_rampsim_quiesce(item):
    if "shop" in item.funcargs:
        item.funcargs["shop"].wait()
    return True
"""
TEST = """
import gc
import pytest

@pytest.mark.filterwarnings("error")
def test_send(shop):
    shop.send("A-1")
    shop.world.advance("1m")
    gc.collect()
"""


def explored(directory: Path, handle: str, connect: str = "sqlite3.connect", hook: str = "") -> Explored:
    conftest = SHOP_CONFTEST.replace("lambda delivery: made.handle(delivery)", "made.handle").replace(
        "(*row, ", "(row[0], row[1], str(row[2]), "
    )
    write_suite(directory, SHOP, TEST, conftest + hook, {"@CONNECT@": connect, "@HANDLE@": handle})
    return explore(directory, "--faults", "worker-held-back", "--plan", "full", "--limit", "20s")


def doubled(found: Explored) -> set[str]:
    """The functions at whose places an event is booked twice."""
    return {
        row["site"].partition(" in ")[2].partition(" at ")[0]
        for row in found.report["runs"]
        if row["verdict"] == "doubled"
    }


@pytest.mark.parametrize("connect", ["sqlite3.connect", "dbapi2.connect", "connect"])
def test_a_connection_is_traced_however_it_is_made(connect: str, tmp_path: Path) -> None:
    found = explored(tmp_path, SYNC.format("once"), connect)
    assert doubled(found) == {"once"}, found.said


def test_a_connection_is_free_after_its_rollback_or_close(tmp_path: Path) -> None:
    found = explored(tmp_path, SYNC.format("rolled_back"))
    assert doubled(found) == {"once"}, found.said


@pytest.mark.parametrize("lock", ["self.own", "LOCK"])
def test_work_with_a_lock_is_not_held_however_the_lock_is_imported(lock: str, tmp_path: Path) -> None:
    found = explored(tmp_path, LOCKED.format(lock))
    assert (found.code, found.report["summary"].get("not-reached", 0)) == (0, 0), found.said


def test_work_with_a_lock_of_anyio_is_not_held(tmp_path: Path) -> None:
    body = "async with self.of_tasks:\n            await self.ask()\n            self.once(delivery.event)"
    found = explored(tmp_path, ASYNC.format(body))
    assert (found.code, found.report["summary"].get("not-reached", 0)) == (0, 0), found.said


def test_a_function_in_an_executor_belongs_to_its_handler(tmp_path: Path) -> None:
    body = "await asyncio.get_running_loop().run_in_executor(None, self.once, delivery.event)"
    found = explored(tmp_path, ASYNC.format(body))
    assert doubled(found) == {"once"}, found.said


def test_a_task_that_is_cancelled_before_it_starts_leaves_no_warning(tmp_path: Path) -> None:
    found = explored(tmp_path, ASYNC.format("await self.give_up()\n        self.atomic(delivery.event)"))
    assert found.code == 0, found.said
    assert "failed-loudly" not in found.verdicts


def test_a_handler_that_is_cancelled_while_it_is_held_handles_that(tmp_path: Path) -> None:
    """Its time limit ends first. It gives the event back, and the service delivers it again."""
    found = explored(tmp_path, ASYNC.format("return await self.claim(delivery.event)"))
    assert found.code == 0, found.said
    assert "claim" in {row["site"].partition(" in ")[2].partition(" at ")[0] for row in found.report["runs"]}


def test_a_hook_that_waits_for_the_held_handler_ends_the_hold(tmp_path: Path) -> None:
    found = explored(tmp_path, SYNC.format("working"), hook=HOOK)
    assert (found.code, "hung" in found.verdicts) == (0, False), found.said
    assert {row["verdict"] for row in found.report["runs"] if "another worker" in row["site"]} == {"not-reached"}
