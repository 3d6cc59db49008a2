"""The 30-minute law of swap, buy and withdraw quotes (decisions S1 and S2), and what their execution shares."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.kernel.clock import MINUTE_MS
from simulator.kernel.money import format_rate
from simulator.resources.reference import ASSETS, swap_rate
from simulator.wire.records import find
from tests.resources.balance.house import PAYER, House, refusal
from tests.support import advance

KINDS = ("swap", "buy", "withdraw")
PREFIXES = {"swap": "sq_", "buy": "bq_", "withdraw": "wq_"}


def quote(house: House, kind: str) -> Any:
    return getattr(house, f"{kind}_quote")()


def use(house: House, kind: str, quote_id: Any, **body: Any) -> Any:
    payer = {"payer": PAYER} if kind == "buy" else {}
    return house.post(f"/wallet/{kind}", quote_id=quote_id, **payer, **body)


def status(house: House, quote_id: str) -> str:
    row = find(house.world, quote_id)
    assert row is not None
    return str(row.status)


@pytest.mark.parametrize("kind", KINDS)
def test_a_quote_is_good_for_thirty_minutes_and_not_a_millisecond_more(kind: str) -> None:
    """Decisions S1 and S2: expired at its instant; withdraw quotes have the prefix `wq_`."""
    house = House()
    first, second = quote(house, kind), quote(house, kind)
    assert first["id"].startswith(PREFIXES[kind])
    assert (first["created_at"], first["expires_at"]) == ("2026-01-05T08:00:00.000Z", "2026-01-05T08:30:00.000Z")
    advance(house.world, house.world.now_ms + 30 * MINUTE_MS - 1)
    assert use(house, kind, first["id"])["type"] == kind
    advance(house.world, house.world.now_ms + 1)
    assert refusal(use, house, kind, second["id"]) == (422, "quote_expired", "quote_id")


@pytest.mark.parametrize("kind", KINDS)
def test_an_unused_quote_tells_when_it_expires_and_a_used_one_does_not(kind: str) -> None:
    """Decision S2: quote.expired for these kinds too, with the quote as its own table shows it."""
    house = House()
    unused, used = quote(house, kind), quote(house, kind)
    use(house, kind, used["id"])
    house.pass_minutes(60)
    expired = [event for event in house.world.journal.events() if event.type == "quote.expired"]
    assert [event.object_id for event in expired] == [unused["id"]]
    envelope = json.loads(expired[0].raw)
    shown = json.loads(json.dumps(unused, default=float))
    assert (envelope["data"]["object"], envelope["created_at"]) == (shown, unused["expires_at"])
    assert (status(house, unused["id"]), status(house, used["id"])) == ("expired", "confirmed")


@pytest.mark.parametrize("kind", KINDS)
def test_a_quote_is_used_once_even_when_nothing_else_would_let_it_pass(kind: str) -> None:
    """Decision S2: 409 `quote_already_used`."""
    house = House()
    made = quote(house, kind)
    use(house, kind, made["id"])
    for symbol, network in (("CUSD", "CELO"), ("USDC", "STELLAR")):
        house.act("set_balance", symbol=symbol, network=network, amount="0")
    house.act("set_limits", per_transaction="1", daily="1", monthly="1")
    assert refusal(use, house, kind, made["id"]) == (409, "quote_already_used", "quote_id")
    house.pass_minutes(60)
    assert refusal(use, house, kind, made["id"]) == (409, "quote_already_used", "quote_id")


@pytest.mark.parametrize("kind", KINDS)
def test_only_a_quote_of_the_kind_and_environment_is_found(kind: str) -> None:
    """Decision S2: 404 `quote_not_found`."""
    house = House()
    others = [quote(house, other)["id"] for other in KINDS if other != kind]
    own = quote(house, kind)["id"]
    for quote_id in ("nothing", "", *others):
        assert refusal(use, house, kind, quote_id) == (404, "quote_not_found", "quote_id")
    house.environment = "production"
    assert refusal(use, house, kind, own) == (404, "quote_not_found", "quote_id")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("quote_id", "code"),
    [(None, "missing_parameter"), (7, "invalid_parameter"), (["x"], "invalid_parameter")],
)
def test_a_quote_id_is_text(kind: str, quote_id: Any, code: str) -> None:
    assert refusal(use, House(), kind, quote_id) == (400, code, "quote_id")


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_that_is_down_stops_quotes_and_their_use(kind: str) -> None:
    house = House()
    made = quote(house, kind)
    network = "stellar" if kind == "swap" else "celo"
    house.act("set_network", network=network, status="down")
    assert refusal(quote, house, kind)[:2] == (503, "network_unavailable")
    assert refusal(use, house, kind, made["id"])[:2] == (503, "network_unavailable")
    assert status(house, made["id"]) == "active"
    house.act("set_network", network=network, status="operational")
    assert use(house, kind, made["id"])["type"] == kind


@pytest.mark.parametrize("kind", KINDS)
def test_a_quote_locks_rate_and_fee(kind: str) -> None:
    house = House()
    made = quote(house, kind)
    house.act("move_rates", percent=0.01)
    shown = use(house, kind, made["id"], reference="mine")
    assert (shown["fee"], shown["reference"]) == (made["fee"], "mine")
    if kind == "swap":
        assert (shown["from"], shown["to"]) == (made["from"], made["to"])
    if kind == "withdraw":
        assert shown["destination_amount"] == made["destination_amount"]
    if kind == "buy":
        assert shown["amount"] == made["crypto_amount"]
    assert quote(house, kind)["rate"] != made["rate"] or kind == "swap"


@pytest.mark.parametrize("kind", KINDS)
def test_an_amount_is_written_as_text(kind: str) -> None:
    """Decision H7: zero is `amount_too_low`."""
    house = House()
    make = getattr(house, f"{kind}_quote")
    for amount in ("", "-5", "+5", "1e2", ".5", "5.", " 5", "1" * 19, "1.1234567890123456789", 5, 5.0, True):
        assert refusal(make, amount) == (400, "invalid_parameter", "amount")
    assert refusal(make, None) == (400, "missing_parameter", "amount")
    assert refusal(make, "0.00") == (422, "amount_too_low", "amount")
    assert refusal(make, "999999999999999999") == (422, "amount_too_high", "amount")


def test_the_indicative_rate_is_what_a_quote_of_that_instant_locks() -> None:
    """Decision M1: buys at the onramp rate, withdrawals at the offramp rate, swaps at mid."""
    house = House()
    house.act("move_rates", percent=3)
    ramp = {"network": "celo", "asset": "CUSD", "fiat_currency": "KES", "method": "mobile_money"}

    def indicative(type: str) -> str:
        shown: str = house.get("/rates", type=type, network="celo", asset="CUSD", fiat_currency="KES")["rate"]
        return shown

    onramp = house.post("/quotes", type="onramp", amount="5000", amount_currency="KES", **ramp)
    offramp = house.post("/quotes", type="offramp", amount="20", amount_currency="CUSD", **ramp)
    assert onramp["rate"] == quote(house, "buy")["rate"] == indicative("onramp")
    assert offramp["rate"] == quote(house, "withdraw")["rate"] == indicative("offramp")
    mid = swap_rate(house.world, "sandbox", ASSETS["USDC", "stellar"], ASSETS["XLM", "stellar"])
    assert quote(house, "swap")["rate"] == format_rate(mid)
