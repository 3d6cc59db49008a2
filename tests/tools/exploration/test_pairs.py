"""`--plan pairs-of-faults`: defects that need two faults at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tools.exploration.suite import Explored, explore, write_suite

SHOP = """
import httpx, pytest

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5", "reference": "A-1",
        "destination": {"type": "address", "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}
QUOTE = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": "mobile_money",
         "amount": "5000", "amount_currency": "KES"}
PAYER = {"reference": "A-1", "payer": {"phone_number": "+254722000000"},
         "wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7"}
books = {}

def key(name):
    return {"Idempotency-Key": name}

def told(delivery):
    about = delivery.event["data"]["object"]
    if delivery.event["type"].startswith("transaction."):
        done = about["status"] == "completed"
        books["A-1"] = (about["status"], about.get("net_amount") or about["destination_amount"] if done else "0")

@pytest.fixture
def shop(world, webhooks):
    books.clear()
    webhooks.respond_with(told)
    return world

def rows(item):
    return [(name, *row, "USDC") for name, row in books.items()]
"""
CONFTEST = "from shop import books, rows as pytest_rampsim_books, shop\n"
BEGINS = "import httpx, pytest\nfrom shop import PAYER, QUOTE, SEND, books, key\n"
SENDS = """
@pytest.mark.scenario("autopilot")
def test_send(shop):
    try:
        sent = shop.client.post("/wallet/send", json=SEND, headers=key("k")).json()
        answered = sent["status"]
    except httpx.TransportError:
        answered = ""  # an event will tell
    shop.advance("1m")
    if answered and books.get("A-1", ("",))[0] != "completed":  # the event is lost, so look for it
        found = shop.client.get(f"/transactions/{sent['id']}").json()
        books["A-1"] = (found["status"], found["net_amount"])
    books.setdefault("A-1", ("failed", "0"))
"""
"""A shop that relies on the response or on the event. It has neither if both are lost."""
BUYS = """
@pytest.mark.scenario("autopilot")
def test_buy(shop):
    quote = shop.client.post("/quotes", json=QUOTE, headers=key("q1")).json()
    placed = shop.client.post(f"/quotes/{quote['id']}/confirm", json=PAYER, headers=key("c1"))
    if placed.status_code == 422:
        again = shop.client.post("/quotes", json=QUOTE, headers=key("q2")).json()
        shop.client.post(f"/quotes/{again['id']}/confirm", json=PAYER, headers=key("c2")).raise_for_status()
        shop.advance("10m")
        books["A-1"] = ("completed", quote["destination_amount"])  # what the customer was promised
    shop.advance("10m")
"""
"""A shop that books the amount of an expired quote. Without a moved rate, the second quote has the same amount."""
REVOKED = """
@pytest.mark.scenario("autopilot")
def test_send(shop):
    try:
        answer = shop.client.post("/wallet/send", json=SEND, headers=key("k"))
    except httpx.TransportError:
        answer = None
    from simulator.testing import SimulatorError
    if answer is None:
        try:
            answer = shop.client.post("/wallet/send", json=SEND, headers=key("k"))
        except SimulatorError:
            answer = httpx.Response(401)
    shop.advance("1m")
    if answer.status_code == 401:
        books["A-1"] = ("failed", "0")  # refused, so it was never placed
"""
"""A shop that takes a refused retry for the answer to the first attempt."""
FOLLOWS = """
@pytest.mark.scenario("autopilot")
def test_buy(shop):
    quote = shop.client.post("/quotes", json=QUOTE, headers=key("q1")).json()
    shop.client.post(f"/quotes/{quote['id']}/confirm", json=PAYER, headers=key("c1")).raise_for_status()
    books.setdefault("A-1", ("new", "0"))
    shop.advance("10m")
"""
"""A shop with a job that does not read completed orders."""
SETTLES = """
def pytest_rampsim_settle(item):
    if books["A-1"][0] != "completed":
        (found,) = item.funcargs["shop"].client.get("/transactions").json()["data"]
        done = found["status"] == "completed"
        books["A-1"] = (found["status"], found["destination_amount"] if done else "0")
"""
CASES = {
    "answer-lost-after-commit+webhook-lost": (SENDS, "lost"),
    "quote-expires+rate-moves": (BUYS, "disagrees"),
    "answer-lost-after-commit+key-revoked": (REVOKED, "lost"),
    "webhook-lost-for-good+completed-then-refunded": (FOLLOWS, "disagrees"),
}


def explored(directory: Path, test: str, *words: str) -> Explored:
    write_suite(directory, SHOP, BEGINS + test, CONFTEST + (SETTLES if test == FOLLOWS else ""))
    return explore(directory, *words)


@pytest.mark.parametrize("pair", CASES)
def test_a_pair_finds_what_neither_of_its_faults_finds(pair: str, tmp_path: Path) -> None:
    test, verdict = CASES[pair]
    classes = pair.replace("+", ",")
    alone = explored(tmp_path, test, "--plan", "full", "--faults", classes)
    assert alone.findings == set(), alone.said
    found = explored(tmp_path, test, "--plan", "pairs-of-faults")
    assert (pair, verdict) in found.findings, found.said
    rows = {row["id"]: row for row in found.report["runs"]}
    name = next(one for one in found.report["findings"] if rows[one]["fault"] == pair)
    assert explore(tmp_path, "--replay", name).code == 1
    assert len(rows) <= 80  # 40 pairs, and single faults that explain some


def test_a_pair_with_a_fault_that_is_enough_is_reported_as_that_fault(tmp_path: Path) -> None:
    test = SENDS.replace("if answered and books", "if False and books")
    words = ("--plan", "pairs-of-faults", "--faults", "webhook-lost,answer-extra-field")
    found = explored(tmp_path, test, *words)
    assert found.findings == {("webhook-lost", "lost")}, found.said
