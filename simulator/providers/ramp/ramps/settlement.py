"""Actions of third parties on ramps: payers pay, deposits arrive, conversions and payouts finish or fail (decisions S1,
S3 to S6, S9, S16). Each transfer is one balanced ledger entry.
"""

from __future__ import annotations

from decimal import Decimal

from simulator.engine.records.advice import advise
from simulator.engine.records.records import existing, move, present
from simulator.engine.rows.action import Action, ActionCall
from simulator.engine.rows.kind import Arrival
from simulator.engine.text.fields import Nothing
from simulator.engine.worlds.settings import assumes
from simulator.kernel.agenda import Timer
from simulator.kernel.dataclass import replace
from simulator.kernel.ledger import OUTSIDE, Posting
from simulator.kernel.money import ZERO, negated, subtract
from simulator.kernel.world import World
from simulator.providers.ramp.fees import FEES
from simulator.providers.ramp.ramps import bodies
from simulator.providers.ramp.ramps.operations import DEADLINE
from simulator.providers.ramp.reference import new_tx_hash, require_tx_hash
from simulator.providers.ramp.transactions import Transaction, deliver, given_amount, given_tx_hash, move_released

CLEARING = "clearing"

_RAMPS = ("onramp", "offramp")


def lapse(world: World, timer: Timer) -> None:
    """Expire a ramp when its payment or deposit is overdue. The deadline is the quote's expires_at (decision S1)."""
    move_released(world, existing(world, Transaction, timer.target), "expire")


def payment_arrives(call: ActionCall[Transaction, bodies.PaymentParameters]) -> Transaction:
    """Receive the payer's fiat. Too much is accepted. If too little arrives, the onramp fails (decision S6)."""
    amount = given_amount(call.target.paid, call.parameters.amount)
    return _receive(call.world, call.target, "payment_arrives", amount, "insufficient_payment")


def deposit_arrives(call: ActionCall[Transaction, bodies.RampDepositParameters]) -> Transaction:
    """Receive the crypto deposit. A deposit with the wrong asset or memo is not matched (decision S6)."""
    world, ramp, values = call.world, call.target, call.parameters
    amount = given_amount(ramp.paid, values.amount)
    require_tx_hash(ramp.paid.chain, values.tx_hash)
    wrong_asset = values.asset is not None and values.asset != ramp.paid.code
    wrong_memo = ramp.memo is not None and values.memo is not None and values.memo != ramp.memo
    if wrong_asset or wrong_memo:
        return _unmatched(world, ramp, "asset" if wrong_asset else "memo")
    ramp = replace(ramp, tx_hash=values.tx_hash or new_tx_hash(world, ramp.paid.chain))
    return _receive(world, ramp, "deposit_arrives", amount, "insufficient_deposit")


def _unmatched(world: World, ramp: Transaction, what: str) -> Transaction:
    advise(
        world,
        "deposit_not_matched",
        "error",
        f"A deposit to {ramp.id} has the wrong {what}, so it was not matched to the order.",
        "Send exactly deposit.amount of deposit.asset. On stellar, include deposit.memo.",
        ramp.id,
    )
    return ramp


def receive(world: World, ramp: Transaction, arrival: Arrival) -> bool:
    """Receive a deposit that the account itself sent, by the same rules as any other (decisions S6, S9). Return False
    if the offramp is not waiting for a deposit.
    """
    if ramp.status != "awaiting_deposit":
        return False
    if arrival.asset != ramp.paid.code:
        _unmatched(world, ramp, "asset")
    else:
        ramp = replace(ramp, tx_hash=arrival.tx_hash)
        _receive(world, ramp, "deposit_arrives", arrival.amount, "insufficient_deposit")
    return True


def _receive(world: World, ramp: Transaction, on: str, amount: Decimal, shortage: str) -> Transaction:
    world.agenda.cancel(DEADLINE, ramp.id)
    world.ledger.move(world.now_ms, "receipt", ramp.id, ramp.paid.currency.key, amount, OUTSIDE, CLEARING)
    ramp = replace(ramp, funds_received=amount)
    if amount >= ramp.paid.amount:
        return move(world, ramp, on, "in full")
    if assumes(world, "S6", "short_is_processed_first"):
        ramp = move(world, ramp, on, "in full")
        return move_released(world, replace(ramp, failure_code=shortage), "fail")
    return move_released(world, replace(ramp, failure_code=shortage), on, "short")


def payment_declined(call: ActionCall[Transaction, Nothing]) -> Transaction:
    """Fail an onramp because the payer declined the payment (decision S3)."""
    if assumes(call.world, "S3", "payer_may_try_again"):
        return call.target
    call.world.agenda.cancel(DEADLINE, call.target.id)
    return move_released(call.world, replace(call.target, failure_code="payment_failed"), "payment_declined")


def complete(call: ActionCall[Transaction, bodies.TxHashParameters]) -> Transaction:
    """Finish the conversion or payout. For an onramp, this sets tx_hash (decision S16)."""
    world, ramp = call.world, call.target
    if ramp.type == "onramp":
        ramp = replace(ramp, tx_hash=given_tx_hash(world, ramp.received.chain, call.parameters.tx_hash))
    received, fee, key = ramp.funds_received or ZERO, ramp.fee.total, ramp.paid.currency.key
    # If the exact amount arrived, the entry and the transaction share one object.
    net_amount = ramp.net_amount if received is ramp.amount else subtract(received, fee)
    world.ledger.post(
        world.now_ms,
        "conversion",
        ramp.id,
        Posting(CLEARING, key, negated(received)),
        Posting(FEES, key, fee),
        Posting(OUTSIDE, key, net_amount),
    )
    ramp = move(world, ramp, "complete")
    if ramp.type == "onramp":
        paid_out = Arrival(ramp.received.code, ramp.received.amount, ramp.tx_hash, ramp.id)
        address = present(ramp.recipient_address)
        deliver(world, ramp.environment, ramp.received.chain, address, ramp.memo, paid_out)
    return ramp


def fail(call: ActionCall[Transaction, bodies.FailureParameters]) -> Transaction:
    """Fail a conversion or payout. The service keeps the funds until they are refunded."""
    return move_released(call.world, replace(call.target, failure_code=call.parameters.failure_code), "fail")


def refund(call: ActionCall[Transaction, Nothing]) -> Transaction:
    """Return the received funds, including the fee, to the payer or the refund_address (decision S5)."""
    world, ramp = call.world, call.target
    key, received = ramp.paid.currency.key, ramp.funds_received or ZERO
    if ramp.status == "completed":
        fee = ramp.fee.total
        world.ledger.post(
            world.now_ms,
            "reversal",
            ramp.id,
            Posting(OUTSIDE, key, -subtract(received, fee)),
            Posting(FEES, key, -fee),
            Posting(CLEARING, key, received),
        )
    kept_fee = min(ramp.fee.total, received) if assumes(world, "S5", "fee_is_kept") else ZERO
    world.ledger.move(world.now_ms, "refund", ramp.id, key, subtract(received, kept_fee), CLEARING, OUTSIDE)
    if kept_fee:
        world.ledger.move(world.now_ms, "fee of a refund", ramp.id, key, kept_fee, CLEARING, FEES)
    return move_released(world, ramp, "refund")


def has_funds(world: World, ramp: Transaction) -> str | None:
    """Return the reason why a ramp cannot be refunded, or None. Only received funds can be refunded (decision S5)."""
    return None if ramp.funds_received is not None else "no funds were received, so there is nothing to refund"


ACTIONS = (
    Action(
        "payment_arrives",
        "the payer's fiat is received",
        payment_arrives,
        ("onramp",),
        lambda: bodies.PaymentParameters,
    ),
    Action("payment_declined", "the payer's provider declines", payment_declined, ("onramp",)),
    Action(
        "deposit_arrives",
        "the crypto deposit is confirmed on-chain",
        deposit_arrives,
        ("offramp",),
        lambda: bodies.RampDepositParameters,
        networks=Transaction.paid_on,
    ),
    Action(
        "complete",
        "conversion, payout or settlement finishes",
        complete,
        _RAMPS,
        lambda: bodies.TxHashParameters,
        networks=Transaction.received_on,
    ),
    Action("fail", "the transaction fails", fail, _RAMPS, lambda: bodies.FailureParameters),
    Action("refund", "funds go back", refund, _RAMPS, guard=has_funds, networks=Transaction.paid_on),
)
