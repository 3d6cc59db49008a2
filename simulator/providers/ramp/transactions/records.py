"""The record of a transaction: ramps, wallet operations and deposits. An order is a view of the same record (decision
S18), so the record contains the order's number and internal id.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from decimal import Decimal
from typing import Literal

from typing_extensions import TypedDict

from simulator.engine.records.records import NewFields, new_fields, present
from simulator.engine.rows.kind import Record
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Id, Milliseconds
from simulator.kernel.money import Currency
from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from simulator.providers.ramp.fees import Fee
from simulator.providers.ramp.profile import LimitCharge
from simulator.providers.ramp.reference import currency_of
from simulator.providers.ramp.shapes import DIRECTIONS, Method

TransactionType = Literal["onramp", "offramp", "deposit", "withdraw", "send", "buy", "swap"]
TYPES: Mapping[str, str] = {
    **DIRECTIONS,
    "deposit": "Money received in the balance: a deposit to a wallet, or a transfer from another user.",
    "withdraw": "Crypto of the balance becomes fiat for a saved beneficiary.",
    "send": "Crypto of the balance goes to an address, over Lightning, or to another user.",
    "buy": "Fiat becomes crypto in the balance.",
    "swap": "One asset of the balance becomes another.",
}
"""All types of transactions, each with its description."""
BALANCE_TYPES = frozenset({"withdraw", "send", "buy", "swap"})
"""The types that are operations on the balance."""
RAMP_TYPES: tuple[str, ...] = tuple(DIRECTIONS)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a transaction: an amount, its currency code, and the canonical network (None for fiat)."""

    code: str
    network: str | None
    amount: Decimal

    @property
    def currency(self) -> Currency:
        return currency_of(self.code, self.network)

    @property
    def chain(self) -> str:
        """The blockchain network of a crypto amount. Raise `ValueError` for a fiat amount."""
        return present(self.network)


class _HowToPay(TypedDict):
    method: Method
    """The payment method, which determines the other fields."""


class PaymentInstructions(_HowToPay, total=False):
    """Instructions for paying fiat: a prompt on the phone, or an account of the service with a reference."""

    phone_number: str
    """Mobile money: the phone number that receives the prompt."""
    prompt_text: str
    """Mobile money: the text of the prompt on the phone."""
    account_number: str
    """Bank transfer: the service's account to pay to."""
    bank_name: str
    """Bank transfer: the bank of that account."""
    reference: str
    """The reference to include with the payment. It links the payment to the order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction(Record):
    """A transfer or conversion of money. Networks are canonical names."""

    type: TransactionType
    order_id: Id
    order_uuid: str
    paid: Side
    """The total that the customer pays."""
    received: Side
    """The amount that is delivered after fees."""
    amount: Decimal
    """The amount that lists sort and filter by (decision L3)."""
    net_amount: Decimal
    fee: Fee
    rate: Decimal | None = None
    quote_id: Id | None = None
    reference: str | None = None
    description: str | None = None
    method: Method | None = None
    country: str | None = None
    sender_address: str | None = None
    recipient_address: str | None = None
    memo: str | None = None
    account_number: str | None = None
    beneficiary_id: Id | None = None
    refund_address: str | None = None
    payment_instructions: PaymentInstructions | None = None
    expires_at_ms: Milliseconds | None = None
    tx_hash: str | None = None
    source_tx_hash: str | None = None
    """The transaction hash on the source network. Only set for a swap between two networks."""
    failure_code: str | None = None
    funds_received: Decimal | None = None
    limit_charge: LimitCharge | None = field(default=None, metadata={"saved_as": "counted"})
    """The amount charged to the account limits, or None."""
    counterparty: str | None = None
    lightning: str | None = None
    deposit_id: Id | None = None
    recurring_payment_id: Id | None = None
    run_number: int | None = None
    slippage: Decimal | None = None

    # One class for all types, although each type uses only some of the fields. The API returns every type as an order
    # with all fields (unused ones are empty), lists search and filter all types by the same fields, and saved worlds
    # have one table. A class for each type would only save a dozen calls of `present(...)`, but these three places
    # would have to handle seven classes.

    @property
    def kind(self) -> str:
        return "deposit_transaction" if self.type == "deposit" else self.type

    def paid_on(self) -> tuple[str | None]:
        """Return the network on which the customer pays crypto. It is None for fiat."""
        return (self.paid.network,)

    def received_on(self) -> tuple[str | None]:
        """Return the network on which the customer receives crypto. It is None for fiat."""
        return (self.received.network,)

    def networks(self) -> tuple[str | None, str | None]:
        """Return the canonical networks of both sides. A network is None for fiat."""
        return self.paid.network, self.received.network

    def searched(self) -> tuple[str | None, ...]:
        """Return the strings that a list request searches, as in `SEARCHED` (decision L3)."""
        instructions = self.payment_instructions
        payee = None if instructions is None else instructions.get("account_number")
        names = self.id, self.order_id, self.reference
        addresses = self.sender_address, self.recipient_address, self.refund_address, self.lightning
        return (*names, *addresses, self.tx_hash, self.account_number, payee)

    def currencies(self) -> tuple[str, str]:
        return self.paid.code, self.received.code

    def made_by(self) -> tuple[str | None]:
        """Return the id of the recurring payment whose run created the transaction."""
        return (self.recurring_payment_id,)


SEARCHED = "transaction id, order number, reference, wallet addresses, tx_hash and account numbers"
"""A description of the strings that `Transaction.searched` returns."""

TRANSACTIONS = TableKey("transactions", Transaction, per_environment=True, per_owner=True)
ORDERS = TableKey("orders", str, per_environment=True)
"""Maps an order number to the id of its transaction."""
LIGHTNING_PAYMENTS = TableKey("lightning_payments", str, per_environment=True)
"""Maps the receiver key of an invoice or Lightning address to the id of the last transaction that pays it."""


class NewOrderFields(NewFields):
    """The fields that every new transaction receives."""

    order_id: str
    order_uuid: str


def new_order_fields(world: World, environment: str, owner: str = "") -> NewOrderFields:
    """Return the fields of a transaction that is created now. Each owner's orders have their own numbers."""
    fields = new_fields(world, environment, "txn_", "ids.transaction")
    number = world.next_sequence(f"orders.{holder(environment, owner)}")
    return {**fields, "order_id": f"ORD-{number:08d}", "order_uuid": world.streams.uuid("ids.order")}


def holder(environment: str, owner: str = "") -> str:
    """Return the name of an owner in the ledger. `owner` is "" for the account, or another platform user's id."""
    return f"{environment}:{owner or 'account'}"
