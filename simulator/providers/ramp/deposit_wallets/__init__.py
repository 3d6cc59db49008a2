"""Deposit wallets: receiving addresses on stellar, celo and bitcoin, with Lightning addresses and invoices (section
"Deposit wallets").
"""

from __future__ import annotations

from collections.abc import Callable

from simulator.engine.rows.kind import Kind
from simulator.engine.rows.room import Room
from simulator.engine.text.json import JsonObject
from simulator.engine.vocabulary.subjects import example_of
from simulator.kernel.machine import Machine
from simulator.kernel.world import TimerRow
from simulator.providers.ramp.deposit_wallets import lightning, operations, records, rendering, shapes, states
from simulator.providers.ramp.deposit_wallets.invoices import DecodedInvoice, decode_invoice, is_lightning_address
from simulator.providers.ramp.deposit_wallets.lightning import has_disabled_wallet, payment_failed, takes_payments
from simulator.providers.ramp.deposit_wallets.operations import default_wallet
from simulator.providers.ramp.deposit_wallets.records import Invoice, LightningAddress, LightningEntry, Wallet
from simulator.providers.ramp.deposit_wallets.states import INVOICE_EXPIRED, WALLET_DISABLED


def _entry_kind(
    name: str, machine: Machine, shape: Callable[[], object], example: Callable[[], JsonObject] = dict
) -> Kind:
    return Kind(
        name,
        records.LIGHTNING,
        rendering.render_entry,
        machine,
        shape,
        example,
        listed_as=("lightning_entry",),
        prefix="ln_",
        refers=("wallet_id",),
        parent="wallet_id",
        receives=lightning.receive,
        in_events=rendering.entry_in_events,
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
    tables=(records.ADDRESSES_BY_WALLET, records.ADDRESSES_BY_USERNAME),
    kinds=(
        Kind(
            "wallet",
            records.WALLETS,
            rendering.render_wallet,
            states.WALLET,
            lambda: shapes.WalletShape,
            example_of(__package__, "wallet"),
            prefix="wal_",
            receives=operations.receive,
        ),
        _entry_kind("lightning_address", states.LIGHTNING_ADDRESS, lambda: shapes.LightningAddressObject),
        _entry_kind("invoice", states.INVOICE, lambda: shapes.InvoiceObject, example_of(__package__, "invoice")),
        Kind(
            "deposit",
            records.DEPOSITS,
            rendering.render_deposit,
            states.DEPOSIT,
            lambda: shapes.DepositShape,
            example_of(__package__, "deposit"),
            prefix="dep_",
            refers=("wallet_id",),
            parent="wallet_id",
        ),
    ),
    clauses=lambda: shapes.CLAUSES,
    events=states.EVENTS,
    errors=states.ERRORS,
)
