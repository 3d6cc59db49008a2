"""Different sources of books under explore: they are read as the documentation says, and wrong books are found."""

from __future__ import annotations

import re
import shlex
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from simulator.certification.sources import read_books
from simulator.exploration.judgement.judging import judge, judge_baseline
from tests.measured import measured
from tests.places import ROOT
from tests.run_evidence import transaction
from tests.tools.exploration.suite import explore

EXPLORE = ROOT / "simulator/docs/how-to/explore.md"
PAGE = EXPLORE.read_text("utf-8").partition("## Your books")[2].partition("\n## ")[0]
SHOP = """
from types import SimpleNamespace
import pytest

QUOTE = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": "mobile_money",
         "amount": "5000", "amount_currency": "KES"}
PAYER = {"wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7", "payer": {"phone_number": "+254712345678"}}

class Shop:
    def __init__(self, world):
        self.world, self.orders = world, []

    def sell(self):
        quote = self.world.client.post("/quotes", json=QUOTE).raise_for_status().json()
        body = {**PAYER, "reference": "A-1"}
        sold = self.world.client.post(f"/quotes/{quote['id']}/confirm", json=body).raise_for_status().json()
        self.orders = [SimpleNamespace(id=sold["id"], reference="A-1", state="sold", received=0, currency="USDC")]

    def reconcile(self):
        for order in self.orders:
            found = self.world.client.get(f"/transactions/{order.id}").raise_for_status().json()
            order.state, order.received = found["status"], found["destination_amount"] if PAID else 0

@pytest.fixture
def shop(world):
    return Shop(world)

@pytest.mark.scenario("autopilot")
def test_sell(shop):
    shop.sell()

def test_nothing(world):
    pass
"""


def books_of_the_page() -> list[str]:
    lines = [line for line in PAGE.splitlines() if line.startswith("rampsim explore --books")]
    return [shlex.split(line.partition(" -- ")[0])[3] for line in lines]


def test_the_sources_on_the_page_are_read_as_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    for name in ("python", "psql"):
        Path(name).write_text("#!/bin/sh\necho order,state,amount,currency\necho A-17,completed,37.89,USDC\n")
        Path(name).chmod(0o755)
    Path("books.csv").write_text("order,state,amount,currency\nA-17,completed,37.89,USDC\n")
    Path("shop").mkdir()
    Path("shop/books.py").write_text("def rows(): return [('A-17', 'completed', 37.89, 'USDC')]\n")
    with closing(sqlite3.connect("shop.db")) as database:
        database.executescript(
            "CREATE TABLE orders (reference, state, amount, currency);"
            "INSERT INTO orders VALUES ('A-17', 'completed', '37.89', 'USDC')"
        )
    (psql,) = re.findall(r"`--books ('psql .*')`", PAGE)
    every = [*books_of_the_page(), *shlex.split(psql)]
    assert len(every) == 6
    for source in every:
        if source.startswith("http:"):
            continue  # as any URL, in tests/tools/certification/test_sources.py
        (line,) = read_books(source, {})
        assert (line.order, line.state, str(line.amount), line.currency) == ("A-17", "completed", "37.89", "USDC")


@pytest.mark.farm
@pytest.mark.parametrize(("paid", "found"), [(True, set()), (False, {("none", "lost")})])
def test_hooks_of_a_conftest_give_the_books_of_a_fixture(paid: bool, found: set[Any], tmp_path: Path) -> None:
    (snippet,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "conftest.py").write_text(snippet)
    (tmp_path / "test_shop.py").write_text(SHOP + f"\nPAID = {paid}\n")
    explored = explore(tmp_path, "--faults", "refused-503", "--workers", "1")
    assert explored.findings == found, explored.said
    assert explored.code == (1 if found else 0)


FUNCTION = """
import os
from test_shop import Shop

def rows():
    print("looking")
    return [(one.reference, one.state, one.received, one.currency) for one in Shop.last.orders]

def settle():
    Shop.last.reconcile()
"""


@pytest.mark.farm
def test_a_function_is_called_in_the_process_of_the_tests(tmp_path: Path) -> None:
    (tmp_path / "till.py").write_text(FUNCTION)
    text = SHOP.replace("        self.world, self.orders", "        Shop.last = self\n        self.world, self.orders")
    (tmp_path / "test_shop.py").write_text(text.partition("def test_nothing")[0] + "\nPAID = False\n")
    words = ("--faults", "refused-503", "--workers", "1")
    explored = explore(tmp_path, *words, "--books", "till:rows", "--settle", "till:settle", environment=measured())
    assert explored.findings == {("none", "lost")}, explored.said
    refused = explore(tmp_path, *words, "--books", "till:row", environment=measured())
    assert (refused.code, "--books: till:row cannot be imported" in refused.said) == (2, True), refused.said
    refused = explore(tmp_path, *words, "--settle", "till:nothing")
    assert (refused.code, "--settle: till:nothing cannot be imported" in refused.said) == (2, True), refused.said


def test_a_job_that_never_works_is_reported_immediately(tmp_path: Path) -> None:
    (tmp_path / "test_nothing.py").write_text("def test_nothing(world):\n    pass\n")
    found = explore(tmp_path, "--settle", "pyhton -m shop settle", "--workers", "1")
    assert found.code == 2
    assert "--settle: `pyhton -m shop settle` failed with exit code 127" in found.said


ROW = {"id": "s", "type": "send", "status": "completed", "reference": "A-1", "destination": "x", "amount": "4.99",
       "currency": "USDC", "holds": False}  # fmt: skip


def evidence(*books: dict[str, str], **more: Any) -> dict[str, Any]:
    return {
        "transactions": [ROW],
        "standing": [],
        "switched_off": [],
        "not_genuine": [],
        "hits": 1,
        "books": list(books),
        **more,
    }


def line(amount: str, currency: str = "USDC", state: str = "completed") -> dict[str, str]:
    return {"order": "A-1", "state": state, "amount": amount, "currency": currency}


@pytest.mark.parametrize(
    ("books", "verdict"),
    [
        ([line("4.99")], None),
        ([line("4.990", "usdc")], None),
        ([line("4.99", "")], None),
        ([line("2"), line("2.99")], None),
        ([line("4.98")], "disagrees"),
        ([line("0")], "lost"),
        ([line("5.00")], "disagrees"),
        ([line("9.98")], "doubled"),
        ([line("4.99", "KES")], "disagrees"),
        ([line("4.99", state="failed")], "disagrees"),
        ([line("4.99", state="processing")], "stuck"),
        ([], "lost"),
    ],
)
def test_books_are_reconciled_to_the_cent(books: list[dict[str, str]], verdict: str | None) -> None:
    found = judge_baseline(evidence(*books))
    assert (found and found.verdict) == verdict


def test_books_that_cannot_be_read_after_a_fault_disagree() -> None:
    found = judge(evidence(line("4.99")), evidence(books=None, unread="no such table: orders"), passed=True,
                  hung=False, strikes=True)  # fmt: skip
    assert (found.verdict, "no such table: orders" in found.note) == ("disagrees", True)


@pytest.mark.parametrize(
    ("state", "verdict"),
    [("processing", "stuck"), ("awaiting_payment", "stuck"), ("pending", "stuck"), ("new", None), ("failed", None)],
)
def test_an_order_open_in_the_books_alone_is_stuck(state: str, verdict: str | None) -> None:
    """The simulator knows no such order; a state of the shop's own says nothing of how far it has come."""
    books = evidence({**line("0", state=state), "order": "A-2"}, line("4.99"))
    found = judge_baseline(books)
    assert (found and found.verdict) == verdict
    assert found is None or "A-2: the books say 0 USDC" in found.note


def test_an_order_open_on_both_sides_is_not_a_difference() -> None:
    """A test may end while a payment is under way for good: the books say so, and so does the simulator."""
    open_still = {**evidence(line("0", state="processing")), "transactions": [{**ROW, "status": "processing"}]}
    assert judge_baseline(open_still) is None


@pytest.mark.parametrize(
    ("ends", "strikes", "verdict"),
    [
        (["completed"], False, "failed-loudly"),  # paid after all: one order, one delivery
        (["completed", "completed"], False, "doubled"),
        (["failed", "completed"], False, "failed-loudly"),
        (["completed"], True, "doubled"),  # nobody paid otherwise
    ],
)
def test_an_order_that_came_to_nothing_may_come_to_its_one_delivery(
    ends: list[str], strikes: bool, verdict: str
) -> None:
    baseline = {**evidence(books=None), "transactions": [transaction("onramp", status="failed")]}
    run = {**evidence(books=None), "transactions": [transaction("onramp", status=status) for status in ends]}
    assert judge(baseline, run, passed=False, hung=False, strikes=strikes).verdict == verdict
