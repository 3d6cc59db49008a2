"""Response models for orders, which are not saved: an order is a view of the transaction with the same id. All fields
are always present, and unused numbers are null (tables "Order" and "Order leg fields" and section "Order"; decision
S18).
"""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.text.shapes import Assumed, Clauses, Format, Number, OneOf, Prefix, Timestamp, Uuid, page_shape
from simulator.engine.worlds.settings import assumes
from simulator.kernel.clock import format_timestamp
from simulator.kernel.world import World
from simulator.providers.ramp import balance, transactions
from simulator.providers.ramp.history.legs import OrderLeg, OrderType, number, order_amount, order_rate, render_leg
from simulator.providers.ramp.history.states import ORDER_STATUS_MEANINGS, ORDER_STATUSES
from simulator.providers.ramp.profile import profile_of
from simulator.providers.ramp.ramps import OfframpTransaction, OnrampTransaction
from simulator.providers.ramp.shapes import METHODS, AssetText, CountryText, CurrencyText, FiatText, OrderNumber
from simulator.providers.ramp.transactions import PaymentInstructions, Side, Transaction

MODES = {"": "The order moves crypto only.", **METHODS}

BookedAsset = Annotated[str, Format(pattern="^ast_[a-z]+(_[a-z]+)?$"), Assumed("order-ids", "pattern")]
BookedNetwork = Annotated[str, Format(pattern="^net_[a-z]+$"), Assumed("order-ids", "pattern")]
NetworkOrNull = Annotated[BookedNetwork | None, Assumed("order-network", "nullable")]
NumberOrNull = Annotated[Number | None, Assumed("S18", "nullable")]
OrderCurrency = Annotated[CurrencyText, Assumed("S18", "enum")]


class OrderItem(TypedDict):
    """An order in a list, without its legs. Amounts and fees are JSON numbers."""

    id: Uuid
    """The internal id of the order."""
    order_id: OrderNumber
    """The public order number, as used in `GET /orders/{order_id}`."""
    user_id: Uuid
    """The account that owns the order."""
    order_type: OrderType
    """The operation that created the order."""
    status: Annotated[str, OneOf(ORDER_STATUS_MEANINGS), Assumed("S18", "enum")]
    """The status of the order."""
    asset: Annotated[AssetText, Assumed("S18", "enum")]
    """The crypto asset of the order. If the order is paid in crypto, this is the asset paid, otherwise the asset
    received.
    """
    asset_id: BookedAsset
    """The id of `asset`."""
    network: str
    """The network of the source. For fiat, the currency code in lower case."""
    network_to: str
    """The network of the target. For fiat, the currency code in lower case."""
    network_id: NetworkOrNull
    """The id of the network of `asset`."""
    from_network: NetworkOrNull
    """The id of the network on which the order is paid. Null for fiat."""
    to_network: NetworkOrNull
    """The id of the network on which the order is delivered. Null for fiat."""
    from_asset: OrderCurrency
    """The asset or fiat currency that is sent."""
    from_asset_id: BookedAsset
    """The id of `from_asset`."""
    to_asset: OrderCurrency
    """The asset or fiat currency that is received."""
    to_asset_id: BookedAsset
    """The id of `to_asset`."""
    amount: Number
    """The amount of the order, in the currency in which it is paid."""
    total_amount: NumberOrNull
    """The total debited, in `from_asset`, including fees. Null if in the end nothing was debited."""
    from_amount: Number
    """The amount sent, in `from_asset`."""
    from_asset_amount: Number
    """The amount sent, in `from_asset`."""
    to_amount: Number
    """The converted amount, in `to_asset`."""
    to_asset_amount: Number
    """The converted amount, in `to_asset`."""
    receive_amount: NumberOrNull
    """The amount received after all fees, in `to_asset`. Null if the order did not succeed."""
    network_fee: Number
    """The part of the fee for the blockchain transaction, in the currency of the fee."""
    exchange_fee: Number
    """The part of the fee that the service charges, in the currency of the fee."""
    total_fees: Number
    """The total fee: `network_fee` plus `exchange_fee`."""
    exchange_rate: NumberOrNull
    """The price of one unit of `from_asset` in `to_asset`. Null if the order converts nothing."""
    slippage: Number | None
    """The slippage tolerance of a swap, in percent. Null for other orders."""
    sender_address: str
    """The sending address. Empty if it is not known."""
    recipient_address: str
    """The receiving address, invoice or Lightning address. Empty if there is none."""
    memo: str
    """The memo of the transfer. Empty if unused."""
    fiat_currency: FiatText | None
    """The fiat currency of the order. Null if the order involves only crypto."""
    country: CountryText | None
    """The country of the fiat currency. Null if the order involves only crypto."""
    mode_of_payment: Annotated[str, OneOf(MODES), Assumed("order-method", "enum")]
    """The payment method for the fiat. Empty if the order involves only crypto."""
    payment_method_id: Annotated[str, Prefix("ben_"), Assumed("order-method", "pattern")] | None
    """The beneficiary of the payout, or null if there is none."""
    account_number: str | None
    """The bank account or phone number of the payer or beneficiary, or null if there is none."""
    payment_details: PaymentInstructions | None
    """The payment instructions for an onramp or buy. Null for other orders."""
    channel_id: str | None
    """The channel of the payment partner, or null if it is not known."""
    provider_network_id: str | None
    """The network of the payment partner, or null if it is not known."""
    provider_channel_id: str | None
    """The payment partner's own channel, or null if it is not known."""
    reason: str | None
    """The failure code of the transaction, or null."""
    cancelled_by: str | None
    """The person who cancelled the order. Null if the order was not cancelled."""
    cancel_reason: str | None
    """The reason for the cancellation. Null if the order was not cancelled."""
    cancel_date: Timestamp | None
    """The time of the cancellation. Null if the order was not cancelled."""
    recurring_payment: str
    """The id of the recurring payment that created the order. Empty for other orders."""
    created_at: Timestamp | None
    """The creation time of the order."""
    updated_at: Timestamp | None
    """The time of the last change."""
    deleted_at: Timestamp | None
    """The time of deletion, or null if the order was not deleted."""


class Order(OrderItem):
    """One order with its legs. Every field is present. Unused fields are null or empty. Amounts are numbers."""

    transactions: list[OrderLeg]
    """The legs of the order: the payment and the delivery, with their on-chain details."""


OrderList = page_shape("OrderList", OrderItem, "orders", "The orders of this page, without their legs.")

TransactionShape = Annotated[
    OnrampTransaction
    | OfframpTransaction
    | transactions.shapes.DepositTransaction
    | balance.shapes.SendTransaction
    | balance.shapes.SwapTransaction
    | balance.shapes.BuyTransaction
    | balance.shapes.WithdrawTransaction,
    Field(discriminator="type"),
]

TransactionList = page_shape(
    "TransactionList", TransactionShape, "transactions of any type", "The transactions of this page."
)


def debited(order: Transaction) -> Decimal | None:
    """Return the amount debited from the customer (decision S18).

    This is the quoted amount for a withdrawal, and for any order that can still succeed. For a ramp or buy that did not
    succeed, it is the amount received, if any. For a failed send or swap it is None: the hold was released.
    """
    if order.status not in ("failed", "expired", "refunded"):
        return order.paid.amount
    if order.type in ("onramp", "offramp", "buy"):
        return order.funds_received
    return order.paid.amount if order.type == "withdraw" else None


def asset_id(side: Side) -> str:
    """Return the id of an asset or fiat currency, for example `ast_usdc_stellar` or `ast_kes`."""
    return f"ast_{side.code.lower()}" + (f"_{side.network}" if side.network else "")


def network_id(network: str | None) -> str | None:
    return None if network is None else f"net_{network}"


def render_item(world: World, order: Transaction) -> OrderItem:
    """Return an order without its legs."""
    paid, received, fee = order.paid, order.received, order.fee
    crypto = paid if paid.network is not None else received
    fiat = next((side.code for side in (paid, received) if side.network is None), None)
    amount, quoted = number(order_amount(order)), number(received.amount)
    status, rate, total = ORDER_STATUSES[order.status], order_rate(order), debited(order)
    is_lost = status in ("failed", "expired", "refunded") and not assumes(world, "S18", "figures_stay_after_failure")
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
        "receive_amount": None if is_lost else quoted,
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


def render_order(world: World, order: Transaction) -> Order:
    """Return an order with its two legs: the paid amount (debit) and the received amount (credit)."""
    return {**render_item(world, order), "transactions": [render_leg(world, order, way) for way in ("debit", "credit")]}


CLAUSES: Clauses = {
    "Order": (Order, OrderLeg),
    "Orders and transactions": (OrderList, TransactionList),
    Assumed("S18"): (OrderItem,),
    Assumed("order-method"): (PaymentInstructions,),
}
