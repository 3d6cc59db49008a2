"""The record of everything that moves money: ramps, wallet operations and deposits.

An order is the same record shown as an order (decision S18), so its number and internal id are here.
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
"""All types of transactions, each with its meaning."""
BALANCE_TYPES = frozenset({"withdraw", "send", "buy", "swap"})
"""Operations on the balance."""
RAMP_TYPES: tuple[str, ...] = tuple(DIRECTIONS)


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a movement: a currency (canonical network, None for fiat) and an amount."""

    code: str
    network: str | None
    amount: Decimal

    @property
    def currency(self) -> Currency:
        return currency_of(self.code, self.network)

    @property
    def chain(self) -> str:
        """The network of a crypto side. Raises `ValueError` for fiat."""
        return present(self.network)


class _HowToPay(TypedDict):
    method: Method
    """The payment method. It decides which other fields are present."""


class PaymentInstructions(_HowToPay, total=False):
    """Payment instructions for fiat: a prompt on the phone, or an account of the service with a reference."""

    phone_number: str
    """Mobile money: the payer's phone, which gets the prompt."""
    prompt_text: str
    """Mobile money: the text of the prompt."""
    account_number: str
    """Bank transfer: the account of the service to pay to."""
    bank_name: str
    """Bank transfer: the bank of that account."""
    reference: str
    """The reference for the payment, which matches it to the order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transaction(Record):
    """A movement of money. Networks are canonical names."""

    type: TransactionType
    order_id: Id
    order_uuid: str
    paid: Side
    """The total that the customer pays."""
    received: Side
    """The amount that is delivered after fees."""
    amount: Decimal
    """The figure by which lists sort and filter (decision L3)."""
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
    """The hash on the network of the source, for a swap between two networks."""
    failure_code: str | None = None
    funds_received: Decimal | None = None
    limit_charge: LimitCharge | None = field(default=None, metadata={"saved_as": "counted"})
    """The charge to the account limits, or None."""
    counterparty: str | None = None
    lightning: str | None = None
    deposit_id: Id | None = None
    recurring_payment_id: Id | None = None
    run_number: int | None = None
    slippage: Decimal | None = None

    # One class for all types, although each type uses only some of the fields. The API shows every type as an order
    # with all fields (empty if unused), lists search and filter all types by the same fields, and saved worlds have
    # one row. With a class per type, each of these three would need to know all seven classes, only to save a dozen
    # calls of `present(...)`.

    @property
    def kind(self) -> str:
        return "deposit_transaction" if self.type == "deposit" else self.type

    def paid_on(self) -> tuple[str | None]:
        """Return the network that the customer pays on, None for fiat."""
        return (self.paid.network,)

    def received_on(self) -> tuple[str | None]:
        """Return the network that delivers, None for fiat."""
        return (self.received.network,)

    def networks(self) -> tuple[str | None, str | None]:
        """Return the canonical networks of both sides, None for fiat."""
        return self.paid.network, self.received.network

    def searched(self) -> tuple[str | None, ...]:
        """Return the strings that lists search: ids, reference, addresses, tx_hash, accounts (decision L3)."""
        instructions = self.payment_instructions
        payee = None if instructions is None else instructions.get("account_number")
        names = self.id, self.order_id, self.reference
        addresses = self.sender_address, self.recipient_address, self.refund_address, self.lightning
        return (*names, *addresses, self.tx_hash, self.account_number, payee)

    def currencies(self) -> tuple[str, str]:
        return self.paid.code, self.received.code

    def made_by(self) -> tuple[str | None]:
        """Return the recurring payment whose run created it."""
        return (self.recurring_payment_id,)


SEARCHED = "transaction id, order number, reference, wallet addresses, tx_hash and account numbers"
"""The strings of `Transaction.searched`, in words."""

TRANSACTIONS = TableKey("transactions", Transaction, per_environment=True, per_owner=True)
ORDERS = TableKey("orders", str, per_environment=True)
"""Order number → the id of the transaction."""
LIGHTNING_PAYMENTS = TableKey("lightning_payments", str, per_environment=True)
"""Receiver key of an invoice or a Lightning address → the id of the last transaction that pays it."""


class NewOrderFields(NewFields):
    """The fields that every new transaction gets."""

    order_id: str
    order_uuid: str


def new_order_fields(world: World, environment: str, owner: str = "") -> NewOrderFields:
    """Return the fields of a transaction that is created now. Its order number is counted per owner."""
    fields = new_fields(world, environment, "txn_", "ids.transaction")
    number = world.next_sequence(f"orders.{holder(environment, owner)}")
    return {**fields, "order_id": f"ORD-{number:08d}", "order_uuid": world.streams.uuid("ids.order")}


def holder(environment: str, owner: str = "") -> str:
    """Return the name of an owner in the ledger: the account ("") or another platform user, in one environment."""
    return f"{environment}:{owner or 'account'}"
