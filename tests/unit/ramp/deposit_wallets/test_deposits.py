"""On-chain deposits to deposit wallets: detected, confirmed, credited, or failed."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from simulator.engine.records.records import find, move, present
from simulator.engine.rows.kind import Record
from simulator.kernel.journal import Cause
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import World
from simulator.providers.ramp.deposit_wallets import ROOM
from simulator.providers.ramp.transactions import transactions
from tests.support import START, advance, event_types
from tests.unit.ramp.deposit_wallets.support import (
    act,
    allowed,
    balance,
    blocked,
    books_balance,
    call,
    deposits_of,
    envelopes,
    fresh_world,
    get_wallet,
    happens,
    new_wallet,
    refusal,
    state,
)

HASH = "ab" * 32
ON_CHAIN = [
    *("id", "wallet_id", "network", "asset", "amount", "channel", "tx_hash", "confirmations"),
    *("status", "reference", "created_at"),
]


def arrive(world: World, wallet: dict[str, Any], asset: str, amount: str = "10", **values: Any) -> dict[str, Any]:
    return happens(world, "deposit_arrives", wallet["id"], asset=asset, amount=amount, **values)


def disable(world: World, wallet: dict[str, Any]) -> Any:
    return call(world, "PATCH", "/wallets/{id}", {"status": "disabled"}, id=wallet["id"])


def test_an_incoming_deposit_is_detected_and_not_yet_credited() -> None:
    """Decision S12."""
    world = fresh_world()
    wallet = new_wallet(world, "stellar", reference="customer-7")
    done = act(world, "deposit_arrives", wallet["id"], asset="USDC", amount="12.5000000")
    deposit = {**present(done.resource)}
    assert list(deposit) == ON_CHAIN
    assert deposit["id"].startswith("dep_")
    assert deposit | {"id": "", "tx_hash": ""} == {
        "id": "",
        "wallet_id": wallet["id"],
        "network": "stellar",
        "asset": "USDC",
        "amount": "12.50",
        "channel": "on_chain",
        "tx_hash": "",
        "confirmations": 0,
        "status": "detected",
        "reference": "customer-7",
        "created_at": START,
    }
    assert done.target == wallet["id"]
    assert [event.type for event in done.events] == ["deposit.detected"]
    assert envelopes(world)[-1]["data"]["object"] == deposit == deposits_of(world, wallet["id"])[0]
    assert balance(world, "USDC.stellar") == "0"
    assert not transactions(world, "sandbox")


def test_a_confirmed_deposit_is_credited_and_makes_a_transaction() -> None:
    """Decisions S12 and S17: credited with a `deposit` transaction that emits nothing of its own."""
    world = fresh_world()
    wallet = new_wallet(world, "stellar", reference="customer-7")
    deposit = arrive(world, wallet, "USDC", "12.5", tx_hash=HASH)
    done = act(world, "deposit_confirms", deposit["id"])
    assert done.resource == deposit | {"status": "confirmed", "confirmations": 1}
    assert [event.type for event in done.events] == ["deposit.confirmed"]
    assert envelopes(world)[-1]["data"]["object"] == done.resource
    assert balance(world, "USDC.stellar") == "12.5"
    assert books_balance(world)
    (made,) = transactions(world, "sandbox").values()
    assert (made.type, made.status, made.deposit_id) == ("deposit", "completed", deposit["id"])
    assert (made.received.code, made.received.network, made.amount) == ("USDC", "stellar", Decimal("12.5"))
    assert (made.tx_hash, made.reference) == (HASH, "customer-7")
    assert (made.recipient_address, made.memo) == (wallet["address"], wallet["memo"])


def test_balance_is_credited_before_the_event_is_emitted() -> None:
    world = fresh_world()
    seen = []
    object.__setattr__(
        world.wiring,
        "on_event",
        (lambda world, event, subject: seen.append((event.type, balance(world, "CUSD.celo"))),),
    )
    deposit = arrive(world, new_wallet(world, "celo"), "CUSD", "3")
    act(world, "deposit_confirms", deposit["id"])
    assert seen == [("wallet.created", "0"), ("deposit.detected", "0"), ("deposit.confirmed", "3")]


@pytest.mark.parametrize(
    ("network", "asset"),
    [("stellar", "XLM"), ("stellar", "USDC"), ("celo", "CELO"), ("celo", "USDT"), ("celo", "USDC"), ("celo", "CUSD")],
)
def test_every_asset_of_a_wallet_can_be_deposited(network: str, asset: str) -> None:
    world = fresh_world()
    deposit = arrive(world, new_wallet(world, network), asset, "1")
    act(world, "deposit_confirms", deposit["id"])
    assert balance(world, f"{asset}.{network}") == "1"


def test_bitcoin_confirmations_increase_until_the_deposit_is_credited() -> None:
    """Decision S12."""
    world = fresh_world()
    wallet = new_wallet(world)
    deposit = arrive(world, wallet, "BTC", "0.00000001")
    assert deposit["amount"] == "0.00000001"
    for count in (1, 2):
        done = act(world, "confirmation_arrives", deposit["id"])
        assert done.resource == deposit | {"confirmations": count}
        assert done.events == []
        assert balance(world, "BTC.bitcoin") == "0"
    done = act(world, "confirmation_arrives", deposit["id"])
    assert done.resource == deposit | {"confirmations": 3, "status": "confirmed"}
    assert [event.type for event in done.events] == ["deposit.confirmed"]
    assert Decimal(balance(world, "BTC.bitcoin")) == Decimal("0.00000001")
    assert blocked(world, "confirmation_arrives", deposit["id"])[:2] == (409, "invalid_transition")


def test_confirmations_can_be_given_and_never_fall() -> None:
    world = fresh_world()
    deposit = arrive(world, new_wallet(world), "BTC", "1")
    assert happens(world, "confirmation_arrives", deposit["id"], confirmations=2)["confirmations"] == 2
    for count in (1, 2, 0, -1, "3", True):
        expected = (400, "invalid_parameter", "confirmations")
        assert blocked(world, "confirmation_arrives", deposit["id"], confirmations=count) == expected
    done = happens(world, "confirmation_arrives", deposit["id"], confirmations=9)
    assert (done["confirmations"], done["status"]) == (9, "confirmed")


def test_deposit_confirms_jumps_to_the_required_number() -> None:
    world = fresh_world()
    deposit = arrive(world, new_wallet(world), "BTC", "1")
    act(world, "confirmation_arrives", deposit["id"])
    assert happens(world, "deposit_confirms", deposit["id"])["confirmations"] == 3


@pytest.mark.parametrize("network", ["stellar", "celo"])
def test_confirmations_are_counted_on_bitcoin_only(network: str) -> None:
    world = fresh_world()
    deposit = arrive(world, new_wallet(world, network), "USDC")
    assert blocked(world, "confirmation_arrives", deposit["id"])[:2] == (409, "invalid_transition")
    assert allowed(world, deposit["id"]) == ["deposit_confirms", "deposit_fails"]


def refused(world: World, wallet: dict[str, Any], asset: str, **values: Any) -> dict[str, Any]:
    """The deposit of an arrival that fails at once, its only event, and that nothing is credited."""
    done = act(world, "deposit_arrives", wallet["id"], asset=asset, amount="10", **values)
    assert [event.type for event in done.events] == ["deposit.failed"]
    deposit = {**present(done.resource)}
    assert deposit["status"] == "failed"
    assert envelopes(world)[-1]["data"]["object"] == deposit == deposits_of(world, wallet["id"])[0]
    assert not transactions(world, "sandbox")
    return deposit


def test_a_deposit_of_a_wrong_asset_fails_at_arrival() -> None:
    """Decision S12: only deposit.failed, with `reason`."""
    world = fresh_world()
    deposit = refused(world, new_wallet(world, "stellar"), "USDT")
    assert list(deposit) == [*ON_CHAIN[:-1], "reason", "created_at"]
    assert deposit["reason"] == "wrong_asset"
    assert refused(world, new_wallet(world, "celo"), "DOGE")["reason"] == "wrong_asset"
    assert refused(world, new_wallet(world, "bitcoin"), "USDC")["reason"] == "wrong_asset"


@pytest.mark.parametrize("token", ["", "0.001", "US DC", "A" * 13, "USDC\n", "\u00e9"])
def test_malformed_asset_code_is_refused(token: str) -> None:
    world = fresh_world()
    wallet = new_wallet(world, "stellar")
    answer = blocked(world, "deposit_arrives", wallet["id"], asset=token, amount="10")
    assert answer == (400, "invalid_parameter", "asset")


def test_a_stellar_deposit_without_its_memo_fails_at_arrival() -> None:
    """Decision S12."""
    world = fresh_world()
    wallet = new_wallet(world, "stellar")
    assert refused(world, wallet, "XLM", memo="")["reason"] == "missing_memo"
    assert refused(world, wallet, "XLM", memo="12345")["reason"] == "wrong_memo"
    assert arrive(world, wallet, "XLM", memo=wallet["memo"])["status"] == "detected"


@pytest.mark.parametrize("network", ["celo", "bitcoin"])
def test_memo_is_ignored_on_other_networks(network: str) -> None:
    world = fresh_world()
    wallet = new_wallet(world, network)
    assert arrive(world, wallet, wallet["assets"][0], "1", memo="12345")["status"] == "detected"


def test_a_deposit_to_a_disabled_wallet_fails_until_it_is_enabled_again() -> None:
    """Decisions S12 and S15."""
    world = fresh_world()
    wallet = disable(world, new_wallet(world, "celo"))
    assert refused(world, wallet, "CUSD")["reason"] == "wallet_disabled"
    call(world, "PATCH", "/wallets/{id}", {"status": "active"}, id=wallet["id"])
    assert arrive(world, wallet, "CUSD")["status"] == "detected"


def test_a_detected_deposit_is_credited_to_a_wallet_disabled_since() -> None:
    world = fresh_world()
    wallet = new_wallet(world, "celo")
    deposit = arrive(world, wallet, "CUSD")
    disable(world, wallet)
    assert happens(world, "deposit_confirms", deposit["id"])["status"] == "confirmed"


def test_a_detected_deposit_can_fail_with_a_reason() -> None:
    world = fresh_world()
    wallet = new_wallet(world, "celo")
    for given, reason in [({}, "rejected"), ({"reason": "compliance_hold"}, "compliance_hold")]:
        deposit = arrive(world, wallet, "CUSD")
        done = act(world, "deposit_fails", deposit["id"], **given)
        shown = present(done.resource)
        assert (shown["status"], shown["reason"]) == ("failed", reason)
        assert [event.type for event in done.events] == ["deposit.failed"]
    assert balance(world, "CUSD.celo") == "0"


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"amount": "1"}, (400, "missing_parameter", "asset")),
        ({"asset": "CUSD"}, (400, "missing_parameter", "amount")),
        ({"asset": 1, "amount": "1"}, (400, "invalid_parameter", "asset")),
        ({"asset": "CUSD", "amount": 1}, (400, "invalid_parameter", "amount")),
        ({"asset": "CUSD", "amount": "-1"}, (400, "invalid_parameter", "amount")),
        ({"asset": "CUSD", "amount": "1e3"}, (400, "invalid_parameter", "amount")),
        ({"asset": "CUSD", "amount": "0.00"}, (400, "invalid_parameter", "amount")),
        ({"asset": "CUSD", "amount": "1.0000001"}, (400, "invalid_parameter", "amount")),
        ({"asset": "CUSD", "amount": "1", "memo": 7}, (400, "invalid_parameter", "memo")),
        ({"asset": "CUSD", "amount": "1", "tx_hash": "ab" * 32}, (400, "invalid_parameter", "tx_hash")),
    ],
)
def test_wrong_parameters_of_an_arrival_are_named(values: dict[str, Any], expected: Any) -> None:
    world = fresh_world()
    assert blocked(world, "deposit_arrives", new_wallet(world, "celo")["id"], **values) == expected


STATUSES = ("detected", "confirmed", "failed")
LEGAL = {
    ("detected", "deposit_confirms", ""): ("confirmed", ["deposit.confirmed"]),
    ("detected", "confirmation_arrives", "too few"): ("detected", []),
    ("detected", "confirmation_arrives", "enough"): ("confirmed", ["deposit.confirmed"]),
    ("detected", "deposit_fails", ""): ("failed", ["deposit.failed"]),
}
CELLS = [
    (status, trigger, when)
    for status in STATUSES
    for trigger, when in dict.fromkeys((trigger, when) for _, trigger, when in LEGAL)
]


def deposit_in(world: World, status: str) -> Record:
    deposit = arrive(world, new_wallet(world), "BTC", "1")
    if status == "confirmed":
        act(world, "deposit_confirms", deposit["id"])
    if status == "failed":
        act(world, "deposit_fails", deposit["id"])
    return present(find(world, deposit["id"]))


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_every_transition_of_the_deposit_table(cell: tuple[str, str, str]) -> None:
    world = fresh_world()
    status, trigger, when = cell
    deposit = deposit_in(world, status)
    before, told = state(world), event_types(world)
    if cell in LEGAL:
        target, events = LEGAL[cell]
        with world.change(Cause("action", "test")):
            assert move(world, deposit, trigger, when).status == target
        assert event_types(world) == told + events
    else:
        with pytest.raises(IllegalMove), world.change(Cause("action", "test")):
            move(world, deposit, trigger, when)
        assert state(world) == before


@pytest.mark.parametrize("status", ["confirmed", "failed"])
@pytest.mark.parametrize("action", ["deposit_confirms", "confirmation_arrives", "deposit_fails"])
def test_nothing_can_happen_to_a_deposit_that_has_ended(status: str, action: str) -> None:
    world = fresh_world()
    deposit = deposit_in(world, status)
    assert blocked(world, action, deposit.id) == (409, "invalid_transition", None)
    assert allowed(world, deposit.id) == []


def test_the_table_covers_every_cell_of_the_machine() -> None:
    machine = next(kind.machine for kind in ROOM.kinds if kind.name == "deposit")
    cells = {(status, cell.on, cell.when) for status, row in machine.rows.items() for cell in row}
    assert cells == set(LEGAL)
    assert tuple(machine.rows) == STATUSES


def test_deposits_are_listed_per_wallet_filtered_sorted_and_searched() -> None:
    world = fresh_world()
    wallet, other = new_wallet(world, "celo", reference="Ref-7"), new_wallet(world, "celo")
    small = arrive(world, wallet, "CUSD", "9", tx_hash="0x" + HASH)
    arrive(world, other, "CUSD", "5")
    advance(world, world.now_ms + 1000)
    large = arrive(world, wallet, "CELO", "10")
    act(world, "deposit_confirms", small["id"])

    def ids(**query: str) -> list[str]:
        return [deposit["id"] for deposit in deposits_of(world, wallet["id"], **query)]

    assert ids() == [large["id"], small["id"]]
    assert ids(sort_by="amount", sort_order="asc") == [small["id"], large["id"]]
    assert ids(sort_by="updated_at") == [large["id"], small["id"]]
    assert ids(status="confirmed") == [small["id"]]
    assert ids(status="detected,failed") == [large["id"]]
    assert ids(search="ABAB") == [small["id"]]
    assert ids(search="ref-") == [large["id"], small["id"]]
    assert ids(limit="1", page="2") == [small["id"]]
    page = call(world, "GET", "/wallets/{id}/deposits", id=wallet["id"])
    assert page["pagination"] == {"page": 1, "size": 20, "total": 2, "total_pages": 1}
    assert len(deposits_of(world, other["id"])) == 1


@pytest.mark.parametrize(
    ("query", "param"),
    [({"status": "completed"}, "status"), ({"sort_by": "asset"}, "sort_by"), ({"size": "0"}, "size")],
)
def test_a_malformed_query_of_deposits_is_named(query: dict[str, str], param: str) -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    found = refusal(world, "GET", "/wallets/{id}/deposits", query=query, id=wallet["id"])
    assert found == (400, "invalid_parameter", param)


def test_a_deposit_in_production_stays_there() -> None:
    world = fresh_world()
    wallet = call(world, "POST", "/wallets", {"network": "celo"}, environment="production")
    deposit = arrive(world, wallet, "CUSD", "4")
    act(world, "deposit_confirms", deposit["id"])
    assert balance(world, "CUSD.celo", "production") == "4"
    assert balance(world, "CUSD.celo") == "0"
    assert envelopes(world)[-1]["livemode"] is True


def test_a_lightning_payment_to_a_wallet_without_one_changes_nothing() -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    assert blocked(world, "invoice_paid", wallet["id"])[:2] == (409, "invalid_transition")
    assert get_wallet(world, wallet["id"]) == wallet
