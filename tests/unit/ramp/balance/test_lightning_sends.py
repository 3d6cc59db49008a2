"""Sends over Lightning to invoices and Lightning addresses, in this world and in others."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from simulator.engine.records.records import existing, move
from simulator.kernel.journal import Cause
from simulator.providers.ramp.deposit_wallets import Invoice
from simulator.providers.ramp.deposit_wallets.records import entries
from tests.support import find_operation, invoke, make_world
from tests.unit.ramp.balance.support import BTC, ROOMS, WalletWorld, refusal


def invoice(wallets: WalletWorld, amount_sats: int = 1000, **fields: Any) -> str:
    wallet = wallets.post("/wallets", network="bitcoin")
    operation = find_operation(ROOMS, "POST", "/wallets/{id}/lightning")
    body = {"type": "invoice", "amount_sats": amount_sats, **fields}
    return str(invoke(wallets.world, operation, body, id=wallet["id"])["payment_request"])


def pay(wallets: WalletWorld, amount: str = "0.00001", path: str = "/wallet/send", **destination: Any) -> Any:
    return wallets.post(path, **BTC, amount=amount, destination={"type": "lightning", **destination})


def test_paying_an_invoice_costs_its_amount_and_the_fee_on_top() -> None:
    """Decisions M7, S14 and S16: the invoice wins over an address, the fee comes on top, no hash."""
    wallets = WalletWorld()
    request = invoice(wallets)
    estimated = pay(wallets, path="/wallet/send/estimate", invoice=request)
    made = pay(wallets, invoice=request, lightning_address="ignored@example.test")
    assert (made["amount"], made["net_amount"]) == ("0.00001", "0.00001")
    assert estimated["fee"] == made["fee"]
    paid = Decimal(made["amount"]) + Decimal(made["fee"]["total"])
    assert (wallets.held("BTC.bitcoin"), wallets.available("BTC.bitcoin")) == (paid, Decimal("0.5") - paid)
    assert wallets.act("broadcast", made["id"])["tx_hash"] is None
    assert wallets.act("complete", made["id"])["tx_hash"] is None
    assert (wallets.held("BTC.bitcoin"), wallets.fees("BTC.bitcoin")) == (Decimal(0), Decimal(made["fee"]["total"]))
    wallets.books()


def test_a_lightning_address_gets_the_amount_less_the_fee() -> None:
    """Decision M7."""
    wallets = WalletWorld()
    made = pay(wallets, "0.0001", lightning_address="satoshi@example.test")
    assert Decimal(made["net_amount"]) == Decimal("0.0001") - Decimal(made["fee"]["total"])
    assert wallets.held("BTC.bitcoin") == Decimal("0.0001")


@pytest.mark.parametrize("action", ["broadcast", "complete"])
def test_a_lightning_payment_has_no_hash(action: str) -> None:
    wallets = WalletWorld()
    made = pay(wallets, lightning_address="satoshi@example.test")
    if action == "complete":
        wallets.act("broadcast", made["id"])
    assert wallets.act(action, made["id"], tx_hash="ab" * 32)["tx_hash"] is None


def test_amount_that_differs_from_the_invoice_is_malformed() -> None:
    """Decision M7."""
    wallets = WalletWorld()
    request = invoice(wallets)
    assert refusal(pay, wallets, "0.000011", invoice=request) == (400, "invalid_parameter", "amount")


def test_an_invoice_expires_at_its_instant() -> None:
    """Decisions S1 and S14."""
    wallets = WalletWorld()
    request = invoice(wallets, expires_in=60)
    wallets.world.clock.move_to(wallets.world.now_ms + 59_999)
    assert pay(wallets, invoice=request)["status"] == "pending"
    wallets.world.clock.move_to(wallets.world.now_ms + 1)
    assert refusal(pay, wallets, invoice=request)[:2] == (422, "invoice_expired")


# From the examples of BOLT #11: an invoice without an amount.
ANY_AMOUNT = (
    "lnbc1pvjluezsp5zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zyg3zygspp5qqqsyqcyq5rqwzqfqqqsyqcyq5rqwzqfqqqsyqcyq5rq"
    "wzqfqypqdpl2pkx2ctnv5sxxmmwwd5kgetjypeh2ursdae8g6twvus8g6rfwvs8qun0dfjkxaq9qrsgq357wnc5r2ueh7ck6q93dj32dlqnls087fxdw"
    "k8qakdyafkq3yap9us6v52vjjsrvywa6rt52cm9r9zqt8r2t7mlcwspyetp5h2tztugp9lfyql"
)


def test_an_invoice_without_an_amount_is_read_and_long_expired() -> None:
    assert refusal(pay, WalletWorld(), "0.5", invoice=ANY_AMOUNT)[:2] == (422, "invoice_expired")


def test_an_invoice_without_an_amount_takes_the_amount_of_the_send() -> None:
    """Decision M7: and the fee comes on top of it."""
    wallets = WalletWorld()
    wallets.world = make_world(*ROOMS, now="2017-06-01T10:57:40.000Z")  # two seconds after the invoice was made
    made = pay(wallets, "0.5", path="/wallet/send/estimate", invoice=ANY_AMOUNT)
    assert (made["amount"], made["net_amount"]) == ("0.50", "0.50")
    sent = pay(wallets, "0.25", invoice=ANY_AMOUNT)
    assert wallets.held("BTC.bitcoin") == Decimal("0.25") + Decimal(sent["fee"]["total"])


@pytest.mark.parametrize(
    ("destination", "param"),
    [({"invoice": "lnbc1nonsense"}, "destination.invoice"), ({"lightning_address": "no at"}, None)],
)
def test_unpayable_lightning_destination_is_invalid(destination: dict[str, str], param: str | None) -> None:
    status, code, named = refusal(pay, WalletWorld(), **destination)
    assert (status, code) == (422, "invalid_wallet_address")
    assert named == (param or "destination.lightning_address")


def test_lightning_needs_bitcoin_to_be_up() -> None:
    wallets = WalletWorld()
    wallets.act("set_network", network="bitcoin", status="down")
    assert refusal(pay, wallets, lightning_address="satoshi@example.test")[0] == 503


def test_s13_invoice_that_ended_in_flight_in_an_old_world_is_credited() -> None:
    """Worlds saved by earlier versions have payments whose invoice expired on the way: the money still arrives."""
    wallets = WalletWorld()
    request = invoice(wallets)
    made = pay(wallets, invoice=request)
    entry = next(row for row in entries(wallets.world, "sandbox").values() if isinstance(row, Invoice))
    with wallets.world.change(Cause("request", "an earlier version")):
        wallets.world.agenda.cancel("invoice.expiry", entry.id)
        move(wallets.world, entry, "expire")
    wallets.act("broadcast", made["id"])
    assert wallets.act("complete", made["id"])["status"] == "completed"
    assert existing(wallets.world, Invoice, entry.id).status == "expired"
    assert wallets.events()[-2:] == ["transaction.completed", "deposit.confirmed"]
    wallets.books()
