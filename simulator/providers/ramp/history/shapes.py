"""How orders are shown: the tables "Order" and "Order leg fields", every field of them always present.

Chapter "Order" of the specification, decision S18: numbers are exact decimals, unused numbers are null. An order is
the transaction of the same id seen as an order; nothing of it is stored.
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
    """An order as lists show it: without its legs. Amounts and fees are numbers."""

    id: Uuid
    """Internal id of the order."""
    order_id: OrderNumber
    """The public order number, for `GET /orders/{order_id}`."""
    user_id: Uuid
    """The account that owns the order."""
    order_type: OrderType
    """What kind of operation made the order."""
    status: Annotated[str, OneOf(ORDER_STATUS_MEANINGS), Assumed("S18", "enum")]
    """How far the order has come."""
    asset: Annotated[AssetText, Assumed("S18", "enum")]
    """The crypto asset that the order is about: the one paid with, or the one received for fiat."""
    asset_id: BookedAsset
    """The id of `asset`."""
    network: str
    """Where the money comes from: a network, or for fiat the currency's code in small letters."""
    network_to: str
    """Where the money goes to: a network, or for fiat the currency's code in small letters."""
    network_id: NetworkOrNull
    """The id of the network of `asset`."""
    from_network: NetworkOrNull
    """The id of the network that the order pays on; null for fiat."""
    to_network: NetworkOrNull
    """The id of the network that the order delivers on; null for fiat."""
    from_asset: OrderCurrency
    """The asset or fiat currency sent."""
    from_asset_id: BookedAsset
    """The id of `from_asset`."""
    to_asset: OrderCurrency
    """The asset or fiat currency received."""
    to_asset_id: BookedAsset
    """The id of `to_asset`."""
    amount: Number
    """The amount of the order, in the asset or currency it pays with."""
    total_amount: NumberOrNull
    """What was debited in all, fees included, in `from_asset`; null when nothing was in the end."""
    from_amount: Number
    """The amount sent, in `from_asset`."""
    from_asset_amount: Number
    """The amount sent, in `from_asset`."""
    to_amount: Number
    """The amount it is converted to, in `to_asset`."""
    to_asset_amount: Number
    """The amount it is converted to, in `to_asset`."""
    receive_amount: NumberOrNull
    """What is received after all fees, in `to_asset`; null when the order came to nothing."""
    network_fee: Number
    """The part of the fee that the blockchain network takes, in the currency of the fee."""
    exchange_fee: Number
    """The part of the fee that the service takes, in the currency of the fee."""
    total_fees: Number
    """The whole fee: `network_fee` and `exchange_fee` together."""
    exchange_rate: NumberOrNull
    """How much `to_asset` one unit of `from_asset` is worth; null where nothing is converted."""
    slippage: Number | None
    """The tolerance of a swap, in percent; null for other orders."""
    sender_address: str
    """The address that the money came from; empty where none is known."""
    recipient_address: str
    """The address, invoice or Lightning address that the money goes to; empty where there is none."""
    memo: str
    """The memo that goes with the transfer; empty when unused."""
    fiat_currency: FiatText | None
    """The fiat currency of the order; null when it moves crypto only."""
    country: CountryText | None
    """The country of that fiat currency; null when the order moves crypto only."""
    mode_of_payment: Annotated[str, OneOf(MODES), Assumed("order-method", "enum")]
    """How the fiat is paid; empty for orders that move crypto only."""
    payment_method_id: Annotated[str, Prefix("ben_"), Assumed("order-method", "pattern")] | None
    """The beneficiary that is paid out; null where there is none."""
    account_number: str | None
    """The bank account or phone number of payer or beneficiary; null where there is none."""
    payment_details: PaymentInstructions | None
    """How the payer pays, for an onramp or buy; null for other orders."""
    channel_id: str | None
    """The channel of the payment partner; null when it is not known."""
    provider_network_id: str | None
    """The network of the payment partner; null when it is not known."""
    provider_channel_id: str | None
    """The partner's own channel; null when it is not known."""
    reason: str | None
    """Why the order failed: the failure code of its transaction; null otherwise."""
    cancelled_by: str | None
    """Who cancelled the order; null when it was not cancelled."""
    cancel_reason: str | None
    """Why the order was cancelled; null when it was not."""
    cancel_date: Timestamp | None
    """When the order was cancelled; null when it was not."""
    recurring_payment: str
    """The recurring payment that made the order, by its id; empty otherwise."""
    created_at: Timestamp | None
    """When the order was made."""
    updated_at: Timestamp | None
    """When the order last changed."""
    deleted_at: Timestamp | None
    """When the order was deleted; null when it is not."""


class Order(OrderItem):
    """One order with its legs. Every field is present, unused ones are null or empty; amounts are numbers."""

    transactions: list[OrderLeg]
    """The legs of the order: what is paid and what is delivered, with their on-chain detail."""


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
    """What was taken of the customer: the quote's figure while the order may still succeed (decision S18).

    Of an order that came to nothing it is what really came in, None when that is nothing: an unpaid ramp or buy, and a
    send or swap, whose hold was released.
    """
    if order.status not in ("failed", "expired", "refunded"):
        return order.paid.amount
    if order.type in ("onramp", "offramp", "buy"):
        return order.funds_received
    return order.paid.amount if order.type == "withdraw" else None


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
    """The full order with its two legs: what is paid (debit) and what is delivered (credit)."""
    return {**render_item(world, order), "transactions": [render_leg(world, order, way) for way in ("debit", "credit")]}


CLAUSES: Clauses = {
    "Order": (Order, OrderLeg),
    "Orders and transactions": (OrderList, TransactionList),
    Assumed("S18"): (OrderItem,),
    Assumed("order-method"): (PaymentInstructions,),
}
