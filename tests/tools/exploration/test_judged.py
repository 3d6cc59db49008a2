"""The parts of a run, seen by an integrator's tests and hooks, which log what they see."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.tools.exploration.suite import Explored, explore

pytestmark = [pytest.mark.farm, pytest.mark.xdist_group("judged")]

QUOTE = {
    "type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": "mobile_money",
    "amount": "5000", "amount_currency": "KES",
}  # fmt: skip

HOOKS = f"""
import json
from simulator.testing import SimulatorError

QUOTE = {QUOTE}

def note(world, what, **more):
    with open("log", "a") as log:
        log.write(json.dumps({{"world": world.id, "what": what, "now": world.now.isoformat(), **more}}) + chr(10))

def look(world, what):
    try:
        code = world.client.post("/quotes", json=QUOTE).json().get("error", {{}}).get("code")
    except SimulatorError as refusal:  # the sign-in
        code = refusal.code
    rows = [row["status"] for row in world.control("GET", "/resources")["data"] if row["kind"] == "onramp"]
    note(world, what, code=code, onramps=rows)

def pytest_rampsim_settle(item, world):
    look(world, "settle")

def pytest_rampsim_books(item, world):
    look(world, "books")
    rows = [row for row in world.control("GET", "/resources")["data"] if row["kind"] == "onramp"]
    sold = [{{"order": row["reference"], "state": row["status"], "currency": "USDC",
             "amount": row["destination_amount"] if row["status"] == "completed" else 0}} for row in rows]
    return [*sold, {{"order": "NEVER-PLACED", "state": "new", "amount": 0}}]
"""

TESTS = """
import threading, pytest
from conftest import QUOTE, look, note

def buy(world):
    codes = []
    for attempt in range(2):
        quote = world.client.post("/quotes", json=QUOTE).json()
        answer = world.client.post(f"/quotes/{quote.get('id')}/confirm", json={"reference": "A-1",
            "wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7", "payer": {"phone_number": "+254712345678"}})
        codes.append(answer.json().get("error", {}).get("code"))
        if answer.is_success:
            break
    return codes

@pytest.mark.scenario("autopilot")
def test_buy(world):
    try:
        note(world, "bought", codes=buy(world))
    finally:
        world.advance("10m")
        look(world, "end")

def test_rates(world):
    rates = [world.client.post("/quotes", json=QUOTE).json().get("rate") for _ in range(3)]
    note(world, "rates", rates=rates)

@pytest.mark.scenario("autopilot")
def test_send(world, webhooks):
    answered, told = threading.Event(), []

    def take(delivery):
        if delivery.event["type"] == "transaction.completed":
            told.append(answered.wait(2))
        return 200 if delivery.genuine else 401

    webhooks.respond_with(take)
    world.client.post("/wallet/send", json={"symbol": "USDC", "network": "CELO", "amount": "5",
        "destination": {"type": "platform_user", "email": "amina@example.test"}})
    answered.set()
    world.settle()
    note(world, "sent", after_the_answer=told)
"""

FAULTS = "network-down,key-revoked,kyc-withdrawn,stuck-in-processing,quote-expires,rate-moves,webhook-before-answer"


class Noted:
    """The log of tests and hooks, by world."""

    def __init__(self, explored: Explored) -> None:
        self.explored = explored
        self.worlds: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for line in (explored.directory / "log").read_text("utf-8").splitlines():
            row = json.loads(line)
            self.worlds[row["world"]].append(row)

    def of(self, what: str) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
        """The notes of this sort, each with all notes of its world."""
        for rows in self.worlds.values():
            yield from ((row, rows) for row in rows if row["what"] == what)


@pytest.fixture(scope="module")
def noted(tmp_path_factory: pytest.TempPathFactory) -> Noted:
    directory = tmp_path_factory.mktemp("judged")
    (directory / "conftest.py").write_text(HOOKS)
    (directory / "test_it.py").write_text(TESTS)
    return Noted(explore(directory, "--plan", "full", "--faults", FAULTS, "--workers", "1"))


def test_an_order_never_placed_and_without_money_is_no_finding(noted: Noted) -> None:
    assert noted.explored.code == 0, noted.explored.said
    assert noted.explored.verdicts <= {"survived", "failed-loudly", "not-reached"}


def test_a_job_runs_at_once_and_after_four_days_and_the_books_are_read_last(noted: Noted) -> None:
    ends = [rows for row, rows in noted.of("end") if row["onramps"] != ["processing"]]
    assert len(ends) > 5
    for rows in ends:
        end, first, second, books = _steps(rows, "end", "settle", "settle", "books")
        assert first == end
        assert timedelta(days=4) <= second - first <= timedelta(days=4, hours=1)
        assert books == second


def test_a_stuck_payment_lasts_for_a_day_with_its_own_run_of_the_job(noted: Noted) -> None:
    met = [rows for row, rows in noted.of("end") if row["onramps"] == ["processing"]]
    assert met
    for rows in met:
        states = [row["onramps"] for row in rows if row["what"] == "settle"]
        assert states == [["processing"], ["completed"], ["completed"]]
        end, during, first, second, books = _steps(rows, "end", "settle", "settle", "settle", "books")
        assert during == first == end + timedelta(days=1)
        assert timedelta(days=4) <= second - first <= timedelta(days=4, hours=1)
        assert books == second


def _steps(rows: list[dict[str, Any]], *expected: str) -> list[datetime]:
    """Return when each of the expected steps happened. Fail if there were other steps, or another order."""
    steps = [row for row in rows if row["what"] in expected]
    assert [row["what"] for row in steps] == [*expected]
    return [datetime.fromisoformat(row["now"]) for row in steps]


@pytest.mark.parametrize("code", ["network_unavailable", "invalid_credentials", "kyc_required"])
def test_effects_nobody_can_fix_are_repaired_before_the_job(code: str, noted: Noted) -> None:
    met = [rows for row, rows in noted.of("end") if row["code"] == code]
    assert met
    for rows in met:
        assert {row["code"] for row in rows if row["what"] == "settle"} == {None}


def test_an_expired_quote_is_refused_and_a_second_one_goes_through(noted: Noted) -> None:
    assert ["quote_expired", None] in [row["codes"] for row, _ in noted.of("bought")]


def test_rates_move_between_any_two_calls(noted: Noted) -> None:
    rates = [row["rates"] for row, _ in noted.of("rates") if None not in row["rates"]]
    still, moved = ([one for one in rates if len(set(one)) == count] for count in (1, 3))
    assert still
    assert moved


def test_an_internal_transfer_is_reported_before_its_response(noted: Noted) -> None:
    assert [row["after_the_answer"] for row, _ in noted.of("sent")].count([False]) == 1


def test_a_class_without_a_site_has_no_runs(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("def test_it(world):\n    world.client.get('/profile')\n")
    found = explore(tmp_path, "--faults", "payment-late,webhook-lost,quote-expires", "--workers", "1")
    assert (found.code, found.report["runs"]) == (0, []), found.said
    assert "were not tried: webhook-lost, payment-late, quote-expires" in found.said
