"""Operations on recurring payments except their creation (section "Recurring payments"; decisions S19, S20, S21, S23).
`runs` handles timers.
"""

from __future__ import annotations

from simulator.engine.records.conditions import field_getter
from simulator.engine.records.listing import CREATION_DATES, DATES, Listing, ListRequest, by_field, page_of
from simulator.engine.records.records import by_id, move, page, present, remove, render, save
from simulator.engine.rows.error import ApiError, invalid
from simulator.engine.rows.operation import Call, Variants, specified
from simulator.engine.text.fields import Nothing
from simulator.engine.text.json import Shown
from simulator.engine.text.shapes import Page
from simulator.engine.worlds.settings import assumes
from simulator.kernel.clock import format_timestamp
from simulator.kernel.dataclass import replace
from simulator.kernel.world import World
from simulator.providers.ramp.recurring import bodies, rendering, shapes
from simulator.providers.ramp.recurring.creating import operation
from simulator.providers.ramp.recurring.estimates import estimate
from simulator.providers.ramp.recurring.records import PAYMENTS, TYPE_MEANINGS, RecurringPayment
from simulator.providers.ramp.recurring.runs import cancel_runs, plan_next, require_runnable
from simulator.providers.ramp.recurring.schedule import Schedule, today, zone_names
from simulator.providers.ramp.recurring.states import MEANINGS
from simulator.providers.ramp.transactions import SEARCHED, Transaction, transactions
from simulator.providers.ramp.transactions import STATUSES as TRANSACTION_STATUSES

_FIND = by_id(PAYMENTS, "recurring payment")

_START_ERRORS = specified("invalid_state") | {
    "amount_too_low": "S20",
    "amount_too_high": "S20",
    "unsupported_pair": "M15",
    "invoice_expired": "start-checks",
}
"""The errors when a payment is activated or restarted although no run could succeed."""
NEXT_RUNS_SHOWN = 3


def check_schedule(call: Call[bodies.ScheduleBody, None, RecurringPayment]) -> None:
    """Raise `ApiError` 400 for an unknown time zone, a start_date before today, or an end before the start."""
    body = call.body
    if body.timezone not in zone_names():
        raise invalid("timezone", "it must be the IANA name of a time zone, for example Africa/Nairobi")
    _not_before_today(call.world, body.start_date, body.timezone)
    if body.end.date is not None and body.end.type == "on_date" and body.end.date < body.start_date:
        raise invalid("end.date", "it must not be before start_date")


def _not_before_today(world: World, start_date: str, timezone: str) -> None:
    if start_date < today(timezone, world.now_ms).isoformat():
        raise invalid("start_date", f"it must be today or later ({timezone})")


@operation(
    "PUT /recurring-payments/{id}/schedule",
    "Set the schedule of a draft or paused recurring payment",
    variants=Variants("frequency", lambda: bodies.SCHEDULES),
    check=check_schedule,
    load=_FIND,
    errors=("invalid_state",),
    statuses=("draft", "paused"),
)
def set_recurring_schedule(call: Call[bodies.ScheduleBody, None, RecurringPayment]) -> shapes.RecurringPaymentShape:
    """Sets or replaces the schedule of a draft or paused recurring payment. The status does not change. In any other
    status, the request fails with invalid_state. Dates and times are local to `timezone`. If you change the schedule of
    a draft, read its review again before you activate it.
    """
    world, payment, body = call.world, call.resource, call.body
    _require(payment, "draft", "paused")
    weekly, monthly = body.frequency in ("weekly", "biweekly"), body.frequency == "monthly"
    schedule = Schedule(
        frequency=body.frequency,
        start_date=body.start_date,
        time=body.time,
        timezone=body.timezone,
        end=body.end.type,
        day_of_week=body.day_of_week if weekly else None,
        day_of_month=body.day_of_month if monthly else None,
        end_date=body.end.date if body.end.type == "on_date" else None,
        occurrences=body.end.occurrences if body.end.type == "after_occurrences" else None,
    )
    payment = replace(payment, schedule=schedule, reviewed=False)
    payment = move(world, replace(payment, total_runs=payment.all_runs(world.now_ms)), "set_schedule")
    return rendering.render_recurring(world, payment)


@operation(
    "GET /recurring-payments/{id}/review",
    "Review the runs and their cost; required before activation",
    load=_FIND,
    errors=specified("invalid_state") | {"unsupported_pair": "M15", "amount_too_high": "fee-unreachable"},
)
def review_recurring_payment(call: Call[None, None, RecurringPayment]) -> shapes.Review:
    """Returns a preview of the runs: the recipient, the cost of a run, the times of the next runs, and warnings. Rates
    are not locked, so all amounts are estimates. After you set a draft's schedule, you must read the review before you
    can activate the draft. If there is no schedule, the request fails with invalid_state.
    """
    world, payment = call.world, call.resource
    _require_schedule(payment)
    completed = payment.status == "completed"
    shown = rendering.render_review(
        payment,
        estimate(world, payment),
        rendering.render_recipient(world, payment),
        () if completed else payment.moments(world.now_ms, NEXT_RUNS_SHOWN),
        payment.total_runs if completed else payment.all_runs(world.now_ms),
    )
    if call.trace and payment.status == "draft" and not payment.reviewed:
        save(world, replace(payment, reviewed=True))
    return shown


@operation(
    "POST /recurring-payments/{id}/activate",
    "Start the runs of a reviewed draft",
    money=True,
    load=_FIND,
    errors=_START_ERRORS,
)
def activate_recurring_payment(call: Call[Nothing, None, RecurringPayment]) -> shapes.Activation:
    """Starts the runs of a draft. The current schedule must have been reviewed. The next run is scheduled and the
    event recurring_payment.activated is sent. The request fails with invalid_state if the payment is not a draft, if
    its schedule has not been reviewed, or if the schedule has no date left. It also fails if no run could succeed,
    for example because the beneficiary was deleted or the amount is outside the fee product's limits at the current
    rate.
    """
    world, payment = call.world, call.resource
    _require(payment, "draft")
    _require_schedule(payment)
    if not payment.reviewed and not assumes(world, "S20", "no_review_is_needed"):
        raise ApiError("invalid_state", "Fetch the review of the current schedule before you activate it.")
    payment = replace(_resumed(world, payment), activated_at_ms=world.now_ms)
    payment = move(world, payment, "activate")
    plan_next(world, payment)
    return {
        "id": payment.id,
        "status": payment.status,
        "next_run_at": format_timestamp(present(payment.next_run_at_ms)),
        "runs_completed": payment.runs_completed,
        "total_runs": payment.total_runs,
        "activated_at": format_timestamp(world.now_ms),
    }


@operation("POST /recurring-payments/{id}/pause", "Pause the runs", load=_FIND, errors=("invalid_state",))
def pause_recurring_payment(call: Call[bodies.PauseBody, None, RecurringPayment]) -> shapes.Pause:
    """Pauses an active recurring payment until you restart it. No further run is scheduled, but a payment in progress
    is completed. The event recurring_payment.paused is sent. A recurring payment is also paused after three failed runs
    in a row. If the recurring payment is not active, the request fails with invalid_state.
    """
    world, payment = call.world, call.resource
    _require(payment, "active")
    cancel_runs(world, payment)
    payment = replace(payment, next_run_at_ms=None, paused_at_ms=world.now_ms, pause_reason=call.body.reason)
    payment = move(world, payment, "pause")
    return {
        "id": payment.id,
        "status": payment.status,
        "paused_at": format_timestamp(world.now_ms),
        "pause_reason": payment.pause_reason,
        "next_run_at": None,
        "runs_completed": payment.runs_completed,
        "total_runs": payment.total_runs,
    }


def check_restart(call: Call[bodies.RestartBody, None, RecurringPayment]) -> None:
    """Raise `ApiError` 400 if start_date is before today in the schedule's time zone."""
    schedule = call.resource.schedule
    if call.body.start_date is not None and schedule is not None:
        _not_before_today(call.world, call.body.start_date, schedule.timezone)


@operation(
    "POST /recurring-payments/{id}/restart",
    "Continue after a pause; missed runs are skipped",
    check=check_restart,
    load=_FIND,
    errors=_START_ERRORS,
    statuses=("active",),
)
def restart_recurring_payment(call: Call[bodies.RestartBody, None, RecurringPayment]) -> shapes.RecurringPaymentShape:
    """Continues a paused recurring payment on the next date of its schedule, or with a new start at `start_date`.
    Missed runs are skipped. They are not made up for, and they do not count. The event recurring_payment.restarted is
    sent. The request fails with invalid_state if the payment is not paused or no date is left. As with activation, it
    also fails if no run could succeed.
    """
    world, payment, start_date = call.world, call.resource, call.body.start_date
    _require(payment, "paused")
    schedule = _require_schedule(payment)
    if start_date is not None:
        payment = replace(payment, schedule=replace(schedule, start_date=start_date))
    payment = replace(_resumed(world, payment), failures_in_a_row=0, paused_at_ms=None, pause_reason=None)
    payment = move(world, payment, "restart")
    answer = rendering.render_recurring(world, payment)
    plan_next(world, payment)
    return answer


@operation(
    "DELETE /recurring-payments/{id}", "End a recurring payment; past payments are unaffected", basis="S20", load=_FIND
)
def delete_recurring_payment(call: Call[None, None, RecurringPayment]) -> None:
    """Ends a recurring payment permanently, whatever its status. There are no further runs, and past payments are
    unaffected. The event recurring_payment.deleted is sent.
    """
    cancel_runs(call.world, call.resource)
    remove(call.world, save(call.world, replace(call.resource, next_run_at_ms=None)), "delete")


def _require(payment: RecurringPayment, *statuses: str) -> None:
    if payment.status not in statuses:
        wanted = " or ".join(statuses)
        raise ApiError(
            "invalid_state", f"The recurring payment is {payment.status}. It must be {wanted} for this operation."
        )


def _require_schedule(payment: RecurringPayment) -> Schedule:
    if payment.schedule is None:
        raise ApiError("invalid_state", "The recurring payment has no schedule yet.")
    return payment.schedule


def _resumed(world: World, payment: RecurringPayment) -> RecurringPayment:
    """Return a copy of a payment that continues now, with its next run and its total number of runs (decision S19).
    Raise `ApiError` 409 if no date is left, and the errors of `require_runnable`.
    """
    require_runnable(world, payment)
    next_run = payment.next_moment(world.now_ms)
    if next_run is None:
        raise ApiError("invalid_state", "All dates of the schedule have passed. Set a new schedule.")
    return replace(payment, next_run_at_ms=next_run, total_runs=payment.all_runs(world.now_ms))


PAYMENT_LIST = Listing(
    filters=(by_field("type", TYPE_MEANINGS, many=True, description="Only recurring payments of this type."),),
    search=lambda payment: (payment.name, payment.reference),
    searched="name and reference",
    sorts={**CREATION_DATES, "amount": field_getter("amount")},
    statuses=MEANINGS,
)

TRANSACTION_LIST = Listing(
    search=Transaction.searched,
    searched=SEARCHED,
    sorts={**DATES, "amount": field_getter("amount")},
    statuses=TRANSACTION_STATUSES,
    assumed_statuses="L3",
)


@operation(
    "GET /recurring-payments/{id}/transactions",
    "The transactions that its runs created",
    answer=lambda: shapes.RecurringTransactionList,
    query=TRANSACTION_LIST,
    load=_FIND,
)
def list_recurring_transactions(call: Call[None, ListRequest, RecurringPayment]) -> Page[Shown]:
    """Lists the transactions created by the runs of one recurring payment, newest first. Runs that failed before they
    created a transaction are not included.
    """
    made = call.query.where(Transaction.made_by, call.resource.id)
    return page_of(made, transactions(call.world, call.environment), lambda row: render(call.world, row))


@operation(
    "GET /recurring-payments",
    "The recurring payments that are not deleted",
    answer=lambda: shapes.RecurringPaymentList,
    query=PAYMENT_LIST,
)
def list_recurring_payments(call: Call[None, ListRequest, None]) -> Page[shapes.RecurringPaymentShape]:
    """Lists recurring payments, newest first. Deleted recurring payments are not included."""
    return page(call, PAYMENTS, rendering.render_recurring)


@operation("GET /recurring-payments/{id}", "One recurring payment", basis="S20", load=_FIND, shows="recurring_payment")
def get_recurring_payment(call: Call[None, None, RecurringPayment]) -> shapes.RecurringPaymentShape:
    """Returns one recurring payment with its schedule and counters. If the recurring payment was deleted, the request
    fails with not_found.
    """
    return rendering.render_recurring(call.world, call.resource)
