"""The response model for deposit transactions: the fields of a wallet transaction, and `deposit_id` (decision S12)."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from typing_extensions import TypedDict

from simulator.engine.records.records import present
from simulator.engine.text.shapes import AmountText, Assumed, Clauses, OneOf, Prefix, Timestamp
from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World
from simulator.providers.ramp.fees import AppFee, show_app_fee
from simulator.providers.ramp.shapes import AssetText, OrderNumber, WalletNetwork, upper
from simulator.providers.ramp.transactions.records import Transaction
from simulator.providers.ramp.transactions.states import DEPOSIT_TRANSACTION_MEANINGS


class DepositTransaction(TypedDict):
    """A deposit to one of the account's wallets, which is credited to the balance."""

    id: Annotated[str, Prefix("txn_")]
    """The id of the transaction. To get its current state, use `GET /transactions/{id}`."""
    type: Literal["deposit"]
    """The type of transaction."""
    status: Annotated[str, OneOf(DEPOSIT_TRANSACTION_MEANINGS), Assumed("S12")]
    """Always `completed`, because the transaction is created when the deposit is credited."""
    order_id: Annotated[OrderNumber, Assumed("L3")]
    """The public number of the transaction's order, as used in `GET /orders/{order_id}`."""
    symbol: Annotated[AssetText, Assumed("S12")]
    """The asset that was received."""
    network: Annotated[WalletNetwork, Assumed("S12")]
    """The network of the deposit."""
    amount: Annotated[AmountText, Assumed("S12")]
    """The amount of the deposit, in the asset."""
    fee: Annotated[AppFee, Assumed("S12")]
    """The fee for the deposit. Deposits are free."""
    net_amount: Annotated[AmountText, Assumed("S12")]
    """The amount credited to the balance after fees, in the asset."""
    reference: Annotated[str | None, Assumed("H19", "nullable")]
    """The reference of the wallet that received the deposit, or null if it has none."""
    tx_hash: str | None
    """The hash of the deposit's on-chain transaction. Null for a Lightning payment or a transfer from another user."""
    deposit_id: Annotated[Annotated[str, Prefix("dep_")] | None, Assumed("S12")]
    """The id of the deposit in `GET /wallets/{id}/deposits`. Null for a transfer from another user."""
    created_at: Timestamp
    """The time at which the deposit was credited."""
    updated_at: Timestamp
    """The time of the last change."""


class End(TypedDict):
    """The fields at the end of every transaction in a response, whatever its type."""

    failure_code: NotRequired[str]
    created_at: str
    updated_at: str


def render_end(transaction: Transaction) -> End:
    """Return the last response fields of a transaction. The failure code is included only if the transaction failed."""
    created, updated = format_timestamp(transaction.created_at_ms), format_timestamp(transaction.updated_at_ms)
    if transaction.failure_code is None:
        return {"created_at": created, "updated_at": updated}
    return {"failure_code": transaction.failure_code, "created_at": created, "updated_at": updated}


def render_deposit(world: World, record: Transaction) -> DepositTransaction:
    currency = record.fee.currency
    return {
        "id": record.id,
        "type": "deposit",
        "status": record.status,
        "order_id": record.order_id,
        "symbol": record.received.code,
        "network": upper(present(record.received.network)),
        "amount": currency.format(record.amount),
        "fee": show_app_fee(record.fee),
        "net_amount": currency.format(record.net_amount),
        "reference": record.reference,
        "tx_hash": record.tx_hash,
        "deposit_id": record.deposit_id,
        "created_at": format_timestamp(record.created_at_ms),
        "updated_at": format_timestamp(record.updated_at_ms),
    }


CLAUSES: Clauses = {"Wallet transaction": (DepositTransaction,)}
