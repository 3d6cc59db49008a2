"""How the legs of an order are shown: what is paid (debit) and what is delivered (credit).

Paragraph "Order leg fields" of the specification, decision S18.
"""

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
SIDES = {"debit": "What is paid.", "credit": "What is delivered."}
TRANSFERS = {"token": "Crypto on a network.", "fiat": "Fiat money."}


class OrderLeg(TypedDict):
    """One side of an order: the debit of what is paid, or the credit of what is delivered."""

    id: Annotated[Uuid, Assumed("S18", "format")]
    """Internal id of the leg."""
    transaction_id: Annotated[str, Prefix("txn_")]
    """The transaction that the order shows, for `GET /transactions/{id}`."""
    recurring_payment_invoice_id: str
    """The run of the recurring payment that made the order; empty otherwise."""
    order_id: OrderNumber
    """The public number of the order this is a leg of."""
    user_id: Annotated[
        str,
        Format(pattern=r"^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|0000-0000-0000-0000)$"),
        Assumed("uuid-form", "pattern"),
    ]
    """Whose leg it is: the account, or `0000-0000-0000-0000` for a leg of the service itself."""
    transaction_type: Annotated[str, OneOf(SIDES), Assumed("order-legs", "enum")]
    """Which side it is."""
    transfer_type: Annotated[str, OneOf(TRANSFERS), Assumed("order-legs", "enum")]
    """Whether the leg moves crypto or fiat."""
    amount: Number
    """What the leg moves, in `currency`."""
    currency: LegCurrency
    """The asset or fiat currency that the leg moves."""
    base_currency: LegCurrency
    """What the order pays with; `exchange_rate` is the price of one unit of it."""
    quote_currency: LegCurrency
    """What the order delivers; `exchange_rate` is counted in it."""
    sell_amount: Number
    """What the order pays in all, fees included, in `base_currency`."""
    buy_amount: Number
    """What the order delivers after fees, in `quote_currency`."""
    exchange_rate: Annotated[RateText | None, Assumed("order-rate", "nullable")]
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
    status: Annotated[str, OneOf(STATUSES), Assumed("leg-status", "enum")]
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
    transaction_fee_ico: LegCurrency
    """The currency of the fee."""
    transaction_error: str | None
    """The failure code of an order that failed; null otherwise."""
    transaction_admin_info: str | None
    """A note of the service's staff; null when there is none."""
    transaction_message: str | None
    """A message about the leg; null when there is none."""
    third_party_status: str | None
    """What the partner that moves the money says of it; null when nothing is known."""
    payment_object: PaymentInstructions | None
    """How the payer pays, on the debit leg of an onramp or buy; null otherwise."""
    request_obj: JsonObject | None
    """The request to the partner that moves the money; null when it is not shown."""
    deleted_at: Timestamp | None
    """When the leg was deleted; null when it is not."""
    created_at: Timestamp
    """When the order was made."""
    updated_at: Timestamp
    """When the order last changed."""


def number(value: Decimal) -> Decimal:
    """The same number without trailing zeros and exponent, so that it is written as `0.16` and `0`."""
    return Decimal(plain(value))


def order_rate(order: Transaction) -> Decimal | None:
    """What one unit of the paid asset is worth in the received one: a rate of fiat per crypto unit is turned round."""
    fiat_is_paid = order.paid.network is None
    return inverse_of(order.rate) if order.rate is not None and fiat_is_paid else order.rate


_CREDITED = ("deposit", "buy", "swap")
"""Orders whose delivery goes to the balance of the customer; of the others it leaves the service."""


def render_leg(world: World, order: Transaction, direction: str) -> OrderLeg:
    """One leg. The chain's fields stand on legs in tokens, each network's hash on its own (decision S18)."""
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
    """A UUID that is always the same for the same leg."""
    digits = derive("order leg", order.order_uuid, direction).hex()
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}"


def order_amount(order: Transaction) -> Decimal:
    """The order's amount in its source asset (of a buy, the fiat)."""
    return order.paid.amount if order.type == "buy" else order.amount
