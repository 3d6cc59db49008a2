"""Deposit wallets: receiving addresses on stellar, celo and bitcoin, with Lightning addresses and invoices.

Chapter "Deposit wallets" of the specification, decisions S12, S13 and S15. (The account's balance is `balance`.)
"""

from __future__ import annotations

from simulator.kernel.machine import Machine
from simulator.kernel.world import TimerRow
from simulator.resources.deposit_wallets import actions, lightning
from simulator.resources.deposit_wallets.actions import default_wallet
from simulator.resources.deposit_wallets.invoices import DecodedInvoice, decode_invoice, is_lightning_address
from simulator.resources.deposit_wallets.lightning import is_payable
from simulator.resources.deposit_wallets.records import (
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
from simulator.resources.deposit_wallets.routes import ACTIONS, OPERATIONS
from simulator.resources.deposit_wallets.shapes import (
    CLAUSES,
    DepositShape,
    InvoiceObject,
    LightningAddressObject,
    WalletShape,
    entry_in_events,
    render_deposit,
    render_entry,
    render_wallet,
)
from simulator.resources.deposit_wallets.states import DEPOSIT, INVOICE, LIGHTNING_ADDRESS, WALLET
from simulator.wire.assumptions import assume
from simulator.wire.records import Kind
from simulator.wire.room import Room
from simulator.wire.subjects import examples_of

_EXAMPLES = examples_of(__package__)


def _entry_kind(name: str, machine: Machine, shape: object) -> Kind:
    return Kind(
        name,
        LIGHTNING,
        render_entry,
        machine,
        shape,
        _EXAMPLES.get(name, {}),
        listed_as=("lightning_entry",),
        prefix="ln_",
        refers=("wallet_id",),
        parent="wallet_id",
        receives=lightning.receive,
        in_events=entry_in_events,
    )


ROOM = Room(
    "deposit_wallets",
    operations=OPERATIONS,
    actions=ACTIONS,
    timers=(TimerRow(lightning.EXPIRY, lightning.expire_invoice, "the invoice expires unpaid", ("expire",)),),
    tables=(
        ADDRESSES_BY_WALLET,
        ADDRESSES_BY_USERNAME,
    ),
    kinds=(
        Kind(
            "wallet",
            WALLETS,
            render_wallet,
            WALLET,
            WalletShape,
            _EXAMPLES["wallet"],
            prefix="wal_",
            receives=actions.receive,
        ),
        _entry_kind("lightning_address", LIGHTNING_ADDRESS, LightningAddressObject),
        _entry_kind("invoice", INVOICE, InvoiceObject),
        Kind(
            "deposit",
            DEPOSITS,
            render_deposit,
            DEPOSIT,
            DepositShape,
            _EXAMPLES["deposit"],
            prefix="dep_",
            refers=("wallet_id",),
            parent="wallet_id",
        ),
    ),
    clauses=CLAUSES,
)

ASSUMPTIONS = assume(
    "deposit wallets, deposits, Lightning addresses and invoices",
    "Create wallets and Lightning entries in the real sandbox and deposit to them.",
    ("wallet-lightning-param", "lightning true on another network than bitcoin: unsupported_network, param network."),
    (
        "wallet-lightning-addresses",
        "lightning_addresses of a wallet lists its Lightning addresses, disabled ones too, without invoices.",
    ),
    (
        "lightning-wallet-id",
        "A Lightning entry carries wallet_id where it stands alone (answers, lists, events), not inside its wallet.",
    ),
    ("lightning-domain", "Lightning addresses end in @sandbox.pay.simulator.test, in production @pay.simulator.test."),
    ("lightning-username", "A username is taken while any address of the environment has it, a disabled one too."),
    (
        "lightning-delete",
        "DELETE disables a pending invoice too; again it is 404, as every DELETE; paid or expired: 409 invalid_state.",
    ),
    (
        "invoice-bounds",
        "amount_sats is at most all 21 million BTC, expires_in at most one year; else 400 invalid_parameter.",
    ),
    (
        "invoice-description",
        "Without a description an invoice carries an empty one; over 639 bytes only its hash, as BOLT #11 says.",
    ),
    ("invoice-late", "The timestamp of a BOLT #11 invoice has 35 bits: after the year 3058 it stays at its largest."),
    (
        "lightning-disabled-wallet",
        "Invoices and Lightning addresses of a disabled wallet cannot be paid (409) until it is enabled again.",
    ),
    ("wallet-patch", "PATCH with the present status changes nothing; changing a wallet or entry makes no event."),
    (
        "deposit-confirmations",
        "On-chain deposits count from 0 when detected; confirmed ones have at least the listing's number.",
    ),
    (
        "deposit-climb",
        "confirmations of confirmation_arrives is the number reached, not the number added; climbing makes no event.",
    ),
    (
        "deposit-reason",
        "reason of a failed deposit: wallet_disabled, wrong_asset, missing_memo, wrong_memo, or that of deposit_fails "
        "(default rejected).",
    ),
    (
        "deposit-asset",
        "The asset of a deposit is any token of 1 to 12 letters and digits; one that the network lacks is wrong_asset.",
    ),
    ("deposit-disabled-later", "A detected deposit is credited even when its wallet is disabled before it confirms."),
    (
        "deposit-search",
        "Deposits are searched by id, tx_hash, reference; Lightning entries by id, address, invoice, description.",
    ),
)

__all__ = [
    "ROOM",
    "DecodedInvoice",
    "Invoice",
    "LightningAddress",
    "LightningEntry",
    "Wallet",
    "decode_invoice",
    "default_wallet",
    "is_lightning_address",
    "is_payable",
]
