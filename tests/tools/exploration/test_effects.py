"""Sites that count as reached, and payments after the end of a test."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulator.exploration.judgement.judging import judge
from tests.measured import measured
from tests.run_evidence import transaction
from tests.tools.exploration.suite import explore

SENDS = """
import uuid
import pytest

SEND = {"symbol": "USDC", "network": "CELO", "amount": "5", "destination": {"type": "address",
        "address": "0x52908400098527886E0F7030069857D2E4169EE7"}}

@pytest.mark.scenario("autopilot")
def test_send(world, webhooks):
    webhooks.respond(200)
    world.client.post("/wallet/send", json={**SEND, "reference": str(uuid.uuid4())}).raise_for_status()
    world.advance("1m")
"""


@pytest.mark.farm
def test_a_fault_that_changes_nothing_is_not_reached(tmp_path: Path) -> None:
    """No limit counts a send (decision M14), a drained balance refuses it."""
    (tmp_path / "test_send.py").write_text(SENDS)
    found = explore(tmp_path, "--faults", "limit-reached,balance-drained,kyc-withdrawn")
    verdicts = {row["fault"]: (row["verdict"], row["note"]) for row in found.report["runs"]}
    assert verdicts["limit-reached"] == ("not-reached", "no response, delivery or balance showed the fault")
    assert verdicts["balance-drained"][0] == "failed-loudly"
    assert verdicts["kyc-withdrawn"][0] in ("survived", "failed-loudly")


BUYS = """
import httpx

QUOTE = {"type": "onramp", "network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": "mobile_money",
         "amount": "5000", "amount_currency": "KES"}
PAYER = {"wallet_address": "0x52908400098527886E0F7030069857D2E4169EE7", "payer": {"phone_number": "+254712345678"},
         "reference": "A-1"}

def order(client):
    for attempt in range(3):
        key = "order" if %(keeps)s else f"order-{attempt}"
        try:
            quote = client.post("/quotes", json=QUOTE, headers={"Idempotency-Key": f"{key}-quote"}).json()
            return client.post(f"/quotes/{quote['id']}/confirm", json=PAYER, headers={"Idempotency-Key": key}).json()
        except httpx.TransportError:
            pass
    raise AssertionError("no answer")

def test_buy(world):
    sold = order(world.client)
    world.act("payment_arrives", sold["id"])
    world.act("complete", sold["id"])
    world.advance("1m")

def test_a_payer_who_never_pays(world):
    sold = order(world.client)
    world.advance("31m")
    assert world.client.get(f"/transactions/{sold['id']}").json()["status"] == "expired"

def test_an_order_that_is_left_open(world):
    order(world.client)
"""


@pytest.mark.farm
@pytest.mark.parametrize(("keeps", "found"), [(False, {("answer-lost-after-commit", "doubled")}), (True, set())])
def test_a_second_payer_prompt_is_paid_after_the_test(keeps: bool, found: set[tuple[str, str]], tmp_path: Path) -> None:
    (tmp_path / "test_buy.py").write_text(BUYS % {"keeps": keeps})
    faults = "answer-lost-after-commit,answer-lost-before-work,refused-500,refused-503"
    explored = explore(tmp_path, "--plan", "full", "--faults", faults, environment=measured())
    assert explored.findings == found, explored.said
    by_test = {row["test"].partition("::")[2] for row in explored.report["runs"] if row["verdict"] == "doubled"}
    assert by_test == ({"test_buy", "test_an_order_that_is_left_open"} if found else set())


@pytest.mark.parametrize(("orders", "verdict"), [(1, "failed-loudly"), (2, "doubled")])
def test_an_order_paid_after_the_test_is_doubled_only_if_placed_twice(orders: int, verdict: str) -> None:
    baseline = {**NOTHING, "transactions": [transaction("onramp", status="expired")]}
    paid = [transaction("onramp", id=f"txn_{number}", paid_after=True) for number in range(orders)]
    found = judge(baseline, {**NOTHING, "transactions": paid}, passed=False, hung=False, strikes=True)
    assert found.verdict == verdict


NOTHING = {"standing": [], "switched_off": [], "not_genuine": [], "hits": 1, "books": None}
