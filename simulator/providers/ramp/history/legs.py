"""Response models for the legs of an order: the debit paid and the credit received (decision S18)."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated

from typing_extensions import TypedDict

from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Assumed, Format, Number, OneOf, Prefix, RateText, Timestamp, Uuid
from simulator.kernel.clock import format_timestamp
from simulator.kernel.ids import derive
from simulator.kernel.money import ZERO, format_rate, inverse_of, plain
from simulator.kernel.world import World
from simulator.providers.ramp.profile import profile_of
from simulator.providers.ramp.shapes import CurrencyText, OrderNumber
from simulator.providers.ramp.transactions import STATUSES, TYPES, PaymentInstructions, Transaction

SYSTEM_USER = "0000-0000-0000-0000"

OrderType = Annotated[str, OneOf(TYPES), Assumed("S18", "enum")]
LegCurrency = Annotated[CurrencyText, Assumed("S18", "enum")]
SIDES = {"debit": "The payment of the order.", "credit": "The delivery of the order."}
TRANSFERS = {"token": "Crypto on a network.", "fiat": "Fiat money."}


class OrderLeg(TypedDict):
    """One side of an order: the debit of the paid amount, or the credit of the received amount."""

    id: Annotated[Uuid, Assumed("S18", "format")]
    """The internal id of the leg."""
    transaction_id: Annotated[str, Prefix("txn_")]
    """The id of the order's transaction, as used in `GET /transactions/{id}`."""
    recurring_payment_invoice_id: str
    """For an order created by a recurring payment, the id of the run. Empty for other orders."""
    order_id: OrderNumber
    """The public number of the order."""
    user_id: Annotated[
        str,
        Format(pattern=r"^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0000-0000-0000-0000)$"),
        Assumed("uuid-form", "pattern"),
    ]
    """The owner of the leg: the account, or `0000-0000-0000-0000` for the service itself."""
    transaction_type: Annotated[str, OneOf(SIDES), Assumed("order-legs", "enum")]
    """The side of the order: debit or credit."""
    transfer_type: Annotated[str, OneOf(TRANSFERS), Assumed("order-legs", "enum")]
    """The type of money: crypto or fiat."""
    amount: Number
    """The amount of the leg, in `currency`."""
    currency: LegCurrency
    """The asset or fiat currency of the leg."""
    base_currency: LegCurrency
    """The currency in which the order is paid. `exchange_rate` is the price of one unit of this currency."""
    quote_currency: LegCurrency
    """The currency that the order delivers. `exchange_rate` is in this currency."""
    sell_amount: Number
    """The total paid, in `base_currency`, including fees."""
    buy_amount: Number
    """The amount that the order delivers after fees, in `quote_currency`."""
    exchange_rate: Annotated[RateText | None, Assumed("order-rate", "nullable")]
    """The price of one unit of `base_currency` in `quote_currency`. Null if the order converts nothing."""
    ico_unit_price: Number | None
    """Not used. It is always null."""
    to_wallet: str
    """The receiving address. Empty on fiat legs and if there is no address."""
    from_wallet: str
    """The sending address. Empty on fiat legs and if it is not known."""
    account_number: str | None
    """The bank account or phone number of the payer or beneficiary, or null if there is none."""
    tx_hash: str | None
    """The hash of the on-chain transaction for this leg. Null on fiat legs, and until the transaction exists."""
    status: Annotated[str, OneOf(STATUSES), Assumed("leg-status", "enum")]
    """The status of the leg. It is `completed` once the money has been transferred."""
    transaction_description: str
    """The description of the order."""
    service_type: OrderType
    """The operation that created the order."""
    memo: str
    """The memo of an on-chain leg. Empty if unused."""
    approved_by: str | None
    """The person who approved the leg. Null if no approval was needed."""
    cancelled_by: str | None
    """The person who cancelled the leg. Null if the leg was not cancelled."""
    transaction_fee_system: Number
    """The part of the fee that the service charges, in `transaction_fee_ico`."""
    transaction_fee: Number
    """On the debit leg, the order's total fee, in `transaction_fee_ico`. On the credit leg, 0."""
    transaction_fee_ico: LegCurrency
    """The currency of the fee."""
    transaction_error: str | None
    """The failure code of a failed order. Null for other orders."""
    transaction_admin_info: str | None
    """A note by the service's staff, or null."""
    transaction_message: str | None
    """A message about the leg, or null."""
    third_party_status: str | None
    """The status at the payment partner, or null if it is not known."""
    payment_object: PaymentInstructions | None
    """The payment instructions, on the debit leg of an onramp or buy. Null otherwise."""
    request_obj: JsonObject | None
    """The request to the payment partner, or null if it is not available."""
    deleted_at: Timestamp | None
    """The time of deletion, or null if the leg was not deleted."""
    created_at: Timestamp
    """The creation time of the order."""
    updated_at: Timestamp
    """The time of the order's last change."""


def number(value: Decimal) -> Decimal:
    """Return a decimal without trailing zeros and without an exponent, such as `0.16` or `0`."""
    return Decimal(plain(value))


def order_rate(order: Transaction) -> Decimal | None:
    """Return the price of one unit of the paid currency in the received one, or None if the order converts nothing."""
    fiat_is_paid = order.paid.network is None
    return inverse_of(order.rate) if order.rate is not None and fiat_is_paid else order.rate


_CREDITED = ("deposit", "buy", "swap")
"""Order types that deliver to the customer's balance. All others deliver to an external recipient."""


def render_leg(world: World, order: Transaction, direction: str) -> OrderLeg:
    """Return one leg of an order (decision S18). Only legs in crypto have blockchain fields. In a swap between two
    networks, each leg has the hash on its own network.
    """
    debit = direction == "debit"
    side = order.paid if debit else order.received
    fee, rate = order.fee, order_rate(order)
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
    """Return the leg's UUID. It is derived from the order, so every response contains the same UUID."""
    digits = derive("order leg", order.order_uuid, direction).hex()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


def order_amount(order: Transaction) -> Decimal:
    """Return the order's amount in its source currency. For a buy, this is the fiat amount."""
    return order.paid.amount if order.type == "buy" else order.amount
