"""Deposit wallets: receiving addresses on stellar, celo and bitcoin, with Lightning addresses and invoices."""

from __future__ import annotations

from collections.abc import Callable

from simulator.engine.rows.kind import Kind
from simulator.engine.rows.room import Room
from simulator.engine.text.json import JsonObject
from simulator.engine.vocabulary.subjects import example_of
from simulator.kernel.machine import Machine
from simulator.kernel.world import TimerRow
from simulator.providers.ramp.deposit_wallets import lightning, operations, shapes
from simulator.providers.ramp.deposit_wallets.invoices import DecodedInvoice, decode_invoice, is_lightning_address
from simulator.providers.ramp.deposit_wallets.lightning import has_disabled_wallet, payment_failed, takes_payments
from simulator.providers.ramp.deposit_wallets.operations import default_wallet
from simulator.providers.ramp.deposit_wallets.records import (
    ADDRESSES_BY_USERNAME,
    ADDRESSES_BY_WALLET,
    DEPOSITS,
    LIGHTNING,
    WALLETS,
    Invoice,
    LightningAddress,
    LightningEntry,
    Wallet,
)
from simulator.providers.ramp.deposit_wallets.rendering import (
    entry_in_events,
    render_deposit,
    render_entry,
    render_wallet,
)
from simulator.providers.ramp.deposit_wallets.states import (
    DEPOSIT,
    ERRORS,
    EVENTS,
    INVOICE,
    INVOICE_EXPIRED,
    LIGHTNING_ADDRESS,
    WALLET,
    WALLET_DISABLED,
)


def _entry_kind(
    name: str, machine: Machine, shape: Callable[[], object], example: Callable[[], JsonObject] = dict
) -> Kind:
    return Kind(
        name,
        LIGHTNING,
        render_entry,
        machine,
        shape,
        example,
        listed_as=("lightning_entry",),
        prefix="ln_",
        refers=("wallet_id",),
        parent="wallet_id",
        receives=lightning.receive,
        in_events=entry_in_events,
    )


ROOM = Room(
    "deposit_wallets",
    operations=(
        operations.create_wallet,
        operations.list_wallets,
        operations.get_wallet,
        operations.update_wallet,
        operations.list_wallet_deposits,
        lightning.create_lightning_entry,
        operations.list_lightning_entries,
        lightning.disable_lightning_entry,
    ),
    actions=operations.ACTIONS,
    timers=(TimerRow(lightning.EXPIRY, lightning.expire_invoice, "the invoice expires unpaid", ("expire",)),),
    tables=(ADDRESSES_BY_WALLET, ADDRESSES_BY_USERNAME),
    kinds=(
        Kind(
            "wallet",
            WALLETS,
            render_wallet,
            WALLET,
            lambda: shapes.WalletShape,
            example_of(__package__, "wallet"),
            prefix="wal_",
            receives=operations.receive,
        ),
        _entry_kind("lightning_address", LIGHTNING_ADDRESS, lambda: shapes.LightningAddressObject),
        _entry_kind("invoice", INVOICE, lambda: shapes.InvoiceObject, example_of(__package__, "invoice")),
        Kind(
            "deposit",
            DEPOSITS,
            render_deposit,
            DEPOSIT,
            lambda: shapes.DepositShape,
            example_of(__package__, "deposit"),
            prefix="dep_",
            refers=("wallet_id",),
            parent="wallet_id",
        ),
    ),
    clauses=lambda: shapes.CLAUSES,
    events=EVENTS,
    errors=ERRORS,
)
