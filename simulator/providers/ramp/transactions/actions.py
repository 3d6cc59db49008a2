"""Functions that find, start and end transactions, credit deposits, and pass transfers to receivers in the same world.

A resource registers its address with `register_receiver`. If the account sends money to it, `deliver` passes the
transfer to the resource, which handles it like a transfer from a third party (decision S9).
"""

from __future__ import annotations

from decimal import Decimal

from simulator.engine.records.advice import advise
from simulator.engine.records.records import announce, create, find, kind_of, move, tell
from simulator.engine.rows.error import invalid
from simulator.engine.rows.kind import Arrival, Record
from simulator.engine.worlds.settings import assumes
from simulator.kernel.dataclass import replace
from simulator.kernel.ledger import OUTSIDE, available
from simulator.kernel.money import Currency
from simulator.kernel.store import TableKey
from simulator.kernel.table import Table
from simulator.kernel.world import World
from simulator.providers.ramp.fees import no_fee
from simulator.providers.ramp.profile import release_limits
from simulator.providers.ramp.reference import new_memo, new_tx_hash, require_tx_hash
from simulator.providers.ramp.transactions.records import (
    BALANCE_TYPES,
    LIGHTNING_PAYMENTS,
    ORDERS,
    TRANSACTIONS,
    Side,
    Transaction,
    holder,
    new_order_fields,
)

LIGHTNING = "lightning"
"""The key that invoices and Lightning addresses use in place of a network."""
RECEIVERS = TableKey("receivers", str, per_environment=True)
"""Maps a receiver key to the id of the resource that receives there."""


def transactions(world: World, environment: str, owner: str = "") -> Table[Transaction]:
    """Return the transactions of the account (or of another platform user) in one environment, oldest first."""
    return world.store[TRANSACTIONS.of(environment, owner)]


def by_order_id(world: World, environment: str, order_id: str) -> Transaction | None:
    """Return the account's transaction with a public order number, or None if there is none."""
    transaction_id = world.store[ORDERS.of(environment)].get(order_id)
    return None if transaction_id is None else transactions(world, environment).get(transaction_id)


def begin(world: World, transaction: Transaction, on: str, when: str = "") -> Transaction:
    """Create a transaction and register its order number."""
    if not transaction.owner:
        world.store[ORDERS.of(transaction.environment)].put(transaction.order_id, transaction.id)
        if transaction.type in BALANCE_TYPES and assumes(world, "S17", "acceptance_is_told"):
            return _begin_announced(world, transaction, on, when, "transaction.created")
        if transaction.type == "deposit" and assumes(world, "S17", "deposits_are_told"):
            return _begin_announced(world, transaction, on, when, "transaction.completed")
    return create(world, transaction, on, when)


def _begin_announced(world: World, transaction: Transaction, on: str, when: str, event_type: str) -> Transaction:
    """Create a transaction. Emit the given event before the events of its first transition."""
    made = create(world, transaction, on, when, announced=False)
    tell(world, made, event_type)
    announce(world, made, on, when)
    return made


def move_released(world: World, transaction: Transaction, on: str, when: str = "") -> Transaction:
    """Apply a transition without success. The amount no longer counts towards the account limits."""
    if assumes(world, "M14", "limits_are_not_given_back"):
        return move(world, transaction, on, when)
    release_limits(world, transaction.environment, transaction.limit_charge)
    return move(world, replace(transaction, limit_charge=None), on, when)


def given_amount(side: Side, text: str | None) -> Decimal:
    """Return the amount in `text`, or the side's full amount if `text` is None. Raise `ApiError` invalid_parameter if
    the amount is zero or has too many decimals.
    """
    if text is None:
        return side.amount
    currency = side.currency
    if not currency.accepts(text) or Decimal(text) == 0:
        raise invalid("amount", f"it must be more than zero, with at most {currency.decimals} decimals")
    return Decimal(text)


def given_tx_hash(world: World, network: str, text: str | None) -> str:
    """Return the transaction hash in `text`, or a new hash. Raise `ApiError` invalid_parameter if it is invalid."""
    require_tx_hash(network, text)
    return text or new_tx_hash(world, network)


def fresh_memo(world: World, environment: str, address: str) -> str:
    """Return a stellar memo that is not yet used with this address."""
    memo = new_memo(world)
    while receiver_at(world, environment, "stellar", address, memo) is not None:
        memo = new_memo(world)
    return memo


def pay_over_lightning(world: World, transaction: Transaction) -> None:
    """Register a transaction as the payment of its Lightning invoice, which can be paid only once (decision S14)."""
    if transaction.lightning is not None:
        key = receiver_key(LIGHTNING, transaction.lightning)
        world.store[LIGHTNING_PAYMENTS.of(transaction.environment)].put(key, transaction.id)


def payment_of(world: World, environment: str, invoice: str) -> Transaction | None:
    """Return the account's last payment to an invoice or Lightning address, in any status, or None."""
    transaction_id = world.store[LIGHTNING_PAYMENTS.of(environment)].get(receiver_key(LIGHTNING, invoice))
    found = find(world, transaction_id) if transaction_id is not None else None
    return found if isinstance(found, Transaction) else None


def credit_deposit(
    world: World,
    environment: str,
    *,
    asset: Currency,
    amount: Decimal,
    tx_hash: str | None = None,
    reference: str | None = None,
    deposit_id: str | None = None,
    recipient_address: str | None = None,
    memo: str | None = None,
    lightning: str | None = None,
    counterparty: str | None = None,
    owner: str = "",
    source: str = OUTSIDE,
) -> Transaction:
    """Credit `amount` to a balance and create a completed transaction of type deposit (decision S12).

    `source` is the ledger account to debit: `OUTSIDE` by default, or the sender's account for an internal transfer.
    """
    credited = Side(asset.code, asset.network, amount)
    transaction = Transaction(
        **new_order_fields(world, environment, owner),
        owner=owner,
        type="deposit",
        paid=credited,
        received=credited,
        amount=amount,
        net_amount=amount,
        fee=no_fee(asset),
        reference=reference,
        recipient_address=recipient_address,
        memo=memo,
        tx_hash=tx_hash,
        deposit_id=deposit_id,
        lightning=lightning,
        counterparty=counterparty,
    )
    world.ledger.move(
        world.now_ms, "deposit", transaction.id, asset.key, amount, source, available(holder(environment, owner))
    )
    return begin(world, transaction, "credit")


def receiver_key(network: str, address: str, memo: str | None = None) -> str:
    """Return the table key of a receiver. It ignores case where addresses do, and includes the memo on stellar."""
    plain = address.lower() if network in ("celo", LIGHTNING) or address[:3].lower() in ("bc1", "tb1") else address
    return f"{network}|{plain}|{memo or ''}" if network == "stellar" else f"{network}|{plain}"


def register_receiver(world: World, record: Record, network: str, address: str, memo: str | None = None) -> None:
    """Register a resource as the receiver for an address (and memo), in the transaction that creates it."""
    world.store[RECEIVERS.of(record.environment)].put(receiver_key(network, address, memo), record.id)


def receiver_at(world: World, environment: str, network: str, address: str, memo: str | None = None) -> Record | None:
    """Return the resource of this world that has the given address, or None if the address is external."""
    record_id = world.store[RECEIVERS.of(environment)].get(receiver_key(network, address, memo))
    return None if record_id is None else find(world, record_id)


def deliver(world: World, environment: str, network: str, address: str, memo: str | None, arrival: Arrival) -> None:
    """Credit a transfer to the wallet or order that has its address. If the address is external, do nothing."""
    record = receiver_at(world, environment, network, address, memo)
    receives = None if record is None else kind_of(world, record).receives
    if record is not None and receives is not None and not receives(world, record, arrival):
        advise(
            world,
            "payment_not_taken",
            "error",
            f"The transfer {arrival.sender_id} was not credited, because {record.id} has the status {record.status}.",
            "Before you pay an order, invoice or address, check its status and expiry.",
            arrival.sender_id,
            record.id,
        )
