"""What the outside world does to wallet transactions: payers pay, chains confirm, payouts arrive or bounce.

Decisions M11 and S3 to S11, S14, S16. Every movement is one balanced entry of the ledger.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from simulator.kernel.ledger import FEES, OUTSIDE, Posting, available
from simulator.kernel.money import Currency, subtract
from simulator.kernel.world import World
from simulator.resources.balance.bodies import Broadcast, Completion, Failure, Payment
from simulator.resources.profile import give_back
from simulator.resources.ramps import check_payment
from simulator.resources.reference import check_tx_hash, currency_of, is_tx_hash, new_tx_hash
from simulator.resources.transactions import Transaction, holder
from simulator.wire.arrivals import LIGHTNING, Arrival, deliver
from simulator.wire.errors import invalid
from simulator.wire.fields import Wrong
from simulator.wire.records import move
from simulator.wire.triggers import Push, Trigger


def _paid(transaction: Transaction) -> Currency:
    return currency_of(transaction.paid.code, transaction.paid.network)


def _received(transaction: Transaction) -> Currency:
    return currency_of(transaction.received.code, transaction.received.network)


def _credit(world: World, transaction: Transaction, purpose: str, sign: int) -> None:
    """A purchase: the fiat fee to the fees and the crypto to the balance, or with sign -1 both taken back."""
    paid, received = _paid(transaction), _received(transaction)
    fee, amount = sign * transaction.fee.total, sign * transaction.received.amount
    pot = available(holder(transaction.environment))
    world.ledger.post(
        world.now_ms,
        purpose,
        transaction.id,
        Posting(OUTSIDE, paid.key, -fee),
        Posting(FEES, paid.key, fee),
        Posting(OUTSIDE, received.key, -amount),
        Posting(pot, received.key, amount),
    )


def _move(push: Push, trigger: str, when: str = "", **changes: Any) -> Transaction:
    transaction: Transaction = push.target
    return move(push.world, transaction, trigger, when, **changes)


# --- buy -------------------------------------------------------------------------------------------------


def payment_arrives(push: Push) -> Transaction:
    """The payer's fiat: in full or over, and the quoted crypto is credited; short, and the buy fails (decision S6)."""
    world, buy = push.world, push.target
    amount = _payment(push.parameters.amount, _paid(buy), buy.paid.amount)
    if amount < buy.paid.amount:
        give_back(world, buy.environment, buy.counted)
        return _move(
            push,
            "payment_arrives",
            "short",
            failure_code="insufficient_payment",
            funds_received=amount,
            counted=None,
        )
    _credit(world, buy, "purchase", 1)
    return _move(push, "payment_arrives", "in full", funds_received=amount)


def _payment(text: str | None, money: Currency, default: Decimal) -> Decimal:
    if text is None:
        return default
    if not money.accepts(text) or Decimal(text) == 0:
        raise invalid("amount", f"it must be more than zero, with at most {money.decimals} decimals")
    return Decimal(text)


def payment_declined(push: Push) -> Transaction:
    """The payer's provider declines (decision S3)."""
    give_back(push.world, push.environment, push.target.counted)
    return _move(push, "payment_declined", failure_code="payment_failed", counted=None)


def complete_buy(push: Push) -> Transaction:
    return _move(push, "complete")


def may_fail_buy(world: World, buy: Transaction) -> bool:
    """An unpaid buy, or a paid one whose credit is still there to be taken back (decision S7)."""
    if buy.status == "pending":
        return True
    balance = world.ledger.balance(available(holder(buy.environment)), _received(buy).key)
    return buy.status == "processing" and balance >= buy.received.amount


def fail_buy(push: Push) -> Transaction:
    """It cannot finish: what was credited is taken back, and the account limits get it back."""
    world, buy = push.world, push.target
    if buy.status == "processing":
        _credit(world, buy, "purchase taken back", -1)
    give_back(world, buy.environment, buy.counted)
    return _move(push, "fail", failure_code=push.parameters.failure_code, counted=None)


# --- send ------------------------------------------------------------------------------------------------


def broadcast(push: Push) -> Transaction:
    """The chain has the transaction; a Lightning payment leaves without a hash (decisions S9, S14)."""
    return _move(push, "broadcast", tx_hash=_send_hash(push))


def complete_send(push: Push) -> Transaction:
    """The chain has confirmed: what was held is spent, and arrives where this world receives (decision S9).

    The hash is that of the broadcast unless another is given.
    """
    world, send = push.world, push.target
    tx_hash = send.tx_hash if push.parameters.tx_hash is None else _send_hash(push)
    world.ledger.post_hold(world.now_ms, send.id, send.fee.total)
    send = _move(push, "complete", tx_hash=tx_hash)
    network = LIGHTNING if send.lightning is not None else send.received.network or ""
    address = send.lightning or send.recipient_address or ""
    arrival = Arrival(send.received.code, send.received.amount, tx_hash, send.id)
    deliver(world, send.environment, network, address, send.memo, arrival)
    return send


def may_complete_send(world: World, send: Transaction) -> bool:
    """A send that is on its way; a transfer inside the service completes by law."""
    return send.status == "processing" and send.counterparty is None


def may_fail_send(world: World, send: Transaction) -> bool:
    return send.status in ("pending", "processing") and send.counterparty is None


def _send_hash(push: Push) -> str | None:
    if push.target.lightning is not None:
        return None
    return _tx_hash(push, push.target.paid.network)


def fail_held(push: Push) -> Transaction:
    """A send or swap cannot finish: what is held goes back at once (decision M11)."""
    world = push.world
    world.ledger.void_hold(world.now_ms, push.target.id)
    return _move(push, "fail", failure_code=push.parameters.failure_code)


# --- swap ------------------------------------------------------------------------------------------------


def complete_swap(push: Push) -> Transaction:
    """What is held is spent, the quote's to.amount is credited (decision M8); each network has a hash (S18)."""
    world, swap = push.world, push.target
    tx_hash = _tx_hash(push, swap.received.network)
    source = swap.paid.network
    source_tx_hash = None if source == swap.received.network else new_tx_hash(world, source)
    world.ledger.post_hold(world.now_ms, swap.id, swap.fee.total)
    pot = available(holder(swap.environment))
    world.ledger.move(world.now_ms, "swap", swap.id, _received(swap).key, swap.received.amount, OUTSIDE, pot)
    return _move(push, "complete", tx_hash=tx_hash, source_tx_hash=source_tx_hash)


# --- withdraw --------------------------------------------------------------------------------------------


def complete_withdraw(push: Push) -> Transaction:
    """The beneficiary has the fiat; what was held is spent (decision S10)."""
    push.world.ledger.post_hold(push.world.now_ms, push.target.id, push.target.fee.total)
    return _move(push, "complete")


def fail_withdraw(push: Push) -> Transaction:
    """The payout bounced: its amount stays held until it is refunded (decision M11)."""
    give_back(push.world, push.environment, push.target.counted)
    return _move(push, "fail", failure_code=push.parameters.failure_code, counted=None)


def refund_withdraw(push: Push) -> Transaction:
    """The full amount, fee included, goes back to the balance (decision S5)."""
    world, withdrawal = push.world, push.target
    if withdrawal.status == "completed":
        key, amount, fee = _paid(withdrawal).key, withdrawal.paid.amount, withdrawal.fee.total
        world.ledger.post(
            world.now_ms,
            "refund",
            withdrawal.id,
            Posting(OUTSIDE, key, -subtract(amount, fee)),
            Posting(FEES, key, -fee),
            Posting(available(holder(withdrawal.environment)), key, amount),
        )
    else:
        world.ledger.void_hold(world.now_ms, withdrawal.id)
    give_back(world, withdrawal.environment, withdrawal.counted)
    return _move(push, "refund", counted=None)


# --- hashes ----------------------------------------------------------------------------------------------


def _tx_hash(push: Push, network: str) -> str:
    given: str | None = push.parameters.tx_hash
    if given is not None and not is_tx_hash(network, given):
        raise invalid("tx_hash", f"it is not a transaction hash of {network}")
    return given or new_tx_hash(push.world, network)


def _check_hash(values: Broadcast | Completion) -> Iterator[Wrong]:
    return check_tx_hash(values.tx_hash)


TRIGGERS = (
    Trigger("payment_arrives", "the payer's fiat is received", payment_arrives, ("buy",), Payment, check=check_payment),
    Trigger("payment_declined", "the payer's provider declines", payment_declined, ("buy",)),
    Trigger("broadcast", "the chain has the transaction", broadcast, ("send",), Broadcast, check=_check_hash),
    Trigger(
        "complete",
        "the chain or the Lightning network confirms",
        complete_send,
        ("send",),
        Completion,
        legal=may_complete_send,
        check=_check_hash,
    ),
    Trigger("complete", "the swap is executed", complete_swap, ("swap",), Completion, check=_check_hash),
    Trigger("complete", "the purchase is final", complete_buy, ("buy",), Completion, check=_check_hash),
    Trigger("complete", "the beneficiary is paid", complete_withdraw, ("withdraw",), Completion, check=_check_hash),
    Trigger("fail", "it cannot finish", fail_held, ("send",), Failure, legal=may_fail_send),
    Trigger("fail", "it cannot finish", fail_held, ("swap",), Failure),
    Trigger("fail", "it cannot finish", fail_buy, ("buy",), Failure, legal=may_fail_buy),
    Trigger("fail", "it cannot finish", fail_withdraw, ("withdraw",), Failure),
    Trigger("refund", "the full amount goes back to the balance", refund_withdraw, ("withdraw",)),
)
