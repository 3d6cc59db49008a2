"""Lightning addresses and invoices of bitcoin wallets: creating, paying, expiring and disabling them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import bolt11
import pytest

from simulator.engine.records.records import find, move, present
from simulator.engine.rows.kind import Record
from simulator.kernel.clock import parse_timestamp
from simulator.kernel.ids import STREAMS
from simulator.kernel.journal import Cause
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import World
from simulator.providers.ramp.deposit_wallets import ROOM, decode_invoice, is_lightning_address
from simulator.providers.ramp.transactions import transactions
from tests.support import START, advance, event_types
from tests.unit.ramp.deposit_wallets.support import (
    act,
    add,
    allowed,
    balance,
    blocked,
    books_balance,
    call,
    decoded_bech32,
    deposits_of,
    entries_of,
    envelopes,
    fresh_world,
    get_wallet,
    happens,
    new_wallet,
    refusal,
    regrouped,
    state,
)

START_MS = parse_timestamp(START)
MAX_SATS = 2_100_000_000_000_000
YEAR_SECONDS = 365 * 24 * 3600


def disable(world: World, wallet_id: str) -> Any:
    call(world, "PATCH", "/wallets/{id}", {"status": "disabled"}, id=wallet_id)


def delete(world: World, wallet_id: str, entry_id: str) -> Any:
    return call(world, "DELETE", "/wallets/{id}/lightning/{lightning_id}", id=wallet_id, lightning_id=entry_id)


def refused_add(world: World, wallet_id: str, **body: Any) -> tuple[int, str, str | None]:
    return refusal(world, "POST", "/wallets/{id}/lightning", body, id=wallet_id)


# Lightning addresses


def test_a_lightning_address_is_made_with_the_username_asked_for() -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    entry = add(world, wallet["id"], "lightning_address", username="ada.l-1_x")
    assert list(entry) == ["id", "wallet_id", "type", "address", "lnurl", "status", "created_at"]
    assert entry["id"].startswith("ln_")
    assert entry["wallet_id"] == wallet["id"]
    assert entry["type"] == "lightning_address"
    assert entry["address"] == "ada.l-1_x@sandbox.pay.simulator.test"
    assert is_lightning_address(entry["address"])
    assert (entry["status"], entry["created_at"]) == ("active", START)
    assert envelopes(world)[-1]["type"] == "wallet.created"
    assert entry == entries_of(world, wallet["id"])[0]
    assert envelopes(world)[-1]["data"]["object"] == entry | {"reference": wallet["reference"]}


def test_the_lnurl_is_that_of_the_address() -> None:
    """Decision S13: lnurl is bech32."""
    world = fresh_world()
    entry = add(world, new_wallet(world)["id"], "lightning_address", username="ada")
    prefix, groups = decoded_bech32(entry["lnurl"])
    assert prefix == "lnurl"
    url = bytes(regrouped(groups, 5, 8, pad=False)).decode()
    assert url == "https://sandbox.pay.simulator.test/.well-known/lnurlp/ada"


def test_a_username_is_generated_when_none_is_given() -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    first = add(world, wallet["id"], "lightning_address")
    second = add(world, wallet["id"], "lightning_address", username=None)
    assert is_lightning_address(first["address"])
    assert first["address"] != second["address"]


def test_a_generated_username_that_is_taken_is_drawn_again() -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    first = add(world, wallet["id"], "lightning_address")
    with world.change(Cause("request", "test")):
        world.store[STREAMS].delete("lightning.usernames")
    assert add(world, wallet["id"], "lightning_address")["address"] != first["address"]


def test_the_username_of_a_disabled_address_stays_taken() -> None:
    """Decision S13."""
    world = fresh_world()
    wallet, other = new_wallet(world), new_wallet(world)
    entry = add(world, wallet["id"], "lightning_address", username="ada")
    body = {"type": "lightning_address", "username": "ada"}
    assert refused_add(world, other["id"], **body) == (400, "invalid_parameter", "username")
    delete(world, wallet["id"], entry["id"])
    assert refused_add(world, other["id"], **body) == (400, "invalid_parameter", "username")
    live = call(world, "POST", "/wallets", {"network": "bitcoin"}, environment="production")
    made = call(world, "POST", "/wallets/{id}/lightning", body, environment="production", id=live["id"])
    assert made["address"] == "ada@pay.simulator.test"


@pytest.mark.parametrize("username", ["", "Ada", "a b", "a@b", "é", "a\n", "x" * 65, 7])
def test_a_malformed_username_is_refused(username: object) -> None:
    """Decision S13."""
    world = fresh_world()
    wallet = new_wallet(world)
    found = refused_add(world, wallet["id"], type="lightning_address", username=username)
    assert found == (400, "invalid_parameter", "username")


def test_the_wallet_shows_its_addresses_but_not_its_invoices() -> None:
    world = fresh_world()
    wallet, other = new_wallet(world), new_wallet(world, lightning=True)
    first = add(world, wallet["id"], "lightning_address")
    add(world, wallet["id"], "invoice", amount_sats=1)
    second = add(world, wallet["id"], "lightning_address")
    delete(world, wallet["id"], first["id"])
    shown = get_wallet(world, wallet["id"])["lightning_addresses"]
    assert [(entry["id"], entry["status"]) for entry in shown] == [(first["id"], "disabled"), (second["id"], "active")]
    assert all("wallet_id" not in entry for entry in shown)
    listed = call(world, "GET", "/wallets", query={"search": wallet["address"]})["data"]
    assert listed == [get_wallet(world, wallet["id"])]
    assert len(get_wallet(world, other["id"])["lightning_addresses"]) == 1


def test_a_payment_to_a_lightning_address_is_credited_at_once() -> None:
    """Decision S13: a confirmed deposit without a hash, and its transaction."""
    world = fresh_world()
    wallet = new_wallet(world, reference="customer-7")
    entry = add(world, wallet["id"], "lightning_address")
    done = act(world, "lightning_payment_arrives", entry["id"], amount_sats=1000)
    assert done.resource == entry
    assert [event.type for event in done.events] == ["deposit.confirmed"]
    (deposit,) = deposits_of(world, wallet["id"])
    assert envelopes(world)[-1]["data"]["object"] == deposit
    assert list(deposit) == [
        *("id", "wallet_id", "network", "asset", "amount", "channel", "tx_hash", "status", "reference", "created_at")
    ]
    assert deposit | {"id": ""} == {
        "id": "",
        "wallet_id": wallet["id"],
        "network": "bitcoin",
        "asset": "BTC",
        "amount": "0.00001",
        "channel": "lightning",
        "tx_hash": None,
        "status": "confirmed",
        "reference": "customer-7",
        "created_at": START,
    }
    assert Decimal(balance(world, "BTC.bitcoin")) == Decimal("0.00001")
    assert books_balance(world)
    (made,) = transactions(world, "sandbox").values()
    assert (made.type, made.status, made.deposit_id) == ("deposit", "completed", deposit["id"])
    assert (made.tx_hash, made.lightning, made.reference) == (None, entry["address"], "customer-7")


def test_a_lightning_address_is_paid_again_and_again() -> None:
    world = fresh_world()
    entry = add(world, new_wallet(world)["id"], "lightning_address")
    for _ in range(3):
        act(world, "lightning_payment_arrives", entry["id"], amount_sats=1)
    assert Decimal(balance(world, "BTC.bitcoin")) == Decimal("0.00000003")
    assert allowed(world, entry["id"]) == ["lightning_payment_arrives"]


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({}, "missing_parameter"),
        ({"amount_sats": 0}, "invalid_parameter"),
        ({"amount_sats": "1"}, "invalid_parameter"),
        ({"amount_sats": 1.5}, "invalid_parameter"),
        ({"amount_sats": True}, "invalid_parameter"),
        ({"amount_sats": MAX_SATS + 1}, "invalid_parameter"),
    ],
)
def test_a_wrong_amount_of_a_payment_is_named(values: dict[str, Any], code: str) -> None:
    world = fresh_world()
    entry = add(world, new_wallet(world)["id"], "lightning_address")
    assert blocked(world, "lightning_payment_arrives", entry["id"], **values) == (400, code, "amount_sats")


# Invoices


def test_an_invoice_asks_for_the_amount_and_tells_when_it_expires() -> None:
    """Decision S13: a genuine BOLT11 invoice, read back by a standard decoder."""
    world = fresh_world()
    wallet = new_wallet(world)
    advance(world, START_MS + 1_999)
    entry = add(world, wallet["id"], "invoice", amount_sats=1500, description="Order 7", expires_in=60)
    assert list(entry) == [
        *("id", "wallet_id", "type", "payment_request", "amount_sats", "description"),
        *("status", "expires_at", "created_at"),
    ]
    assert (entry["type"], entry["status"], entry["wallet_id"]) == ("invoice", "pending", wallet["id"])
    assert (entry["amount_sats"], entry["description"]) == (1500, "Order 7")
    assert (entry["created_at"], entry["expires_at"]) == ("2026-01-05T08:00:01.999Z", "2026-01-05T08:01:01.999Z")
    read = bolt11.decode(entry["payment_request"], strict=True)
    assert (read.amount_msat, read.description, read.expiry) == (1_500_000, "Order 7", 60)
    assert read.date == START_MS // 1000 + 1
    assert entries_of(world, wallet["id"]) == [entry]


def test_an_invoice_lasts_half_an_hour_and_needs_no_description() -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    for more in ({}, {"expires_in": None, "description": None}):
        entry = add(world, wallet["id"], "invoice", amount_sats=1, **more)
        assert entry["expires_at"] == "2026-01-05T08:30:00.000Z"
        assert entry["description"] is None
        assert decode_invoice(entry["payment_request"]).description == ""


def test_a_new_invoice_emits_no_event_but_reaches_creation_listeners() -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    heard = []
    listener = lambda world, environment, subject, record_id: heard.append((environment, subject, record_id))  # noqa: E731
    object.__setattr__(world.wiring, "on_created", (listener,))
    entry = add(world, wallet["id"], "invoice", amount_sats=1)
    assert heard == [("sandbox", entry, entry["id"])]
    assert event_types(world) == ["wallet.created"]


def test_every_invoice_has_its_own_payment_hash_and_all_have_one_payee() -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    first, second = (
        decode_invoice(add(world, wallet["id"], "invoice", amount_sats=1)["payment_request"]) for _ in "12"
    )
    assert first.payment_hash != second.payment_hash
    assert first.payment_secret != second.payment_secret
    assert first.payee == second.payee


def test_the_same_seed_gives_the_same_invoice() -> None:
    def text(seed: int) -> str:
        world = fresh_world(seed)
        return str(add(world, new_wallet(world)["id"], "invoice", amount_sats=1)["payment_request"])

    assert text(3) == text(3)
    assert decode_invoice(text(3)).payee != decode_invoice(text(4)).payee


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, (400, "missing_parameter", "type")),
        ({"type": None}, (400, "missing_parameter", "type")),
        ({"type": "lnurl"}, (400, "invalid_parameter", "type")),
        ({"type": ["invoice"]}, (400, "invalid_parameter", "type")),
        ({"type": "invoice"}, (400, "missing_parameter", "amount_sats")),
        ({"type": "invoice", "amount_sats": None}, (400, "missing_parameter", "amount_sats")),
        ({"type": "invoice", "amount_sats": 0}, (400, "invalid_parameter", "amount_sats")),
        ({"type": "invoice", "amount_sats": -1}, (400, "invalid_parameter", "amount_sats")),
        ({"type": "invoice", "amount_sats": "100"}, (400, "invalid_parameter", "amount_sats")),
        ({"type": "invoice", "amount_sats": 1.5}, (400, "invalid_parameter", "amount_sats")),
        ({"type": "invoice", "amount_sats": True}, (400, "invalid_parameter", "amount_sats")),
        ({"type": "invoice", "amount_sats": MAX_SATS + 1}, (400, "invalid_parameter", "amount_sats")),
        ({"type": "invoice", "amount_sats": 1, "expires_in": 0}, (400, "invalid_parameter", "expires_in")),
        ({"type": "invoice", "amount_sats": 1, "expires_in": "60"}, (400, "invalid_parameter", "expires_in")),
        (
            {"type": "invoice", "amount_sats": 1, "expires_in": YEAR_SECONDS + 1},
            (400, "invalid_parameter", "expires_in"),
        ),
        ({"type": "invoice", "amount_sats": 1, "description": 5}, (400, "invalid_parameter", "description")),
    ],
)
def test_missing_and_malformed_fields_of_an_entry_are_named(body: Any, expected: Any) -> None:
    """Decision S13: amount_sats from 1."""
    world = fresh_world()
    assert refused_add(world, new_wallet(world)["id"], **body) == expected


def test_the_largest_invoice_is_made() -> None:
    world = fresh_world()
    entry = add(world, new_wallet(world)["id"], "invoice", amount_sats=MAX_SATS, expires_in=YEAR_SECONDS)
    found = decode_invoice(entry["payment_request"])
    assert found.amount_sats == MAX_SATS
    assert found.expires_at_ms == START_MS + YEAR_SECONDS * 1000


@pytest.mark.parametrize("network", ["stellar", "celo"])
def test_only_bitcoin_wallets_have_lightning(network: str) -> None:
    """Decision S13."""
    world = fresh_world()
    wallet = new_wallet(world, network)
    for body in ({"type": "lightning_address"}, {"type": "invoice", "amount_sats": 1}):
        assert refused_add(world, wallet["id"], **body) == (422, "unsupported_network", None)
    assert entries_of(world, wallet["id"]) == []


def test_a_disabled_wallet_takes_no_lightning_entries_until_it_is_enabled() -> None:
    """Decision S15."""
    world = fresh_world()
    wallet = new_wallet(world)
    disable(world, wallet["id"])
    assert refused_add(world, wallet["id"], type="lightning_address") == (409, "wallet_disabled", None)
    assert refused_add(world, wallet["id"], type="invoice", amount_sats=1) == (409, "wallet_disabled", None)
    call(world, "PATCH", "/wallets/{id}", {"status": "active"}, id=wallet["id"])
    assert add(world, wallet["id"], "lightning_address")["status"] == "active"


def test_a_paid_invoice_is_reported_before_its_deposit() -> None:
    """Decision S13: lightning.invoice_paid and deposit.confirmed."""
    world = fresh_world()
    wallet = new_wallet(world, reference="r")
    entry = add(world, wallet["id"], "invoice", amount_sats=123_456_789)
    advance(world, START_MS + 5_000)
    done = act(world, "invoice_paid", entry["id"])
    assert done.resource == entry | {"status": "paid"} == entries_of(world, wallet["id"])[0]
    assert [event.type for event in done.events] == ["lightning.invoice_paid", "deposit.confirmed"]
    (deposit,) = deposits_of(world, wallet["id"])
    told = {**present(done.resource)} | {"reference": wallet["reference"]}
    assert [envelope["data"]["object"] for envelope in envelopes(world)[-2:]] == [told, deposit]
    assert (deposit["amount"], deposit["channel"], deposit["tx_hash"]) == ("1.23456789", "lightning", None)
    assert (deposit["reference"], deposit["created_at"]) == ("r", "2026-01-05T08:00:05.000Z")
    assert balance(world, "BTC.bitcoin") == "1.23456789"
    assert books_balance(world)
    (made,) = transactions(world, "sandbox").values()
    assert (made.deposit_id, made.lightning) == (deposit["id"], entry["payment_request"])
    advance(world, START_MS + 3_600_000)
    assert entries_of(world, wallet["id"])[0]["status"] == "paid"


def test_an_invoice_can_be_paid_until_the_instant_it_expires() -> None:
    """Decisions S1 and S13: paying an expired one is 409."""
    world = fresh_world()
    wallet = new_wallet(world)
    first = add(world, wallet["id"], "invoice", amount_sats=1, expires_in=60)
    second = add(world, wallet["id"], "invoice", amount_sats=1, expires_in=60)
    advance(world, START_MS + 59_999)
    assert happens(world, "invoice_paid", first["id"])["status"] == "paid"
    advance(world, START_MS + 60_000)
    assert blocked(world, "invoice_paid", second["id"])[:2] == (409, "invalid_transition")
    expired = envelopes(world)[-1]
    assert expired["type"] == "lightning.invoice_expired"
    assert expired["created_at"] == second["expires_at"]
    assert second | {"status": "expired"} == entries_of(world, wallet["id"])[0]
    assert expired["data"]["object"] == second | {"status": "expired", "reference": wallet["reference"]}
    assert [event for event in event_types(world) if event == "lightning.invoice_expired"] == [expired["type"]]


def test_disabled_wallet_cannot_be_paid() -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    invoice = add(world, wallet["id"], "invoice", amount_sats=1)
    address = add(world, wallet["id"], "lightning_address")
    disable(world, wallet["id"])
    assert blocked(world, "invoice_paid", invoice["id"])[:2] == (409, "invalid_transition")
    assert blocked(world, "lightning_payment_arrives", address["id"], amount_sats=1)[:2] == (409, "invalid_transition")
    assert allowed(world, invoice["id"]) == []
    advance(world, START_MS + 1_800_000)
    assert entries_of(world, wallet["id"], status="expired")[0]["id"] == invoice["id"]


# Disabling


def test_deleting_an_address_disables_it_for_good() -> None:
    """Decision S13: DELETE sets `disabled`; paying a disabled one is 409."""
    world = fresh_world()
    wallet = new_wallet(world)
    entry = add(world, wallet["id"], "lightning_address")
    told = event_types(world)
    assert delete(world, wallet["id"], entry["id"]) is None
    assert entries_of(world, wallet["id"]) == [entry | {"status": "disabled"}]
    assert event_types(world) == told
    assert blocked(world, "lightning_payment_arrives", entry["id"], amount_sats=1)[:2] == (409, "invalid_transition")
    assert refused_delete(world, wallet["id"], entry["id"]) == (404, "not_found", None)


def refused_delete(world: World, wallet_id: str, entry_id: str, **rest: Any) -> tuple[int, str, str | None]:
    return refusal(
        world, "DELETE", "/wallets/{id}/lightning/{lightning_id}", id=wallet_id, lightning_id=entry_id, **rest
    )


def test_deleting_a_pending_invoice_disables_it_and_it_expires_no_more() -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    entry = add(world, wallet["id"], "invoice", amount_sats=1)
    delete(world, wallet["id"], entry["id"])
    assert entries_of(world, wallet["id"]) == [entry | {"status": "disabled"}]
    assert len(world.agenda) == 0
    assert blocked(world, "invoice_paid", entry["id"])[:2] == (409, "invalid_transition")


def test_an_invoice_that_has_ended_cannot_be_disabled() -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    paid, expired = (add(world, wallet["id"], "invoice", amount_sats=1) for _ in "12")
    act(world, "invoice_paid", paid["id"])
    advance(world, START_MS + 1_800_000)
    assert refused_delete(world, wallet["id"], paid["id"]) == (409, "invalid_state", None)
    assert refused_delete(world, wallet["id"], expired["id"]) == (409, "invalid_state", None)


def test_an_entry_is_found_only_through_its_own_wallet_and_environment() -> None:
    world = fresh_world()
    wallet, other = new_wallet(world), new_wallet(world)
    entry = add(world, wallet["id"], "lightning_address")
    assert refused_delete(world, other["id"], entry["id"]) == (404, "not_found", None)
    assert refused_delete(world, "wal_unknown", entry["id"]) == (404, "not_found", None)
    assert refused_delete(world, wallet["id"], "ln_unknown") == (404, "not_found", None)
    assert refused_delete(world, wallet["id"], entry["id"], environment="production") == (404, "not_found", None)


# Lists


def test_entries_are_listed_newest_first_filtered_and_searched() -> None:
    world = fresh_world()
    wallet, other = new_wallet(world), new_wallet(world, lightning=True)
    address = add(world, wallet["id"], "lightning_address", username="ada")
    advance(world, START_MS + 1_000)
    paid = add(world, wallet["id"], "invoice", amount_sats=1, description="Order 7")
    pending = add(world, wallet["id"], "invoice", amount_sats=1)
    act(world, "invoice_paid", paid["id"])

    def ids(**query: str) -> list[str]:
        return [entry["id"] for entry in entries_of(world, wallet["id"], **query)]

    assert ids() == [pending["id"], paid["id"], address["id"]]
    assert ids(sort_by="updated_at", sort_order="asc") == [address["id"], paid["id"], pending["id"]]
    assert ids(status="active,pending") == [pending["id"], address["id"]]
    assert ids(status="expired,disabled") == []
    assert ids(search="order") == [paid["id"]]
    assert ids(search="ADA@") == [address["id"]]
    assert ids(search=pending["payment_request"]) == [pending["id"]]
    assert ids(size="2", page="2") == [address["id"]]
    assert len(entries_of(world, other["id"])) == 1


@pytest.mark.parametrize(("query", "param"), [({"status": "open"}, "status"), ({"sort_by": "amount"}, "sort_by")])
def test_a_malformed_query_of_entries_is_named(query: dict[str, str], param: str) -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    found = refusal(world, "GET", "/wallets/{id}/lightning", query=query, id=wallet["id"])
    assert found == (400, "invalid_parameter", param)


# State tables

TABLES: dict[str, dict[tuple[str, str], tuple[str, list[str]]]] = {
    "lightning_address": {
        ("active", "lightning_payment_arrives"): ("active", []),
        ("active", "delete"): ("disabled", []),
    },
    "invoice": {
        ("pending", "invoice_paid"): ("paid", ["lightning.invoice_paid"]),
        ("pending", "expire"): ("expired", ["lightning.invoice_expired"]),
        ("pending", "delete"): ("disabled", []),
    },
}
STATUSES = {"lightning_address": ("active", "disabled"), "invoice": ("pending", "paid", "expired", "disabled")}
CELLS = [
    (kind, status, trigger)
    for kind, table in TABLES.items()
    for status in STATUSES[kind]
    for trigger in dict.fromkeys(trigger for _, trigger in table)
]


def entry_in(world: World, kind: str, status: str) -> Record:
    wallet = new_wallet(world)
    more = {"amount_sats": 1} if kind == "invoice" else {}
    entry = present(find(world, add(world, wallet["id"], kind, **more)["id"]))
    trigger = {"paid": "invoice_paid", "expired": "expire", "disabled": "delete"}.get(status)
    if trigger is not None:
        with world.change(Cause("action", "test")):
            entry = move(world, entry, trigger)
    return entry


@pytest.mark.parametrize("cell", CELLS, ids="-".join)
def test_every_transition_of_the_lightning_tables(cell: tuple[str, str, str]) -> None:
    world = fresh_world()
    kind, status, trigger = cell
    entry = entry_in(world, kind, status)
    before, told = state(world), event_types(world)
    if (status, trigger) in TABLES[kind]:
        target, events = TABLES[kind][status, trigger]
        with world.change(Cause("action", "test")):
            assert move(world, entry, trigger).status == target
        assert event_types(world) == told + events
    else:
        with pytest.raises(IllegalMove), world.change(Cause("action", "test")):
            move(world, entry, trigger)
        assert state(world) == before


@pytest.mark.parametrize("kind", ["lightning_address", "invoice"])
def test_the_tables_cover_every_cell_of_the_machines(kind: str) -> None:
    machine = next(row.machine for row in ROOM.kinds if row.name == kind)
    cells = {(status, cell.on) for status, row in machine.rows.items() for cell in row}
    assert cells == set(TABLES[kind])
    assert tuple(machine.rows) == STATUSES[kind]
