"""The 30-minute rule for swap, buy and withdraw quotes (decisions S1 and S2), and what their executions share."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.engine.records.records import find
from simulator.kernel.clock import MINUTE_MS
from simulator.kernel.money import format_rate
from simulator.providers.ramp.reference import ASSETS, swap_rate
from tests.support import advance
from tests.unit.ramp.balance.support import PAYER, WalletWorld, refusal

KINDS = ("swap", "buy", "withdraw")
PREFIXES = {"swap": "sq_", "buy": "bq_", "withdraw": "wq_"}


def quote(wallets: WalletWorld, kind: str) -> Any:
    return getattr(wallets, f"{kind}_quote")()


def use(wallets: WalletWorld, kind: str, quote_id: Any, **body: Any) -> Any:
    payer = {"payer": PAYER} if kind == "buy" else {}
    return wallets.post(f"/wallet/{kind}", quote_id=quote_id, **payer, **body)


def status(wallets: WalletWorld, quote_id: str) -> str:
    row = find(wallets.world, quote_id)
    assert row is not None
    return str(row.status)


@pytest.mark.parametrize("kind", KINDS)
def test_a_quote_is_good_for_thirty_minutes_and_not_a_millisecond_more(kind: str) -> None:
    """Decisions S1 and S2: expired at its instant; withdraw quotes have the prefix `wq_`."""
    wallets = WalletWorld()
    first, second = quote(wallets, kind), quote(wallets, kind)
    assert first["id"].startswith(PREFIXES[kind])
    assert (first["created_at"], first["expires_at"]) == ("2026-01-05T08:00:00.000Z", "2026-01-05T08:30:00.000Z")
    advance(wallets.world, wallets.world.now_ms + 30 * MINUTE_MS - 1)
    assert use(wallets, kind, first["id"])["type"] == kind
    advance(wallets.world, wallets.world.now_ms + 1)
    assert refusal(use, wallets, kind, second["id"]) == (422, "quote_expired", "quote_id")


@pytest.mark.parametrize("kind", KINDS)
def test_only_an_unused_quote_emits_an_expiry_event(kind: str) -> None:
    """Decision S2: quote.expired for these kinds too, with the quote as its own table shows it."""
    wallets = WalletWorld()
    unused, used = quote(wallets, kind), quote(wallets, kind)
    use(wallets, kind, used["id"])
    wallets.pass_minutes(60)
    expired = [event for event in wallets.world.journal.events() if event.type == "quote.expired"]
    assert [event.object_id for event in expired] == [unused["id"]]
    envelope = json.loads(expired[0].raw)
    shown = json.loads(json.dumps(unused, default=float))
    assert (envelope["data"]["object"], envelope["created_at"]) == (shown, unused["expires_at"])
    assert (status(wallets, unused["id"]), status(wallets, used["id"])) == ("expired", "confirmed")


@pytest.mark.parametrize("kind", KINDS)
def test_used_quote_is_reported_before_other_refusals(kind: str) -> None:
    """Decision S2: 409 `quote_already_used`."""
    wallets = WalletWorld()
    made = quote(wallets, kind)
    use(wallets, kind, made["id"])
    for symbol, network in (("CUSD", "CELO"), ("USDC", "STELLAR")):
        wallets.act("set_balance", symbol=symbol, network=network, amount="0")
    wallets.act("set_limits", per_transaction="1", daily="1", monthly="1")
    assert refusal(use, wallets, kind, made["id"]) == (409, "quote_already_used", "quote_id")
    wallets.pass_minutes(60)
    assert refusal(use, wallets, kind, made["id"]) == (409, "quote_already_used", "quote_id")


@pytest.mark.parametrize("kind", KINDS)
def test_only_a_quote_of_the_kind_and_environment_is_found(kind: str) -> None:
    """Decision S2: 404 `quote_not_found`."""
    wallets = WalletWorld()
    others = [quote(wallets, other)["id"] for other in KINDS if other != kind]
    own = quote(wallets, kind)["id"]
    for quote_id in ("nothing", "", *others):
        assert refusal(use, wallets, kind, quote_id) == (404, "quote_not_found", "quote_id")
    wallets.environment = "production"
    assert refusal(use, wallets, kind, own) == (404, "quote_not_found", "quote_id")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("quote_id", "code"),
    [(None, "missing_parameter"), (7, "invalid_parameter"), (["x"], "invalid_parameter")],
)
def test_quote_id_must_be_a_string(kind: str, quote_id: Any, code: str) -> None:
    assert refusal(use, WalletWorld(), kind, quote_id) == (400, code, "quote_id")


@pytest.mark.parametrize("kind", KINDS)
def test_a_network_that_is_down_stops_quotes_and_their_use(kind: str) -> None:
    wallets = WalletWorld()
    made, limits = quote(wallets, kind), wallets.get("/profile/limits")
    network = "stellar" if kind == "swap" else "celo"
    wallets.act("set_network", network=network, status="down")
    assert refusal(quote, wallets, kind)[:2] == (503, "network_unavailable")
    assert refusal(use, wallets, kind, made["id"])[:2] == (503, "network_unavailable")
    assert status(wallets, made["id"]) == "active"
    assert wallets.get("/profile/limits") == limits
    wallets.act("set_network", network=network, status="operational")
    assert use(wallets, kind, made["id"])["type"] == kind


@pytest.mark.parametrize("kind", KINDS)
def test_a_quote_locks_rate_and_fee(kind: str) -> None:
    wallets = WalletWorld()
    made = quote(wallets, kind)
    wallets.act("move_rates", percent=0.01)
    shown = use(wallets, kind, made["id"], reference="mine")
    assert (shown["fee"], shown["reference"]) == (made["fee"], "mine")
    if kind == "swap":
        assert (shown["from"], shown["to"]) == (made["from"], made["to"])
    if kind == "withdraw":
        assert shown["destination_amount"] == made["destination_amount"]
    if kind == "buy":
        assert shown["amount"] == made["crypto_amount"]
    assert quote(wallets, kind)["rate"] != made["rate"] or kind == "swap"


@pytest.mark.parametrize("kind", KINDS)
def test_amount_must_be_a_string(kind: str) -> None:
    """Decision H7: zero is `amount_too_low`."""
    wallets = WalletWorld()
    make = getattr(wallets, f"{kind}_quote")
    for amount in ("", "-5", "+5", "1e2", ".5", "5.", " 5", "1" * 19, "1.1234567890123456789", 5, 5.0, True):
        assert refusal(make, amount) == (400, "invalid_parameter", "amount")
    assert refusal(make, None) == (400, "missing_parameter", "amount")
    assert refusal(make, "0.00") == (422, "amount_too_low", "amount")
    assert refusal(make, "999999999999999999") == (422, "amount_too_high", "amount")


def test_indicative_rate_equals_the_locked_rate() -> None:
    """Decision M1: buys at the onramp rate, withdrawals at the offramp rate, swaps at mid."""
    wallets = WalletWorld()
    wallets.act("move_rates", percent=3)
    ramp = {"network": "celo", "asset": "CUSD", "fiat_currency": "KES", "method": "mobile_money"}

    def indicative(type: str) -> str:
        shown: str = wallets.get("/rates", type=type, network="celo", asset="CUSD", fiat_currency="KES")["rate"]
        return shown

    onramp = wallets.post("/quotes", type="onramp", amount="5000", amount_currency="KES", **ramp)
    offramp = wallets.post("/quotes", type="offramp", amount="20", amount_currency="CUSD", **ramp)
    assert onramp["rate"] == quote(wallets, "buy")["rate"] == indicative("onramp")
    assert offramp["rate"] == quote(wallets, "withdraw")["rate"] == indicative("offramp")
    mid = swap_rate(wallets.world, "sandbox", ASSETS["USDC", "stellar"], ASSETS["XLM", "stellar"])
    assert quote(wallets, "swap")["rate"] == format_rate(mid)
