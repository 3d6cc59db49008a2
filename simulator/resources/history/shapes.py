"""How orders are shown: the tables "Order" and "Order leg fields", every field of them always present.

Chapter "Order" of the specification, decision S18: numbers are exact decimals, unused numbers are null. An order is
the transaction of the same id seen as an order; nothing of it is stored.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from typing_extensions import TypedDict

from simulator.kernel.clock import format_timestamp
from simulator.kernel.ids import derive
from simulator.kernel.money import ZERO, format_rate, inverse_of, plain
from simulator.kernel.world import World
from simulator.resources.balance import (
    BuyPaymentInstructions,
    BuyTransaction,
    SendTransaction,
    SwapTransaction,
    WithdrawTransaction,
)
from simulator.resources.profile import profile_of
from simulator.resources.ramps import RampPaymentInstructions, RampTransaction
from simulator.resources.reference import METHODS
from simulator.resources.transactions import STATUSES, TYPES, DepositTransaction, Side, Transaction
from simulator.wire.json import JsonObject
from simulator.wire.shapes import (
    AssetText,
    Assumed,
    Clauses,
    CountryText,
    CurrencyText,
    FiatText,
    Format,
    Number,
    OneOf,
    OrderNumber,
    Pagination,
    Prefix,
    RateText,
    Timestamp,
    Uuid,
)

SYSTEM_USER = "0000-0000-0000-0000"

ORDER_STATUSES = {
    "awaiting_payment": "pending",
    "awaiting_deposit": "pending",
    "pending": "pending",
    "processing": "processing",
    "completed": "successful",
    "failed": "failed",
    "expired": "expired",
    "refunded": "refunded",
}
"""The status of an order by that of its transaction (decision S18)."""

Instructions = RampPaymentInstructions | BuyPaymentInstructions | None
BookedAsset = Annotated[str, Format(pattern="^ast_[a-z]+(_[a-z]+)?$"), Assumed("order-ids")]
BookedNetwork = Annotated[str, Format(pattern="^net_[a-z]+$")]
OrderType = Annotated[str, OneOf(TYPES)]


class OrderLeg(TypedDict):
    id: Uuid
    transaction_id: Annotated[str, Prefix("txn_")]
    recurring_payment_invoice_id: str
    order_id: OrderNumber
    user_id: Annotated[
        str, Format(pattern=r"^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0000-0000-0000-0000)$")
    ]
    transaction_type: Annotated[str, OneOf(("debit", "credit")), Assumed("order-legs")]
    transfer_type: Annotated[str, OneOf(("token", "fiat")), Assumed("order-legs")]
    amount: Number
    currency: CurrencyText
    base_currency: CurrencyText
    quote_currency: CurrencyText
    sell_amount: Number
    buy_amount: Number
    exchange_rate: RateText | None
    ico_unit_price: Number | None
    to_wallet: str
    from_wallet: str
    account_number: str | None
    tx_hash: str | None
    status: Annotated[str, OneOf(STATUSES), Assumed("leg-status")]
    transaction_description: str
    service_type: OrderType
    memo: str
    approved_by: str | None
    cancelled_by: str | None
    transaction_fee_system: Number
    transaction_fee: Number
    transaction_fee_ico: CurrencyText
    transaction_error: str | None
    transaction_admin_info: str | None
    transaction_message: str | None
    third_party_status: str | None
    payment_object: Instructions
    request_obj: JsonObject | None
    deleted_at: Timestamp | None
    created_at: Timestamp
    updated_at: Timestamp


class OrderItem(TypedDict):
    """An order as lists show it: without its legs."""

    id: Uuid
    order_id: OrderNumber
    user_id: Uuid
    order_type: Annotated[OrderType, Assumed("S18")]
    status: Annotated[str, OneOf(tuple(dict.fromkeys(ORDER_STATUSES.values()))), Assumed("S18")]
    asset: AssetText
    asset_id: BookedAsset
    network: str
    network_to: str
    network_id: BookedNetwork | None
    from_network: BookedNetwork | None
    to_network: BookedNetwork | None
    from_asset: CurrencyText
    from_asset_id: BookedAsset
    to_asset: CurrencyText
    to_asset_id: BookedAsset
    amount: Number
    total_amount: Number | None
    from_amount: Number
    from_asset_amount: Number
    to_amount: Number
    to_asset_amount: Number
    receive_amount: Number | None
    network_fee: Number
    exchange_fee: Number
    total_fees: Number
    exchange_rate: Number | None
    slippage: Number | None
    sender_address: str
    recipient_address: str
    memo: str
    fiat_currency: FiatText | None
    country: CountryText | None
    mode_of_payment: Annotated[str, OneOf(("", *METHODS))]
    payment_method_id: Annotated[str, Prefix("ben_")] | None
    account_number: str | None
    payment_details: Instructions
    channel_id: str | None
    provider_network_id: str | None
    provider_channel_id: str | None
    reason: str | None
    cancelled_by: str | None
    cancel_reason: str | None
    cancel_date: Timestamp | None
    recurring_payment: str
    created_at: Timestamp
    updated_at: Timestamp
    deleted_at: Timestamp | None


class Order(OrderItem):
    transactions: list[OrderLeg]


class OrderList(TypedDict):
    data: Annotated[list[OrderItem], Assumed("S18")]
    pagination: Pagination


AnyTransaction = (
    RampTransaction | DepositTransaction | SendTransaction | SwapTransaction | BuyTransaction | WithdrawTransaction
)


class TransactionList(TypedDict):
    data: list[AnyTransaction]
    pagination: Pagination


def order_amount(order: Transaction) -> Decimal:
    """The order's amount in its source asset (of a buy, the fiat)."""
    return order.paid.amount if order.type == "buy" else order.amount


def debited(order: Transaction) -> Decimal | None:
    """What was taken of the customer: the quote's figure while the order may still succeed (decision S18).

    Of an order that came to nothing it is what really came in, None when that is nothing: an unpaid ramp or buy, and a
    send or swap, whose hold was released.
    """
    if order.status not in ("failed", "expired", "refunded"):
        return order.paid.amount
    if order.type in ("onramp", "offramp", "buy"):
        return order.funds_received
    return order.paid.amount if order.type == "withdraw" else None


def number(value: Decimal) -> Decimal:
    """The same number without trailing zeros and exponent, so that it is written as `0.16` and `0`."""
    return Decimal(plain(value))


def asset_id(side: Side) -> str:
    """The id of an asset or fiat currency: `ast_usdc_stellar`, `ast_kes`."""
    return f"ast_{side.code.lower()}" + (f"_{side.network}" if side.network else "")


def network_id(network: str | None) -> str | None:
    return None if network is None else f"net_{network}"


def render_item(world: World, order: Transaction) -> OrderItem:
    """An order without its legs."""
    paid, received, fee = order.paid, order.received, order.fee
    crypto = paid if paid.network is not None else received
    fiat = next((side.code for side in (paid, received) if side.network is None), None)
    amount, quoted = number(order_amount(order)), number(received.amount)
    status, rate, total = ORDER_STATUSES[order.status], _rate(order), debited(order)
    return {
        "id": order.order_uuid,
        "order_id": order.order_id,
        "user_id": profile_of(world).user_id,
        "order_type": order.type,
        "status": status,
        "asset": crypto.code,
        "asset_id": asset_id(crypto),
        "network": paid.network or paid.code.lower(),
        "network_to": received.network or received.code.lower(),
        "network_id": network_id(crypto.network),
        "from_network": network_id(paid.network),
        "to_network": network_id(received.network),
        "from_asset": paid.code,
        "from_asset_id": asset_id(paid),
        "to_asset": received.code,
        "to_asset_id": asset_id(received),
        "amount": amount,
        "total_amount": None if total is None else number(total),
        "from_amount": amount,
        "from_asset_amount": amount,
        "to_amount": quoted,
        "to_asset_amount": quoted,
        "receive_amount": None if status in ("failed", "expired", "refunded") else quoted,
        "network_fee": number(fee.network_fee),
        "exchange_fee": number(fee.service_fee),
        "total_fees": number(fee.total),
        "exchange_rate": None if rate is None else number(rate),
        "slippage": None if order.slippage is None else number(order.slippage),
        "sender_address": order.sender_address or "",
        "recipient_address": order.recipient_address or order.lightning or "",
        "memo": order.memo or "",
        "fiat_currency": fiat,
        "country": order.country,
        "mode_of_payment": order.method or "",
        "payment_method_id": order.beneficiary_id,
        "account_number": order.account_number,
        "payment_details": order.payment_instructions,
        "channel_id": None,
        "provider_network_id": None,
        "provider_channel_id": None,
        "reason": order.failure_code,
        "cancelled_by": None,
        "cancel_reason": None,
        "cancel_date": None,
        "recurring_payment": order.recurring_payment_id or "",
        "created_at": format_timestamp(order.created_at_ms),
        "updated_at": format_timestamp(order.updated_at_ms),
        "deleted_at": None,
    }


def _rate(order: Transaction) -> Decimal | None:
    """What one unit of the paid asset is worth in the received one: a rate of fiat per crypto unit is turned round."""
    fiat_is_paid = order.paid.network is None
    return inverse_of(order.rate) if order.rate is not None and fiat_is_paid else order.rate


def render_order(world: World, order: Transaction) -> Order:
    """The full order with its two legs: what is paid (debit) and what is delivered (credit)."""
    return {**render_item(world, order), "transactions": [_leg(world, order, way) for way in ("debit", "credit")]}


_CREDITED = ("deposit", "buy", "swap")
"""Orders whose delivery goes to the balance of the customer; of the others it leaves the service."""


def _leg(world: World, order: Transaction, direction: str) -> OrderLeg:
    """One leg. The chain's fields stand on legs in tokens, each network's hash on its own (decision S18)."""
    debit = direction == "debit"
    side = order.paid if debit else order.received
    fee, rate = order.fee, _rate(order)
    of_customer = order.type != "deposit" if debit else order.type in _CREDITED
    on_chain = side.network is not None
    tx_hash = order.source_tx_hash if debit and order.source_tx_hash else order.tx_hash
    run = f"{order.recurring_payment_id}-{order.run_number}" if order.recurring_payment_id else ""
    return {
        "id": _leg_id(order, direction),
        "transaction_id": order.id,
        "recurring_payment_invoice_id": run,
        "order_id": order.order_id,
        "user_id": profile_of(world).user_id if of_customer else SYSTEM_USER,
        "transaction_type": direction,
        "transfer_type": "token" if on_chain else "fiat",
        "amount": number(side.amount),
        "currency": side.code,
        "base_currency": order.paid.code,
        "quote_currency": order.received.code,
        "sell_amount": number(order.paid.amount),
        "buy_amount": number(order.received.amount),
        "exchange_rate": None if rate is None else format_rate(rate),
        "ico_unit_price": None,
        "to_wallet": (order.recipient_address or order.lightning or "") if on_chain else "",
        "from_wallet": (order.sender_address or "") if on_chain else "",
        "account_number": order.account_number,
        "tx_hash": tx_hash if on_chain else None,
        "status": order.status,
        "transaction_description": order.description or f"{order.type} {order.order_id}",
        "service_type": order.type,
        "memo": (order.memo or "") if on_chain else "",
        "approved_by": None,
        "cancelled_by": None,
        "transaction_fee_system": number(fee.service_fee) if debit else ZERO,
        "transaction_fee": number(fee.total) if debit else ZERO,
        "transaction_fee_ico": fee.currency.code,
        "transaction_error": order.failure_code,
        "transaction_admin_info": None,
        "transaction_message": None,
        "third_party_status": None,
        "payment_object": order.payment_instructions if debit else None,
        "request_obj": None,
        "deleted_at": None,
        "created_at": format_timestamp(order.created_at_ms),
        "updated_at": format_timestamp(order.updated_at_ms),
    }


def _leg_id(order: Transaction, direction: str) -> str:
    """A UUID that is always the same for the same leg."""
    digits = derive("order leg", order.order_uuid, direction).hex()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


CLAUSES: Clauses = {
    "Order": (Order, OrderItem, OrderLeg),
}
