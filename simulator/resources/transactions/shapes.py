"""How a deposit transaction is shown: the wallet transaction shape with `deposit_id` (decision S12)."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import TypedDict

from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World
from simulator.resources.fees import AppFee, show_app_fee
from simulator.resources.transactions.records import Transaction
from simulator.resources.transactions.states import DEPOSIT_TRANSACTION
from simulator.wire.records import present
from simulator.wire.shapes import (
    AmountText,
    AssetText,
    Assumed,
    Clauses,
    OneOf,
    OrderNumber,
    Prefix,
    Timestamp,
    WalletNetwork,
)
from simulator.wire.spelling import upper


class DepositTransaction(TypedDict):
    id: Annotated[str, Prefix("txn_")]
    type: Annotated[Literal["deposit"], Assumed("S12")]
    status: Annotated[str, OneOf(tuple(DEPOSIT_TRANSACTION.rows)), Assumed("S12")]
    order_id: Annotated[OrderNumber, Assumed("L3")]
    symbol: Annotated[AssetText, Assumed("S12")]
    network: Annotated[WalletNetwork, Assumed("S12")]
    amount: Annotated[AmountText, Assumed("S12")]
    fee: Annotated[AppFee, Assumed("S12")]
    net_amount: Annotated[AmountText, Assumed("S12")]
    reference: str | None
    tx_hash: str | None
    deposit_id: Annotated[Annotated[str, Prefix("dep_")] | None, Assumed("S12")]
    created_at: Timestamp
    updated_at: Timestamp


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


CLAUSES: Clauses = {
    "Wallet transaction": (DepositTransaction,),
}
