"""What integrators do with recurring payments: create, schedule, review, activate, pause, restart, delete, list.

Chapter "Recurring payments" of the specification; decisions S19, S20, S21 and S23. What the clock does with them
is in `runs`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

from simulator.engine.records.listing import ListRequest, page_of
from simulator.engine.records.records import create, move, new_fields, present, remove, render, save
from simulator.engine.rows.error import ApiError, invalid
from simulator.engine.rows.operation import Call
from simulator.engine.text.fields import Nothing, check_decimals
from simulator.engine.text.json import Shown
from simulator.engine.text.shapes import Page
from simulator.engine.worlds.settings import assumes
from simulator.kernel.copying import replace
from simulator.kernel.world import World
from simulator.providers.ramp.balance import (
    WITHDRAWABLE,
    check_destination,
    find_user,
    named_asset,
    require_asset,
    resolve_destination,
)
from simulator.providers.ramp.balance import bodies as balance
from simulator.providers.ramp.beneficiaries import BENEFICIARY_MISMATCH, beneficiary
from simulator.providers.ramp.fees import AMOUNT_TOO_LOW
from simulator.providers.ramp.recurring import bodies, shapes
from simulator.providers.ramp.recurring.estimates import estimate
from simulator.providers.ramp.recurring.records import DestinationShape, RecurringPayment
from simulator.providers.ramp.recurring.rendering import (
    render_activation,
    render_pause,
    render_recipient,
    render_recurring,
    render_review,
)
from simulator.providers.ramp.recurring.runs import plan_next, require_runnable, stop
from simulator.providers.ramp.recurring.schedule import Schedule, today, zone_names
from simulator.providers.ramp.reference import FIATS, UNSUPPORTED_ASSET, fiat, require_network
from simulator.providers.ramp.transactions import Transaction, transactions

NEXT_RUNS_SHOWN = 3


def check_create(call: Call[bodies.NewRecurring, None, None]) -> None:
    """400 for an amount_currency that no such payment can have, for too many decimals, for a malformed destination."""
    body = call.body
    source = named_asset(body.source.symbol, body.source.network)
    if source is None or (body.type == "withdraw" and source.code not in WITHDRAWABLE):
        return  # the business rules refuse it
    fiats = tuple(FIATS) if body.type == "withdraw" else ()
    if body.amount_currency not in (body.source.symbol, *fiats):
        raise invalid("amount_currency", "it must be the source's symbol, or for a withdrawal the beneficiary's fiat")
    check_decimals(body.amount, fiat(body.amount_currency) or source)
    if isinstance(body, bodies.CreateRecurringSend):
        with _inside_recipient():
            check_destination(call.world, body.recipient.destination)


def create_recurring(call: Call[bodies.NewRecurring, None, None]) -> shapes.RecurringPaymentShape:
    """POST /recurring-payments."""
    world, environment, body = call.world, call.environment, call.body
    saved, destination = None, None
    if isinstance(body, bodies.CreateRecurringWithdraw):
        saved = beneficiary(world, environment, body.recipient.beneficiary_id)
    if isinstance(body, bodies.CreateRecurringSend):
        destination = body.recipient.destination
    if isinstance(destination, balance.UserDestination):
        with _inside_recipient():
            find_user(world, destination)
    source = require_asset(body.source.symbol, body.source.network, "source.")
    if saved is not None and source.code not in WITHDRAWABLE:
        raise UNSUPPORTED_ASSET.error(f"{source.code} cannot be withdrawn to fiat.", "source.symbol")
    if saved is not None and saved.method is None:
        raise BENEFICIARY_MISMATCH.error("This beneficiary receives no fiat.", "beneficiary_id")
    if saved is not None and body.amount_currency not in (source.code, saved.fiat_currency):
        raise BENEFICIARY_MISMATCH.error(f"This beneficiary receives {saved.fiat_currency}.", "amount_currency")
    if Decimal(body.amount) == 0:
        raise AMOUNT_TOO_LOW.error("The amount must be more than zero.", "amount")
    if destination is not None:
        with _inside_recipient():
            resolve_destination(world, environment, source, destination, Decimal(body.amount))
    network = present(source.network)
    require_network(world, environment, network)
    payment = RecurringPayment(
        **new_fields(world, environment, "rp_", "ids.recurring_payment"),
        name=body.name,
        type=body.type,
        symbol=source.code,
        network=network,
        amount=Decimal(body.amount),
        amount_currency=body.amount_currency,
        beneficiary_id=saved.id if saved else None,
        destination=None if destination is None else _as_given(destination),
        description=body.description,
        reference=body.reference,
    )
    return render_recurring(world, create(world, payment, "create"))


def _as_given(destination: balance.AnyDestination) -> DestinationShape:
    """The fields of a destination that were given; unknown ones are ignored (decision H6)."""
    # Any, because mypy does not know that the models of destinations and the shape have the same members.
    given: Any = destination.model_dump(include=set(type(destination).model_fields), exclude_none=True)
    shape: DestinationShape = given
    return shape


@contextmanager
def _inside_recipient() -> Iterator[None]:
    """Prefix a destination that an error names, as `param` and in its message, with `recipient.`: its path here."""
    try:
        yield
    except ApiError as error:
        if error.param is not None and error.param.startswith("destination"):
            error.message = error.message.replace(f"`{error.param}`", f"`recipient.{error.param}`")
            error.param = f"recipient.{error.param}"
        raise


def check_schedule(call: Call[bodies.ScheduleBody, None, RecurringPayment]) -> None:
    """400 for an unknown time zone, a start_date before today there, and an end before the start."""
    body = call.body
    if body.timezone not in zone_names():
        raise invalid("timezone", "it must be the IANA name of a time zone, for example Africa/Nairobi")
    _not_before_today(call.world, body.start_date, body.timezone)
    if body.end.date is not None and body.end.type == "on_date" and body.end.date < body.start_date:
        raise invalid("end.date", "it lies before start_date")


def _not_before_today(world: World, start_date: str, timezone: str) -> None:
    if start_date < today(timezone, world.now_ms).isoformat():
        raise invalid("start_date", f"it must be today or later ({timezone})")


def set_schedule(call: Call[bodies.ScheduleBody, None, RecurringPayment]) -> shapes.RecurringPaymentShape:
    """PUT /recurring-payments/{id}/schedule: a new schedule needs a new review before activation."""
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
    return render_recurring(world, payment)


def review(call: Call[None, None, RecurringPayment]) -> shapes.Review:
    """GET /recurring-payments/{id}/review: leaves the mark without which a draft is not activated (decision S20)."""
    world, payment = call.world, call.resource
    _require_schedule(payment)
    completed = payment.status == "completed"
    shown = render_review(
        payment,
        estimate(world, payment),
        render_recipient(world, payment),
        () if completed else payment.moments(world.now_ms, NEXT_RUNS_SHOWN),
        payment.total_runs if completed else payment.all_runs(world.now_ms),
    )
    if call.trace and payment.status == "draft" and not payment.reviewed:
        save(world, replace(payment, reviewed=True))
    return shown


def activate(call: Call[Nothing, None, RecurringPayment]) -> shapes.Activation:
    """POST /recurring-payments/{id}/activate."""
    world, payment = call.world, call.resource
    _require(payment, "draft")
    _require_schedule(payment)
    if not payment.reviewed and not assumes(world, "S20", "no_review_is_needed"):
        raise ApiError("invalid_state", "Fetch the review of the present schedule before activating it.")
    payment = replace(_resumed(world, payment), activated_at_ms=world.now_ms)
    payment = move(world, payment, "activate")
    answer = render_activation(payment)
    plan_next(world, payment)
    return answer


def pause(call: Call[bodies.PauseBody, None, RecurringPayment]) -> shapes.Pause:
    """POST /recurring-payments/{id}/pause."""
    world, payment = call.world, call.resource
    _require(payment, "active")
    stop(world, payment)
    payment = replace(payment, next_run_at_ms=None, paused_at_ms=world.now_ms, pause_reason=call.body.reason)
    payment = move(world, payment, "pause")
    return render_pause(payment)


def check_restart(call: Call[bodies.RestartBody, None, RecurringPayment]) -> None:
    """400 for a start_date before today in the schedule's time zone."""
    schedule = call.resource.schedule
    if call.body.start_date is not None and schedule is not None:
        _not_before_today(call.world, call.body.start_date, schedule.timezone)


def restart(call: Call[bodies.RestartBody, None, RecurringPayment]) -> shapes.RecurringPaymentShape:
    """POST /recurring-payments/{id}/restart: keeps the phase, or begins anew from a start_date (decision S19)."""
    world, payment, start_date = call.world, call.resource, call.body.start_date
    _require(payment, "paused")
    schedule = _require_schedule(payment)
    if start_date is not None:
        payment = replace(payment, schedule=replace(schedule, start_date=start_date))
    payment = replace(_resumed(world, payment), failures_in_a_row=0, paused_at_ms=None, pause_reason=None)
    payment = move(world, payment, "restart")
    answer = render_recurring(world, payment)
    plan_next(world, payment)
    return answer


def delete(call: Call[None, None, RecurringPayment]) -> None:
    """DELETE /recurring-payments/{id}: no further runs; what it paid stays."""
    stop(call.world, call.resource)
    remove(call.world, save(call.world, replace(call.resource, next_run_at_ms=None)), "delete")


def list_transactions(call: Call[None, ListRequest, RecurringPayment]) -> Page[Shown]:
    """GET /recurring-payments/{id}/transactions: what its runs made."""
    made = call.query.where(Transaction.made_by, call.resource.id)
    return page_of(made, transactions(call.world, call.environment), lambda row: render(call.world, row))


def _require(payment: RecurringPayment, *statuses: str) -> None:
    if payment.status not in statuses:
        wanted = " or ".join(statuses)
        raise ApiError("invalid_state", f"The recurring payment is {payment.status}; this needs it {wanted}.")


def _require_schedule(payment: RecurringPayment) -> Schedule:
    if payment.schedule is None:
        raise ApiError("invalid_state", "The recurring payment has no schedule yet.")
    return payment.schedule


def _resumed(world: World, payment: RecurringPayment) -> RecurringPayment:
    """Return a payment with its next run and the number of all its runs set from now on (decision S19).

    Raise `ApiError` for a payment that can never run: 404 and 422 as `require_runnable`, 409 without a date left.
    """
    require_runnable(world, payment)
    next_run = payment.next_moment(world.now_ms)
    if next_run is None:
        raise ApiError("invalid_state", "The schedule has no date left. Set a new schedule.")
    return replace(payment, next_run_at_ms=next_run, total_runs=payment.all_runs(world.now_ms))
