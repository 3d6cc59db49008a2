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
    """One side of an order: the debit of what is paid, or the credit of what is delivered."""

    id: Uuid
    """Internal id of the leg."""
    transaction_id: Annotated[str, Prefix("txn_")]
    """The transaction that the order shows, for `GET /transactions/{id}`."""
    recurring_payment_invoice_id: str
    """The run of the recurring payment that made the order; empty otherwise."""
    order_id: OrderNumber
    """The public number of the order this is a leg of."""
    user_id: Annotated[
        str, Format(pattern=r"^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0000-0000-0000-0000)$")
    ]
    """Whose leg it is: the account, or `0000-0000-0000-0000` for a leg of the service itself."""
    transaction_type: Annotated[str, OneOf(("debit", "credit")), Assumed("order-legs")]
    """Which side it is."""
    transfer_type: Annotated[str, OneOf(("token", "fiat")), Assumed("order-legs")]
    """Whether the leg moves crypto or fiat."""
    amount: Number
    """What the leg moves, in `currency`."""
    currency: CurrencyText
    """The asset or fiat currency that the leg moves."""
    base_currency: CurrencyText
    """What the order pays with; `exchange_rate` is the price of one unit of it."""
    quote_currency: CurrencyText
    """What the order delivers; `exchange_rate` is counted in it."""
    sell_amount: Number
    """What the order pays in all, fees included, in `base_currency`."""
    buy_amount: Number
    """What the order delivers after fees, in `quote_currency`."""
    exchange_rate: RateText | None
    """How much `quote_currency` one unit of `base_currency` is worth; null where nothing is converted."""
    ico_unit_price: Number | None
    """Not used by these orders: null."""
    to_wallet: str
    """The address that receives; empty on legs in fiat and where no address is involved."""
    from_wallet: str
    """The address that sends; empty on legs in fiat and where it is not known."""
    account_number: str | None
    """The bank account or phone number of payer or beneficiary; null where there is none."""
    tx_hash: str | None
    """The on-chain transaction of this leg; null on legs in fiat and until there is one."""
    status: Annotated[str, OneOf(STATUSES), Assumed("leg-status")]
    """How far the leg has come; `completed` once the money has moved."""
    transaction_description: str
    """What the order was for, in words."""
    service_type: OrderType
    """Which operation of the service the leg belongs to."""
    memo: str
    """The memo that goes with an on-chain leg; empty when unused."""
    approved_by: str | None
    """Who approved the leg; null where nobody had to."""
    cancelled_by: str | None
    """Who cancelled the leg; null when it was not cancelled."""
    transaction_fee_system: Number
    """The service's own part of the fee, in `transaction_fee_ico`."""
    transaction_fee: Number
    """The whole fee of the order, in `transaction_fee_ico`; it stands on the debit leg, 0 on the other."""
    transaction_fee_ico: CurrencyText
    """The currency of the fee."""
    transaction_error: str | None
    """The failure code of an order that failed; null otherwise."""
    transaction_admin_info: str | None
    """A note of the service's staff; null when there is none."""
    transaction_message: str | None
    """A message about the leg; null when there is none."""
    third_party_status: str | None
    """What the partner that moves the money says of it; null when nothing is known."""
    payment_object: Instructions
    """How the payer pays, on the debit leg of an onramp or buy; null otherwise."""
    request_obj: JsonObject | None
    """The request to the partner that moves the money; null when it is not shown."""
    deleted_at: Timestamp | None
    """When the leg was deleted; null when it is not."""
    created_at: Timestamp
    """When the order was made."""
    updated_at: Timestamp
    """When the order last changed."""


class OrderItem(TypedDict):
    """An order as lists show it: without its legs. Amounts and fees are numbers."""

    id: Uuid
    """Internal id of the order."""
    order_id: OrderNumber
    """The public order number, for `GET /orders/{order_id}`."""
    user_id: Uuid
    """The account that owns the order."""
    order_type: Annotated[OrderType, Assumed("S18")]
    """What kind of operation made the order."""
    status: Annotated[str, OneOf(tuple(dict.fromkeys(ORDER_STATUSES.values()))), Assumed("S18")]
    """How far the order has come."""
    asset: AssetText
    """The crypto asset that the order is about: the one paid with, or the one received for fiat."""
    asset_id: BookedAsset
    """The id of `asset`."""
    network: str
    """Where the money comes from: a network, or for fiat the currency's code in small letters."""
    network_to: str
    """Where the money goes to: a network, or for fiat the currency's code in small letters."""
    network_id: BookedNetwork | None
    """The id of the network of `asset`."""
    from_network: BookedNetwork | None
    """The id of the network that the order pays on; null for fiat."""
    to_network: BookedNetwork | None
    """The id of the network that the order delivers on; null for fiat."""
    from_asset: CurrencyText
    """The asset or fiat currency sent."""
    from_asset_id: BookedAsset
    """The id of `from_asset`."""
    to_asset: CurrencyText
    """The asset or fiat currency received."""
    to_asset_id: BookedAsset
    """The id of `to_asset`."""
    amount: Number
    """The amount of the order, in the asset or currency it pays with."""
    total_amount: Number | None
    """What was debited in all, fees included, in `from_asset`; null when nothing was in the end."""
    from_amount: Number
    """The amount sent, in `from_asset`."""
    from_asset_amount: Number
    """The amount sent, in `from_asset`."""
    to_amount: Number
    """The amount it is converted to, in `to_asset`."""
    to_asset_amount: Number
    """The amount it is converted to, in `to_asset`."""
    receive_amount: Number | None
    """What is received after all fees, in `to_asset`; null when the order came to nothing."""
    network_fee: Number
    """The part of the fee that the blockchain network takes, in the currency of the fee."""
    exchange_fee: Number
    """The part of the fee that the service takes, in the currency of the fee."""
    total_fees: Number
    """The whole fee: `network_fee` and `exchange_fee` together."""
    exchange_rate: Number | None
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
    mode_of_payment: Annotated[str, OneOf(("", *METHODS))]
    """How the fiat is paid; empty for orders that move crypto only."""
    payment_method_id: Annotated[str, Prefix("ben_")] | None
    """The beneficiary that is paid out; null where there is none."""
    account_number: str | None
    """The bank account or phone number of payer or beneficiary; null where there is none."""
    payment_details: Instructions
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
    created_at: Timestamp
    """When the order was made."""
    updated_at: Timestamp
    """When the order last changed."""
    deleted_at: Timestamp | None
    """When the order was deleted; null when it is not."""


class Order(OrderItem):
    """One order with its legs. Every field is present, unused ones are null or empty; amounts are numbers."""

    transactions: list[OrderLeg]
    """The legs of the order: what is paid and what is delivered, with their on-chain detail."""


class OrderList(TypedDict):
    """A page of orders."""

    data: Annotated[list[OrderItem], Assumed("S18")]
    """The orders of this page, without their legs."""
    pagination: Pagination
    """Which page this is, of how many."""


AnyTransaction = (
    RampTransaction | DepositTransaction | SendTransaction | SwapTransaction | BuyTransaction | WithdrawTransaction
)


class TransactionList(TypedDict):
    """A page of transactions of any type."""

    data: list[AnyTransaction]
    """The transactions of this page."""
    pagination: Pagination
    """Which page this is, of how many."""


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
