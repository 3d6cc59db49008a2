"""Renders recurring payments, their reviews and runs as response models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from typing_extensions import TypedDict

from simulator.engine.records.records import existing, present
from simulator.kernel.clock import format_moment, format_timestamp
from simulator.kernel.money import format_rate
from simulator.kernel.world import World
from simulator.providers.ramp.beneficiaries import Beneficiary
from simulator.providers.ramp.fees import show_processing_fee
from simulator.providers.ramp.recurring import shapes
from simulator.providers.ramp.recurring.estimates import Estimate
from simulator.providers.ramp.recurring.records import RecurringPayment
from simulator.providers.ramp.recurring.schedule import Schedule, Weekday
from simulator.providers.ramp.shapes import upper


def render_recurring(world: World, payment: RecurringPayment) -> shapes.RecurringPaymentShape:
    source: shapes.RecurringSource = {"symbol": payment.symbol, "network": upper(payment.network)}
    amount, destination = payment.stated.format(payment.amount), payment.destination
    if destination is None:
        withdrawal: shapes.RecurringWithdrawal = {
            "id": payment.id,
            "name": payment.name,
            "type": "withdraw",
            "status": payment.status,
            "source": source,
            "amount": amount,
            "amount_currency": payment.amount_currency,
            "recipient": {"beneficiary_id": present(payment.beneficiary_id)},
            **_end(payment),
        }
        return withdrawal
    send: shapes.RecurringSend = {
        "id": payment.id,
        "name": payment.name,
        "type": "send",
        "status": payment.status,
        "source": source,
        "amount": amount,
        "amount_currency": payment.amount_currency,
        "recipient": {"destination": destination},
        **_end(payment),
    }
    return send


def _end(payment: RecurringPayment) -> shapes.RecurringProgress:
    return {
        "description": payment.description,
        "reference": payment.reference,
        "schedule": None if payment.schedule is None else _schedule(payment.schedule),
        "created_at": format_timestamp(payment.created_at_ms),
        "next_run_at": format_moment(payment.next_run_at_ms),
        "runs_completed": payment.runs_completed,
        "total_runs": payment.total_runs,
        "activated_at": format_moment(payment.activated_at_ms),
        "paused_at": format_moment(payment.paused_at_ms),
        "pause_reason": payment.pause_reason,
    }


class _Day(TypedDict, total=False):
    day_of_week: Weekday
    day_of_month: int


def _schedule(schedule: Schedule) -> shapes.ScheduleShape:
    day: _Day = {}
    if schedule.day_of_week is not None:
        day["day_of_week"] = schedule.day_of_week
    if schedule.day_of_month is not None:
        day["day_of_month"] = schedule.day_of_month
    end: shapes.ScheduleEnd = {"type": schedule.end}
    if schedule.end_date is not None:
        end["date"] = schedule.end_date
    if schedule.occurrences is not None:
        end["occurrences"] = schedule.occurrences
    return {
        "frequency": schedule.frequency,
        **day,
        "start_date": schedule.start_date,
        "time": schedule.time,
        "timezone": schedule.timezone,
        "end": end,
    }


def render_run(number: int, scheduled_for_ms: int, outcome: shapes.RunOutcome) -> shapes.RunMember:
    """Return the field `run` of an event about a run (decision W8)."""
    return {"run": {"number": number, "scheduled_for": format_timestamp(scheduled_for_ms), **outcome}}


def render_review(
    payment: RecurringPayment,
    estimate: Estimate,
    recipient: shapes.ReviewRecipient,
    next_runs: Iterable[int],
    total_runs: int | None,
) -> shapes.Review:
    source, schedule = payment.source, present(payment.schedule)
    return {
        "id": payment.id,
        "name": payment.name,
        "type": payment.type,
        "recipient": recipient,
        "per_run": {
            "amount": payment.stated.format(payment.amount),
            "amount_currency": payment.amount_currency,
            "estimated_rate": format_rate(estimate.rate),
            "estimated_source_amount": source.format(estimate.source_amount),
            "estimated_fee": show_processing_fee(estimate.fee),
            "estimated_total_debit": source.format(estimate.debit),
            "source_currency": payment.symbol,
        },
        "schedule_summary": schedule.summary(),
        "next_runs": [format_timestamp(at_ms) for at_ms in next_runs],
        "total_runs": total_runs,
        "balance_check": {
            "available": source.format(estimate.available),
            "covers_next_run": estimate.available >= estimate.debit,
        },
        "warnings": list(estimate.warnings),
    }


def render_recipient(world: World, payment: RecurringPayment) -> shapes.ReviewRecipient:
    """Return the recipient with a masked account."""
    if payment.type == "withdraw":
        saved = existing(world, Beneficiary, present(payment.beneficiary_id))
        account = mask(saved.account or "")
        return {"beneficiary_id": saved.id, "name": saved.name, "type": saved.type, "account": account}
    destination = present(payment.destination)
    given: Mapping[str, object] = destination
    names = ("invoice", "lightning_address", "address", "user_id", "email", "phone_number")
    account = mask(next((str(given[name]) for name in names if given.get(name)), ""))
    return {"beneficiary_id": None, "name": None, "type": destination["type"], "account": account}


def mask(account: str) -> str:
    """Mask all but the last four characters, or the part before an @ except its first character."""
    name, at, domain = account.partition("@")
    if at:
        return name[:1] + "*" * (len(name) - 1) + at + domain
    return "*" * (len(account) - 4) + account[-4:] if len(account) > 4 else "*" * len(account)
