"""Timers of recurring payments: the notice a day before a run, the run itself, pausing and completing (section "Run
behaviour").

Decisions S4 (codes of failed runs), S19, S21 and W8. If a step of a run fails, all its steps are undone, but the
failed run is still recorded and its event is sent.
"""

from __future__ import annotations

from simulator.engine.records.origins import origin_of
from simulator.engine.records.records import existing, move, present
from simulator.engine.rows.error import ApiError
from simulator.engine.worlds.settings import assumes
from simulator.kernel.agenda import Timer
from simulator.kernel.clock import DAY_MS
from simulator.kernel.dataclass import replace
from simulator.kernel.world import World
from simulator.providers.ramp import balance
from simulator.providers.ramp.beneficiaries import beneficiary
from simulator.providers.ramp.profile import require_active, require_kyc
from simulator.providers.ramp.recurring import shapes
from simulator.providers.ramp.recurring.records import RecurringPayment
from simulator.providers.ramp.recurring.rendering import render_run
from simulator.providers.ramp.recurring.states import FAILURES_TO_PAUSE
from simulator.providers.ramp.reference import FIATS
from simulator.providers.ramp.transactions import Transaction

RUN = "recurring_payment.run"
NOTICE = "recurring_payment.run_upcoming"
NOTICE_MS = DAY_MS


def plan_next(world: World, payment: RecurringPayment) -> None:
    """Schedule the run at `next_run_at_ms`, and its notice 24 hours earlier or now if that time has passed."""
    assert payment.next_run_at_ms is not None
    world.agenda.plan(payment.next_run_at_ms, RUN, payment.id)
    notice_at_ms = payment.next_run_at_ms - NOTICE_MS
    if notice_at_ms > world.now_ms:
        world.agenda.plan(notice_at_ms, NOTICE, payment.id)
    elif not assumes(world, "S21", "only_a_day_before"):
        _announce(world, payment)


def cancel_runs(world: World, payment: RecurringPayment) -> None:
    """Cancel the scheduled run and its notice."""
    world.agenda.cancel(RUN, payment.id)
    world.agenda.cancel(NOTICE, payment.id)


def announce_run(world: World, timer: Timer) -> None:
    """Send the notice about a run (decision S21)."""
    _announce(world, existing(world, RecurringPayment, timer.target))


def _announce(world: World, payment: RecurringPayment) -> None:
    upcoming = render_run(payment.runs_executed + 1, present(payment.next_run_at_ms), {})
    move(world, payment, "announce_run", extra=upcoming)


def run(world: World, timer: Timer) -> None:
    """Execute a run: pay and emit the result. Then schedule the next run, or pause or complete the payment."""
    payment = existing(world, RecurringPayment, timer.target)
    number, scheduled_for_ms = payment.runs_executed + 1, present(payment.next_run_at_ms)
    try:
        # If the payment fails, `attempt` undoes everything that the payment wrote, including its quote. The run itself
        # stays recorded.
        with world.store.attempt(), world.change(world.cause, origin_of(world, payment.id)):
            transaction = _pay(world, payment, number)
    except ApiError as error:
        succeeded, outcome = False, shapes.RunOutcome(failure_code=failure_code(error))
    else:
        succeeded, outcome = True, shapes.RunOutcome(transaction_id=transaction.id)
    counts = succeeded or not assumes(world, "S19", "failed_runs_do_not_count")
    after = replace(
        payment,
        runs_executed=number if counts else payment.runs_executed,
        last_run_ms=scheduled_for_ms,
        runs_completed=payment.runs_completed + succeeded,
        failures_in_a_row=0 if succeeded else payment.failures_in_a_row + 1,
    )
    after = replace(after, next_run_at_ms=after.next_moment(world.now_ms))
    ran = "run_succeeds" if succeeded else "run_fails"
    after = move(world, after, ran, extra=render_run(number, scheduled_for_ms, outcome))
    if after.next_run_at_ms is None:
        move(world, after, "finish")
    elif after.failures_in_a_row >= FAILURES_TO_PAUSE:
        paused = replace(after, next_run_at_ms=None, paused_at_ms=world.now_ms, pause_reason="repeated_failures")
        move(world, paused, "fail_repeatedly")
    else:
        plan_next(world, after)


def require_runnable(world: World, payment: RecurringPayment) -> None:
    """Raise `ApiError` if no run could succeed, even with enough balance and without account limits (decision S20).

    The error is 404 if the beneficiary was deleted. It is 422 if the amount is outside the fee product's limits at the
    current rate, if the fee product is inactive (M15), or if the destination can no longer be paid.
    """
    if payment.type == "send":
        destination = balance.parse_destination(present(payment.destination))
        balance.price_send_to(world, payment.environment, payment.source, payment.amount, destination)
    else:
        balance.estimate_withdraw(world, payment.environment, _payout(world, payment))


def _payout(world: World, payment: RecurringPayment) -> balance.Payout:
    """Return the terms of one withdrawal. Raise `ApiError` 404 if the beneficiary was deleted."""
    recipient = beneficiary(world, payment.environment, present(payment.beneficiary_id))
    money, in_fiat = FIATS[present(recipient.fiat_currency)], payment.amount_currency != payment.symbol
    return balance.Payout(recipient, payment.source, money, payment.amount, in_fiat)


def _pay(world: World, payment: RecurringPayment, number: int) -> Transaction:
    """Make one payment as an integrator would. Raise `ApiError` if it or one of the access checks fails."""
    require_active(world)
    require_kyc(world)
    environment = payment.environment
    mark = "_" if assumes(world, "S19", "suffix_after_an_underscore") else "-"
    tags: balance.Tags = {
        "reference": None if payment.reference is None else f"{payment.reference}{mark}{number}",
        "description": payment.description,
        "recurring_payment_id": payment.id,
        "run_number": number,
    }
    if payment.type == "send":
        destination = balance.parse_destination(present(payment.destination))
        return balance.create_send(world, environment, payment.source, payment.amount, destination, tags)
    quote = balance.make_withdraw_quote(world, environment, _payout(world, payment))
    return balance.execute_withdraw(world, quote, tags)


def failure_code(error: ApiError) -> str:
    """Return the failure code for a run that was rejected with an error (decision S4)."""
    if error.param == "beneficiary_id" and error.code in ("not_found", "invalid_parameter"):
        return "beneficiary_deleted"
    return error.code if error.code in shapes.FAILURE_MEANINGS else "internal_error"
