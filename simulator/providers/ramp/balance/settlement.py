"""Actions of third parties on wallet transactions: payers pay, chains confirm, payouts arrive or fail (decisions M11,
S3 to S11, S14, S16). Each transfer is one balanced ledger entry.
"""

from __future__ import annotations

from simulator.engine.records.records import move, present
from simulator.engine.rows.action import Action, ActionCall
from simulator.engine.rows.kind import Arrival
from simulator.engine.text.fields import Nothing
from simulator.engine.worlds.settings import assumes
from simulator.kernel.dataclass import replace
from simulator.kernel.ledger import OUTSIDE, Posting, available
from simulator.kernel.money import subtract
from simulator.kernel.world import World
from simulator.providers.ramp import ramps, transactions
from simulator.providers.ramp.deposit_wallets import payment_failed
from simulator.providers.ramp.fees import FEES
from simulator.providers.ramp.ramps import FailureParameters, PaymentParameters, TxHashParameters
from simulator.providers.ramp.reference import new_tx_hash
from simulator.providers.ramp.transactions import Transaction


def _credit(world: World, transaction: Transaction, purpose: str, sign: int) -> None:
    """Post a purchase: the fiat fee to the fee account, the crypto to the balance. If `sign` is -1, reverse it."""
    paid, received = transaction.paid.currency, transaction.received.currency
    fee, amount = sign * transaction.fee.total, sign * transaction.received.amount
    pot = available(transactions.holder(transaction.environment))
    world.ledger.post(
        world.now_ms,
        purpose,
        transaction.id,
        Posting(OUTSIDE, paid.key, -fee),
        Posting(FEES, paid.key, fee),
        Posting(OUTSIDE, received.key, -amount),
        Posting(pot, received.key, amount),
    )


# --- buy -------------------------------------------------------------------------------------------------


def payment_arrives(call: ActionCall[Transaction, PaymentParameters]) -> Transaction:
    """Receive the payer's fiat, and credit the quoted crypto. If less than the full amount arrives, fail (S6)."""
    world, buy = call.world, call.target
    amount = transactions.given_amount(buy.paid, call.parameters.amount)
    buy = replace(buy, funds_received=amount)
    if amount < buy.paid.amount:
        return transactions.move_released(
            world, replace(buy, failure_code="insufficient_payment"), "payment_arrives", "short"
        )
    _credit(world, buy, "purchase", 1)
    buy = move(world, buy, "payment_arrives", "in full")
    return move(world, buy, "complete") if assumes(world, "S7", "completed_when_paid") else buy


def complete_buy(call: ActionCall[Transaction, TxHashParameters]) -> Transaction:
    return move(call.world, call.target, "complete")


def credit_is_unspent(world: World, buy: Transaction) -> str | None:
    """Return the reason why a buy cannot fail, or None. A paid buy can fail while its credit is unspent (S7)."""
    if buy.status != "processing":
        return None
    balance = world.ledger.balance(available(transactions.holder(buy.environment)), buy.received.currency.key)
    return "the credited amount is already spent" if balance < buy.received.amount else None


def fail_buy(call: ActionCall[Transaction, FailureParameters]) -> Transaction:
    """Fail a buy. If the buy was paid, reverse the credit. Stop counting the buy towards the account limits."""
    world, buy = call.world, call.target
    if buy.status == "processing":
        _credit(world, buy, "purchase taken back", -1)
    return transactions.move_released(world, replace(buy, failure_code=call.parameters.failure_code), "fail")


# --- send ------------------------------------------------------------------------------------------------


def broadcast(call: ActionCall[Transaction, TxHashParameters]) -> Transaction:
    """Broadcast a send. A Lightning payment has no transaction hash (decisions S9, S14)."""
    return broadcast_send(call.world, call.target, call.parameters.tx_hash)


def broadcast_send(world: World, send: Transaction, given: str | None = None) -> Transaction:
    """Broadcast a send on its chain (decision S16)."""
    late = assumes(world, "S16", "send_hash_at_completion")
    return move(world, replace(send, tx_hash=None if late else _send_hash(world, send, given)), "broadcast")


def complete_send(call: ActionCall[Transaction, TxHashParameters]) -> Transaction:
    """Complete a send: post the held amount, and credit a recipient in this world (decision S9). The transaction keeps
    the hash from the broadcast unless another hash is given.
    """
    world, send, given = call.world, call.target, call.parameters.tx_hash
    tx_hash = _send_hash(world, send, given) if given is not None or send.tx_hash is None else send.tx_hash
    world.ledger.post_hold(world.now_ms, send.id, send.fee.total, FEES)
    send = move(world, replace(send, tx_hash=tx_hash), "complete")
    network = transactions.LIGHTNING if send.lightning is not None else send.received.chain
    address = send.lightning or present(send.recipient_address)
    arrival = Arrival(send.received.code, send.received.amount, tx_hash, send.id)
    transactions.deliver(world, send.environment, network, address, send.memo, arrival)
    return send


def decided_outside(world: World, send: Transaction) -> str | None:
    """Return the reason why third parties cannot decide a send, or None: they take no part in internal transfers."""
    return None if send.counterparty is None else "a transfer inside the service completes by itself"


def _send_hash(world: World, send: Transaction, given: str | None) -> str | None:
    if send.lightning is not None:
        return None
    return transactions.given_tx_hash(world, send.paid.chain, given)


def fail_held(call: ActionCall[Transaction, FailureParameters]) -> Transaction:
    """Fail a send or swap and release the held amount (M11). An invoice that it paid can expire again (S13)."""
    world = call.world
    world.ledger.void_hold(world.now_ms, call.target.id)
    failed = move(world, replace(call.target, failure_code=call.parameters.failure_code), "fail")
    if failed.lightning is not None:
        payment_failed(world, failed.environment, failed.lightning)
    return failed


# --- swap ------------------------------------------------------------------------------------------------


def complete_swap(call: ActionCall[Transaction, TxHashParameters]) -> Transaction:
    """Complete a swap (decision M8). A swap between two networks has a hash on each of them (decision S18)."""
    return settle_swap(call.world, call.target, call.parameters.tx_hash)


def settle_swap(world: World, swap: Transaction, given: str | None = None) -> Transaction:
    """Complete a swap. `given` is the transaction hash on the target network, or None to generate a hash."""
    tx_hash = transactions.given_tx_hash(world, swap.received.chain, given)
    source = swap.paid.chain
    source_tx_hash = None if source == swap.received.network else new_tx_hash(world, source)
    world.ledger.post_hold(world.now_ms, swap.id, swap.fee.total, FEES)
    pot = available(transactions.holder(swap.environment))
    world.ledger.move(world.now_ms, "swap", swap.id, swap.received.currency.key, swap.received.amount, OUTSIDE, pot)
    return move(world, replace(swap, tx_hash=tx_hash, source_tx_hash=source_tx_hash), "complete")


# --- withdraw --------------------------------------------------------------------------------------------


def complete_withdraw(call: ActionCall[Transaction, TxHashParameters]) -> Transaction:
    """Complete a payout: the beneficiary has received the fiat, so the held amount is posted (decision S10)."""
    call.world.ledger.post_hold(call.world.now_ms, call.target.id, call.target.fee.total, FEES)
    return move(call.world, call.target, "complete")


def refund_withdraw(call: ActionCall[Transaction, Nothing]) -> Transaction:
    """Refund the full amount, including the fee, to the balance (decision S5)."""
    return _give_back(call.world, call.target)


def fail_withdraw(call: ActionCall[Transaction, FailureParameters]) -> Transaction:
    """Fail a payout. The amount stays held until it is refunded (decision M11)."""
    world, failed = call.world, ramps.fail(call)
    if assumes(world, "S10", "refunded_when_it_fails"):
        return _give_back(world, failed)
    if assumes(world, "M11", "failed_withdrawal_is_released"):
        world.ledger.void_hold(world.now_ms, failed.id)
    return failed


def _give_back(world: World, withdrawal: Transaction) -> Transaction:
    pot, key = available(transactions.holder(withdrawal.environment)), withdrawal.paid.currency.key
    if withdrawal.status == "completed":
        amount, fee = withdrawal.paid.amount, withdrawal.fee.total
        world.ledger.post(
            world.now_ms,
            "refund",
            withdrawal.id,
            Posting(OUTSIDE, key, -subtract(amount, fee)),
            Posting(FEES, key, -fee),
            Posting(pot, key, amount),
        )
    elif world.ledger.pending_hold(withdrawal.id) is None:  # the hold was released when the payout failed
        return transactions.move_released(world, withdrawal, "refund")
    else:
        world.ledger.void_hold(world.now_ms, withdrawal.id)
    if assumes(world, "S5", "fee_is_kept"):
        world.ledger.move(world.now_ms, "fee of a refund", withdrawal.id, key, withdrawal.fee.total, pot, FEES)
    return transactions.move_released(world, withdrawal, "refund")


ACTIONS = (
    Action("payment_arrives", "the payer's fiat is received", payment_arrives, ("buy",), lambda: PaymentParameters),
    Action("payment_declined", "the payer's provider declines", ramps.payment_declined, ("buy",)),
    Action(
        "broadcast",
        "the chain has the transaction",
        broadcast,
        ("send",),
        lambda: TxHashParameters,
        networks=Transaction.paid_on,
    ),
    Action(
        "complete",
        "the chain or the Lightning network confirms",
        complete_send,
        ("send",),
        lambda: TxHashParameters,
        guard=decided_outside,
        networks=Transaction.received_on,
    ),
    Action(
        "complete",
        "the swap is executed",
        complete_swap,
        ("swap",),
        lambda: TxHashParameters,
        networks=lambda swap: (*swap.paid_on(), *swap.received_on()),
    ),
    Action(
        "complete",
        "the purchase is final",
        complete_buy,
        ("buy",),
        lambda: TxHashParameters,
        networks=Transaction.received_on,
    ),
    Action("complete", "the beneficiary is paid", complete_withdraw, ("withdraw",), lambda: TxHashParameters),
    Action("fail", "the transaction fails", fail_held, ("send",), lambda: FailureParameters, guard=decided_outside),
    Action("fail", "the transaction fails", fail_held, ("swap",), lambda: FailureParameters),
    Action("fail", "the transaction fails", fail_buy, ("buy",), lambda: FailureParameters, guard=credit_is_unspent),
    Action("fail", "the transaction fails", fail_withdraw, ("withdraw",), lambda: FailureParameters),
    Action("refund", "the full amount goes back to the balance", refund_withdraw, ("withdraw",)),
)
