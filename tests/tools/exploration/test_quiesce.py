"""`pytest_rampsim_quiesce` and `--quiesce`: applications that continue to work after their response."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.tools.exploration.suite import PYTEST, explore, outside

SUITE = """
import queue, threading
import pytest

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5", "reference": "A-1",
        "destination": {"type": "address", "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}

class Shop:
    def __init__(self):
        self.waiting, self.books, self.asked = [], ("A-1", "pending", "0", "USDC"), 0

    def handle(self, delivery):
        self.waiting.append(delivery.event)

    def works(self):
        for event in self.waiting:
            if event["type"] == "transaction.completed":
                self.books = ("A-1", "completed", event["data"]["object"]["net_amount"], "USDC")
        self.waiting.clear()

@pytest.fixture
def shop(world, webhooks):
    made = Shop()
    webhooks.respond_with(made.handle)
    return made

@pytest.mark.scenario("autopilot")
def test_send(world, shop):
    world.client.post("/wallet/send", json=SEND, headers={"Idempotency-Key": "k"}).raise_for_status()
    world.advance("1m")
    assert shop.books[1] == "completed"
"""
HOOKS = """
def pytest_rampsim_books(item):
    return [item.funcargs["shop"].books]

def pytest_rampsim_quiesce(item):
    shop = item.funcargs.get("shop")
    if shop is None:
        return True
    shop.asked += 1
    if shop.asked % 2:
        return False  # the worker is busy, ask again
    shop.works()
    return True
"""


@pytest.mark.parametrize(("quiesces", "code"), [(True, 0), (False, 1)])
def test_advance_waits_until_the_application_is_quiet(quiesces: bool, code: int, tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(SUITE)
    (tmp_path / "conftest.py").write_text(HOOKS if quiesces else HOOKS.partition("def pytest_rampsim_quiesce")[0])
    done = subprocess.run([*PYTEST, "-q", "."], cwd=tmp_path, env=outside(), capture_output=True, text=True)
    assert done.returncode == code, done.stdout


def test_explore_waits_before_it_reads_the_books(tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(SUITE)
    (tmp_path / "conftest.py").write_text(HOOKS)
    found = explore(tmp_path, "--faults", "webhook-late,webhook-doubled", "--plan", "quick")
    assert (found.code, found.findings) == (0, set()), found.said


@pytest.mark.parametrize(("command", "code", "said"), [("true", 0, ""), ("false", 2, "queue is not empty after ten")])
def test_quiesce_command_says_when_the_queue_is_empty(command: str, code: int, said: str, tmp_path: Path) -> None:
    test = SUITE.replace("self.waiting.append(delivery.event)", "self.waiting.append(delivery.event); self.works()")
    (tmp_path / "test_shop.py").write_text(test)
    (tmp_path / "conftest.py").write_text(HOOKS.partition("def pytest_rampsim_quiesce")[0])
    found = explore(tmp_path, "--faults", "webhook-doubled", "--plan", "quick", "--limit", "60s", "--quiesce", command)
    assert (found.code, said in found.said) == (code, True), found.said


WORKING = """
import sqlite3
import pytest

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5", "reference": "A-1",
        "destination": {"type": "address", "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}

class Shop:
    def __init__(self, world):
        self.world = world
        self.db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self.db.executescript("CREATE TABLE tasks (what); CREATE TABLE orders (reference, state, amount)")

    def order(self):
        with self.db:
            self.db.execute("BEGIN")
            self.db.execute("INSERT INTO orders VALUES ('A-1', 'pending', '0')")
            self.db.execute("INSERT INTO tasks VALUES ('send')")

    def handle(self, delivery):
        if delivery.event["type"] == "transaction.completed":
            amount = delivery.event["data"]["object"]["net_amount"]
            self.db.execute("UPDATE orders SET state = 'completed', amount = ?", (amount,))

    def work(self):
        for _ in self.db.execute("SELECT what FROM tasks").fetchall():
            @WORK@

    def send(self):
        self.world.client.post("/wallet/send", json=SEND, headers={"Idempotency-Key": "A-1"}).raise_for_status()

    def done(self):
        self.db.execute("DELETE FROM tasks")

@pytest.fixture
def shop(world, webhooks):
    made = Shop(world)
    webhooks.respond_with(made.handle)
    return made

@pytest.mark.scenario("autopilot")
def test_send(world, shop):
    shop.order()
    world.advance("1m")
    world.advance("1m")
"""
WORKERS = """
def pytest_rampsim_books(item):
    return [(*row, "USDC") for row in item.funcargs["shop"].db.execute("SELECT * FROM orders")]

def pytest_rampsim_quiesce(item):
    if "shop" in item.funcargs:
        item.funcargs["shop"].work()
"""


@pytest.mark.parametrize(
    ("work", "findings"),
    [("self.send(); self.done()", set()), ("self.done(); self.send()", {("crash-in-call", "stuck")})],
    ids=["done when sent", "done before"],
)
def test_a_worker_that_the_hook_runs_dies_and_starts_again(
    work: str, findings: set[tuple[str, str]], tmp_path: Path
) -> None:
    (tmp_path / "test_shop.py").write_text(WORKING.replace("@WORK@", work.replace("; ", "\n            ")))
    (tmp_path / "conftest.py").write_text(WORKERS)
    found = explore(tmp_path, "--faults", "crash-in-call", "--plan", "full")
    assert found.findings == findings, found.said
    assert {row["test_outcome"] for row in found.report["runs"] if "in order" not in row["site"]} == {"passed"}
