"""`worker-held-back` for threads of the application, workers that the suite's hook runs, and `async` handlers."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import pytest

from simulator.exploration.runs.tracing.holding import Holding
from simulator.exploration.runs.tracing.scenes import CALL, HANDLER, Scene
from tests.tools.exploration.suite import Explored, explore, write_suite

SHOP = """
import asyncio, sqlite3, threading
from contextlib import contextmanager

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5",
        "destination": {"type": "platform_user", "email": "amina@example.test"}}
TABLES = '''CREATE TABLE orders (reference PRIMARY KEY, state, amount);
            CREATE TABLE tasks (id PRIMARY KEY, reference, amount, worker)'''

class Shop:
    def __init__(self, world, path):
        self.world = world
        self.path = path
        self.stopped = threading.Event()
        self.busy = []
        self.turn = threading.Semaphore(1)
        self.lock = asyncio.Lock()
        self.connect().executescript(TABLES)

    def connect(self):
        return sqlite3.connect(self.path, isolation_level=None)

    def send(self, reference):
        self.connect().execute("INSERT INTO orders VALUES (?, 'new', 0)", (reference,))
        self.world.client.post("/wallet/send", headers={"Idempotency-Key": reference},
                               json={**SEND, "reference": reference})

    def handle(self, delivery):
        event, about = delivery.event, delivery.event["data"]["object"]
        with self.meanwhile():
            if event["type"] == "transaction.completed":
                db = self.connect()
                @QUEUE@
        return 200

    def run(self, worker):
        db = self.connect()
        while not self.stopped.is_set():
            self.work(db, worker)
            self.stopped.wait(0.01)

    def work(self, db, worker):
        self.busy.append(worker)
        with self.meanwhile():
            self.work_on(db, worker)
        self.busy.remove(worker)

    @contextmanager
    def meanwhile(self):
        # without a fault, workers and handlers never meet
        is_mine = self.turn.acquire(timeout=0.3)
        yield
        if is_mine:
            self.turn.release()

    def work_on(self, db, worker):
        tasks = db.execute("SELECT id, reference, amount FROM tasks WHERE worker = ''").fetchall()
        for task, reference, amount in tasks:
            @CLAIM@
                self.book(db, reference, amount)

    def book(self, db, reference, amount):
        row = (float(amount), reference)
        db.execute("UPDATE orders SET state = 'completed', amount = amount + ? WHERE reference = ?", row)

    def is_empty(self):
        is_waiting = self.connect().execute("SELECT 1 FROM tasks WHERE worker = ''").fetchone() is not None
        return not is_waiting and not self.busy

    async def handle_here(self, delivery):
        event, about, db = delivery.event, delivery.event["data"]["object"], self.connect()
        if event["type"] == "transaction.completed":
            @AWAIT@
        return 200

    async def once(self, db, event):
        about = event["data"]["object"]
        if db.execute("SELECT 1 FROM tasks WHERE id = ?", (event["id"],)).fetchone() is None:
            await asyncio.to_thread(self.ask)
            db.execute("INSERT OR IGNORE INTO tasks VALUES (?, '', '', '')", (event["id"],))
            self.book(db, about["reference"], about["net_amount"])

    async def first(self, db, event):
        about = event["data"]["object"]
        await asyncio.to_thread(self.ask)
        if db.execute("INSERT OR IGNORE INTO tasks VALUES (?, '', '', '')", (event["id"],)).rowcount:
            self.book(db, about["reference"], about["net_amount"])

    def ask(self):
        self.world.client.get("/transactions")
"""
CLAIMS = {
    "reads first": """
            db.execute("UPDATE tasks SET worker = ? WHERE id = ?", (worker, task))
            if True:""",
    "lets the database decide": """
            if db.execute("UPDATE tasks SET worker = ? WHERE id = ? AND worker = ''", (worker, task)).rowcount:""",
}
"""How a worker claims a task."""
QUEUES = {
    "in one write": """
                row = (event["id"], about["reference"], about["net_amount"])
                db.execute("INSERT OR IGNORE INTO tasks VALUES (?, ?, ?, '')", row)""",
    "in two writes": """
                db.execute("INSERT OR IGNORE INTO tasks VALUES (?, ?, 0, '')", (event["id"], about["reference"]))
                db.execute("UPDATE tasks SET amount = ? WHERE id = ?", (about["net_amount"], event["id"]))""",
}
"""How the handler queues a task."""
AWAITS = {
    "reads first": "await self.once(db, event)",
    "holds a lock": """
            async with self.lock:
                await self.once(db, event)""",
    "lets the database decide": "await self.first(db, event)",
    "reads first in a task": "await asyncio.create_task(self.once(db, event))",
}
"""How an `async` handler handles an event once."""
BOOKS = """
def pytest_rampsim_books(item):
    rows = item.funcargs["shop"].connect().execute("SELECT reference, state, amount FROM orders")
    return [(reference, state, str(amount), "USDC") for reference, state, amount in rows]
"""
THREADS = """
import threading
import pytest
from shop import Shop

@pytest.fixture
def shop(world, webhooks, tmp_path):
    made = Shop(world, tmp_path / "shop.db")
    webhooks.respond_with(lambda delivery: made.handle(delivery))
    workers = [threading.Thread(target=made.run, args=(name,)) for name in "ab"]
    for one in workers:
        one.start()
    yield made
    made.stopped.set()
    for one in workers:
        one.join()

def pytest_rampsim_quiesce(item):
    return item.funcargs["shop"].is_empty() if "shop" in item.funcargs else True
"""
POOL = """
import threading
from concurrent.futures import ThreadPoolExecutor
import pytest
from shop import Shop

@pytest.fixture
def shop(world, webhooks, tmp_path):
    made = Shop(world, tmp_path / "shop.db")
    with ThreadPoolExecutor(2) as pool:
        def work(name):
            made.work(made.connect(), name)

        def handle(delivery):
            made.handle(delivery)
            for name in "ab":
                pool.submit(work, name)

        webhooks.respond_with(handle)
        yield made

def pytest_rampsim_quiesce(item):
    return item.funcargs["shop"].is_empty() if "shop" in item.funcargs else True
"""
HOOK = """
import pytest
from shop import Shop

@pytest.fixture
def shop(world, webhooks, tmp_path):
    made = Shop(world, tmp_path / "shop.db")
    webhooks.respond_with(lambda delivery: made.handle(delivery))
    return made

def pytest_rampsim_quiesce(item):
    if "shop" in item.funcargs:
        item.funcargs["shop"].work(item.funcargs["shop"].connect(), "hook")
    return True
"""
ASYNC = """
import pytest
from shop import Shop

@pytest.fixture
def shop(world, webhooks, tmp_path):
    made = Shop(world, tmp_path / "shop.db")
    webhooks.respond_with(made.handle_here)
    return made
"""
TEST = """
def test_send(shop):
    shop.send("A-1")
    shop.world.advance("1m")
"""


def explored(
    directory: Path,
    conftest: str,
    *words: str,
    claim: str = "reads first",
    awaits: str = "reads first",
    test: str = TEST,
    queue: str = "in one write",
) -> Explored:
    marks = {"@CLAIM@": CLAIMS[claim], "@AWAIT@": AWAITS[awaits], "@QUEUE@": QUEUES[queue]}
    write_suite(directory, SHOP, test, conftest + BOOKS, marks)
    return explore(directory, *(words or ("--faults", "worker-held-back", "--plan", "full")))


def verdicts(found: Explored) -> dict[str, str]:
    """The verdict of each place."""
    return {row["site"].partition(" in ")[2]: row["verdict"] for row in found.report["runs"]}


COMPLETED = "transaction.completed"
CLAIMED, BOOKED = "work_on while another worker goes on #1", "book while another worker goes on #1"


@pytest.mark.parametrize(("claim", "verdict"), [("reads first", "doubled"), ("lets the database decide", "survived")])
@pytest.mark.parametrize("conftest", [THREADS, POOL, HOOK], ids=["threads", "pool", "hook"])
def test_a_held_worker_finds_a_claim_that_another_worker_repeats(
    conftest: str, claim: str, verdict: str, tmp_path: Path
) -> None:
    found = explored(tmp_path, conftest, claim=claim)
    seen = verdicts(found)
    assert seen[CLAIMED] == verdict, found.said
    if verdict == "survived":
        assert {*seen.values()} <= {"survived", "not-reached"}, found.said
        assert seen[BOOKED] == "not-reached", "the other worker has nothing to do"
    if conftest == HOOK:
        assert [*seen][1:] == ["send while another worker goes on #1", CLAIMED, BOOKED], "nothing is queued before"


@pytest.mark.parametrize(("queue", "verdict"), [("in one write", None), ("in two writes", "lost")])
@pytest.mark.parametrize("conftest", [THREADS, HOOK], ids=["threads", "hook"])
def test_a_handler_held_after_a_write_finds_a_task_that_is_queued_too_early(
    conftest: str, queue: str, verdict: str | None, tmp_path: Path
) -> None:
    found = explored(tmp_path, conftest, claim="lets the database decide", queue=queue)
    assert len(found.report["causes"]) == bool(verdict), found.said
    assert verdicts(found).get(f"handle at {COMPLETED} while another worker goes on #1") == verdict, found.said


def test_one_thread_is_held_only_while_events_are_handled(tmp_path: Path) -> None:
    found = explored(tmp_path, THREADS.replace('"ab"', '"a"'))
    assert {"work_on while an event is handled #1", "book while an event is handled #1"} <= {*verdicts(found)}, (
        found.said
    )
    assert CLAIMED not in verdicts(found)
    assert found.code == 0, found.said


def test_code_that_the_test_calls_is_not_held_for_a_hook_that_has_emptied_the_queue(tmp_path: Path) -> None:
    found = explored(tmp_path, HOOK, test=f"{TEST}    shop.send('A-2')\n    shop.world.advance('1m')\n")
    assert "send while another worker goes on #2" in verdicts(found), found.said
    assert "connect while another worker goes on #1" not in verdicts(found)


def test_quiesce_as_a_command_is_not_a_worker(tmp_path: Path) -> None:
    words = ("--faults", "worker-held-back", "--plan", "full", "--quiesce", "true")
    assert CLAIMED not in verdicts(explored(tmp_path, HOOK, *words))


@pytest.mark.parametrize(
    ("awaits", "seen"),
    [
        ("reads first", {"ask": "doubled", "once": "doubled"}),
        ("reads first in a task", {"ask": "doubled", "once": "doubled"}),
        ("lets the database decide", {"ask": "survived", "first": "survived"}),
        ("holds a lock", {}),
    ],
)
def test_an_async_handler_is_held_where_it_awaits(awaits: str, seen: dict[str, str], tmp_path: Path) -> None:
    """A function in a thread of the handler is held before the line that writes. Nothing is held with a lock."""
    found = explored(tmp_path, ASYNC, awaits=awaits)
    assert verdicts(found) == {f"{name} at transaction.completed #1": verdict for name, verdict in seen.items()}, (
        found.said
    )


def test_a_call_goes_on_when_the_held_handler_has_ended() -> None:
    """The handler waits for the call for a moment, in vain."""
    at = ["shop.py", 9, 1]
    plan = {"within": "paid", "scene": 1, "file": "shop.py", "line": 3, "visit": 1, "until": "call", "at": at}
    holding, code, went_on = Holding(plan, lambda seconds: True), explored.__code__, Event()
    call, handler = Scene(CALL), Scene(HANDLER, "paid")
    found: list[bool] = []

    def handle() -> None:
        holding.at_line(handler, code, "shop.py", 3)
        found.append(went_on.wait(0.2))
        holding.ended(handler)

    holding.begun(call)
    holding.begun(handler)
    thread = Thread(target=handle)
    thread.start()
    holding.at_line(call, code, "shop.py", 9)
    call.on_write(call)
    holding.at_line(call, code, "shop.py", 10)
    went_on.set()
    thread.join()
    assert (found, holding.times) == ([False], 1)


@pytest.mark.parametrize("conftest", [HOOK, ASYNC], ids=["hook", "async"])
def test_held_workers_are_replayed_and_the_same_on_two_workers(conftest: str, tmp_path: Path) -> None:
    found = explored(tmp_path, conftest)
    report = (tmp_path / ".rampsim/explore/report.json").read_bytes()
    assert {explore(tmp_path, "--replay", name).code for name in found.report["findings"]} == {1}
    explore(tmp_path, "--faults", "worker-held-back", "--plan", "full", "--workers", "2")
    assert (tmp_path / ".rampsim/explore/report.json").read_bytes() == report
