"""Recurring payments: draft, schedule, review, activation, runs, pauses, and the end of a schedule."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, timedelta
from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import changed, guess, promise
from simulator.conformance.service import Answer
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.money.quotes import instant

PATH = "/recurring-payments/{id}"
SCHEDULE, REVIEW, ACTIVATE = f"PUT {PATH}/schedule", f"GET {PATH}/review", f"POST {PATH}/activate"
PAUSE, RESTART = f"POST {PATH}/pause", f"POST {PATH}/restart"
RECURRING = f"GET {PATH}"
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


def _daily(bench: Bench, days: int = 1, **more: object) -> JsonObject:
    """Return a schedule that runs every day at nine. It starts tomorrow, or after the given number of days."""
    # The service's clock, as far as a client can observe it.
    now = instant(stock.swap_quote(bench).text("created_at"))
    start = (now + timedelta(days=days)).date().isoformat()
    return {
        "frequency": "daily", "start_date": start, "time": "09:00", "timezone": "Africa/Nairobi",
        "end": {"type": "never"}, **more,
    }  # fmt: skip


def _scheduled(bench: Bench, days: int = 1, **more: object) -> str:
    name = stock.recurring(bench).text("id")
    bench.done(SCHEDULE, _daily(bench, days, **more), id=name)
    return name


def _activated(bench: Bench, name: str) -> Answer:
    bench.done(REVIEW, id=name)
    return bench.done(ACTIVATE, {}, id=name)


def active(bench: Bench, days: int = 1, **more: object) -> str:
    """Create an active payment and return its id."""
    name = _scheduled(bench, days, **more)
    _activated(bench, name)
    return name


def _shows(bench: Bench, name: str, **due: object) -> Answer:
    """Check fields of a recurring payment, and return the payment."""
    shown = bench.done(RECURRING, id=name)
    bench.echoes(shown, due)
    return shown


def _has_next_run(bench: Bench, answer: Answer) -> None:
    bench.holds(bool(answer.body.get("next_run_at")), answer, "no next run", "next_run_at")


@promise("recurring.draft", "States: Recurring payment", "writes")
def draft(bench: Bench) -> None:
    """A new recurring payment is a draft with the values from the request, and has no schedule and no next run."""
    body = stock.recurring_body(bench)
    made = bench.done("POST /recurring-payments", body)
    bench.echoes(made, {"status": "draft", "schedule": None, "next_run_at": None, "runs_completed": 0})
    bench.echoes(made, body, "name", "type", "source", "recipient", "reference")


@promise("recurring.scheduled", "PUT /recurring-payments/{id}/schedule: status stays draft", "writes")
def scheduled(bench: Bench) -> None:
    """After its schedule is set, a payment is still a draft and has no next run."""
    name = stock.recurring(bench).text("id")
    answer = bench.done(SCHEDULE, _daily(bench), id=name)
    bench.echoes(answer, {"status": "draft", "next_run_at": None})
    is_set = bool(answer.body.get("schedule"))
    bench.holds(is_set, answer, "the payment has no schedule after it was set", "schedule")


@guess("recurring.schedule_shown", "schedule-fields", "writes")
def schedule_shown(bench: Bench) -> None:
    """A schedule contains the fields from the request."""
    name = stock.recurring(bench).text("id")
    asked = _daily(bench, end={"type": "after_occurrences", "occurrences": 4})
    answer = bench.done(SCHEDULE, asked, id=name)
    for field, value in asked.items():
        bench.equal(answer, f"schedule.{field}", value)


@promise("recurring.schedule_fields", "PUT /recurring-payments/{id}/schedule", "writes")
def schedule_fields(bench: Bench) -> None:
    """A schedule requires end, start_date and the field for its frequency: day_of_week or day_of_month."""
    name = stock.recurring(bench).text("id")
    daily = _daily(bench)
    for field, value, error in (
        ("frequency", "weekly", "missing_parameter day_of_week"), ("end", None, "missing_parameter end"),
        ("frequency", "biweekly", "missing_parameter day_of_week"),
        ("frequency", "monthly", "missing_parameter day_of_month"),
        ("start_date", None, "missing_parameter start_date"),
        ("start_date", "2020-01-01", "invalid_parameter start_date"),
    ):  # fmt: skip
        code, _, param = error.partition(" ")
        bench.refused(bench.call(SCHEDULE, changed(daily, field, value), id=name), 400, code, param=param)


@promise("recurring.activate", "States: Recurring payment, activate", "writes")
def activate(bench: Bench) -> None:
    """A reviewed payment can be activated. An active payment has a next run."""
    name = _scheduled(bench)
    answer = _activated(bench, name)
    bench.equal(answer, "id", name)
    for shown in (answer, bench.done(RECURRING, id=name)):
        bench.echoes(shown, {"status": "active", "runs_completed": 0})
        _has_next_run(bench, shown)


@promise("recurring.next_run", "Recurring payment: schedule, next_run_at", "writes")
def next_run(bench: Bench) -> None:
    """The first run is on start_date, at the schedule's time in its time zone."""
    name, plan = stock.recurring(bench).text("id"), _daily(bench)
    bench.done(SCHEDULE, plan, id=name)
    answer = _activated(bench, name)
    due, got = instant(f"{plan['start_date']}T09:00:00+03:00"), instant(answer.text("next_run_at"))
    bench.holds(got == due, answer, f"next_run_at is {got}, not {due}", "next_run_at")


@promise("recurring.short_months", f"PUT {PATH}/schedule", "writes")
def short_months(bench: Bench) -> None:
    """In a month without the scheduled day, a monthly payment runs on the last day of the month."""
    name = stock.recurring(bench).text("id")
    plan = _daily(bench, frequency="monthly")
    year = int(str(plan["start_date"])[:4]) + 1
    february = monthrange(year, 2)[1]
    for day in (31, 30, 29):
        bench.done(SCHEDULE, {**plan, "start_date": f"{year}-01-01", "day_of_month": day}, id=name)
        answer = bench.done(REVIEW, id=name)
        # At nine in Nairobi, UTC has the same date.
        runs = [text[:10] for text in answer.body["next_runs"]]
        wanted = [f"{year}-01-{day}", f"{year}-02-{february}", f"{year}-03-{day}"]
        bench.holds(runs == wanted, answer, f"next_runs are {runs}, not {wanted}", "next_runs")
    bench.done(SCHEDULE, {**plan, "start_date": f"{year}-02-01", "day_of_month": 31}, id=name)
    answer = _activated(bench, name)
    due_on = f"{year}-02-{february}"
    bench.holds(answer.text("next_run_at")[:10] == due_on, answer, f"the next run is not on {due_on}", "next_run_at")


@guess("recurring.on_date", "S19", "writes")
def on_date(bench: Bench) -> None:
    """If a schedule ends on a date, the last run can be on that date."""
    plan = _daily(bench)
    last = (date.fromisoformat(str(plan["start_date"])) + DAY).isoformat()
    name = active(bench, end={"type": "on_date", "date": last})
    _shows(bench, name, total_runs=2)
    if bench.controlled:
        past(bench, name, 2)
        _shows(bench, name, status="completed", runs_completed=2)


@promise("recurring.review", "Review object", "writes")
def review(bench: Bench) -> None:
    """A review contains the amounts for a run, the balance check, the next three runs, and a masked account."""
    name = _scheduled(bench)
    answer = bench.done(REVIEW, id=name)
    runs = [instant(text) for text in answer.body["next_runs"]]
    held = len(runs) == 3 and runs[1] - runs[0] == runs[2] - runs[1] == DAY
    bench.holds(held, answer, f"next_runs are {answer.body['next_runs']}", "next_runs")
    covers = answer.number("balance_check.available") >= answer.number("per_run.estimated_total_debit")
    bench.equal(answer, "balance_check.covers_next_run", covers)
    bench.amounts(answer, {"per_run.amount": Decimal(stock.CRYPTO)})
    account = answer.text("recipient.account")
    held = stock.PHONES["KES"].lstrip("+") not in account
    bench.holds(held, answer, f"account is {account}, which is not masked", "recipient.account")


@promise("recurring.review_warns", "Review object: warnings", "writes", "control")
def review_warns(bench: Bench) -> None:
    """A review contains a warning if the balance does not cover the next run."""
    name = _scheduled(bench)
    stock.set_balance(bench.world, "1")
    answer = bench.done(REVIEW, id=name)
    held = "insufficient_balance_for_next_run" in answer.body["warnings"]
    bench.holds(held, answer, f"warnings are {answer.body['warnings']}", "warnings")
    bench.equal(answer, "balance_check.covers_next_run", False)


@promise("recurring.paused", "States: Recurring payment, pause", "writes")
def paused(bench: Bench) -> None:
    """A paused payment has no next run and contains the reason for the pause."""
    name = active(bench)
    answer = bench.done(PAUSE, {"reason": "holiday"}, id=name)
    bench.equal(answer, "pause_reason", "holiday")
    for shown in (answer, bench.done(RECURRING, id=name)):
        bench.echoes(shown, {"status": "paused", "next_run_at": None})


@promise("recurring.restarted", "States: Recurring payment, restart", "writes")
def restarted(bench: Bench) -> None:
    """A restarted payment is active and has a next run."""
    name = active(bench)
    bench.done(PAUSE, {}, id=name)
    bench.done(RESTART, {}, id=name)
    _has_next_run(bench, _shows(bench, name, status="active"))


def _illegal(bench: Bench) -> list[tuple[str, str, JsonObject, str]]:
    """Create recurring payments. Return illegal requests for them: the id, the operation, the body, and the status."""
    held, busy, fresh = active(bench), active(bench), stock.recurring(bench).text("id")
    bench.done(PAUSE, {}, id=held)
    return [
        (held, PAUSE, {}, "paused"), (busy, RESTART, {}, "active"), (busy, ACTIVATE, {}, "active"),
        (busy, SCHEDULE, _daily(bench), "active"), (fresh, PAUSE, {}, "draft"), (fresh, RESTART, {}, "draft"),
        (fresh, ACTIVATE, {}, "draft"),
    ]  # fmt: skip


def _refused(bench: Bench, name: str, operation: str, body: JsonObject, status: str) -> None:
    answer = bench.call(operation, body, id=name)
    held = 400 <= answer.status < 500
    bench.holds(held, answer, f"returns {answer.short} although the payment is {status}", "status")
    bench.equal(bench.done(RECURRING, id=name), "status", status, after=(answer,))


@promise("recurring.illegal_move", "States: Recurring payment", "writes")
def illegal_move(bench: Bench) -> None:
    """An illegal transition is refused and changes nothing."""
    for name, operation, body, status in _illegal(bench):
        _refused(bench, name, operation, body, status)


@guess("recurring.illegal_code", "S20", "writes")
def illegal_code(bench: Bench) -> None:
    """An illegal transition returns 409 invalid_state."""
    for name, operation, body, _ in _illegal(bench):
        bench.refused(bench.call(operation, body, id=name), 409, "invalid_state")


@promise("recurring.unreviewed", "States: Recurring payment, reviewed draft", "writes")
def unreviewed(bench: Bench) -> None:
    """A payment cannot be activated if it has not been reviewed since its schedule was set."""
    _refused(bench, _scheduled(bench), ACTIVATE, {}, "draft")


def past(bench: Bench, name: str, runs: int) -> None:
    """Advance the clock to one hour after a run of a daily payment. `runs` is 1 for the next run."""
    first = instant(bench.done(RECURRING, id=name).text("next_run_at"))
    bench.world.advance_to(first + timedelta(days=runs - 1, hours=1))


def _runs(bench: Bench, name: str) -> Answer:
    return bench.done(f"GET {PATH}/transactions", id=name)


@promise("recurring.run", "Recurring payment: Run behaviour", "writes", "control")
def run(bench: Bench) -> None:
    """A run creates a transaction. The payment lists the transaction. The transaction's reference contains the run's
    number.
    """
    name = active(bench)
    before = bench.done(RECURRING, id=name)
    bench.world.advance_to(before.text("next_run_at"))
    page = _runs(bench, name)
    references, due = [row["reference"] for row in page.items], [f"{before.text('reference')}-1"]
    bench.holds(references == due, page, f"references are {references}, not {due}", "data")
    after = _shows(bench, name, runs_completed=1)
    moved = instant(after.text("next_run_at")) - instant(before.text("next_run_at"))
    bench.holds(moved == DAY, after, f"the next run is {moved} later", "next_run_at")
    order = bench.done("GET /orders/{order_id}", order_id=str(page.items[0]["id"]))
    bench.equal(order, "recurring_payment", name)
    for operation, query in (("GET /orders", "recurring_payment"), ("GET /transactions", "recurring_payment_id")):
        bench.equal(bench.done(operation, query={query: name}), "pagination.total", 1)


@promise("recurring.no_early_run", "Recurring payment: Run behaviour", "writes", "control")
def no_early_run(bench: Bench) -> None:
    """A payment does not run before the scheduled time or while it is paused. Missed runs are not repeated later."""
    name = active(bench)
    bench.done(PAUSE, {}, id=name)
    # Do not use a whole number of days, because then the clock might be exactly at the time of a run.
    bench.world.advance("5d7m")
    bench.equal(_runs(bench, name), "pagination.total", 0)
    bench.done(RESTART, {}, id=name)
    bench.world.advance_to(instant(bench.done(RECURRING, id=name).text("next_run_at")) - MINUTE)
    bench.equal(_runs(bench, name), "pagination.total", 0)


@promise("recurring.auto_pause", "Limits: Recurring run auto-pause", "writes", "control")
def auto_pause(bench: Bench) -> None:
    """A payment is paused after three failed runs in a row, but not after two."""
    name = active(bench)
    stock.set_balance(bench.world, "0")
    past(bench, name, 2)
    _shows(bench, name, status="active")
    past(bench, name, 1)
    _shows(bench, name, status="paused", runs_completed=0)
    bench.equal(_runs(bench, name), "pagination.total", 0)


@promise("recurring.completes", "States: Recurring payment, last scheduled run finishes", "writes", "control")
def completes(bench: Bench) -> None:
    """After its last run, a payment is completed and does not run again."""
    name = active(bench, end={"type": "after_occurrences", "occurrences": 2})
    _shows(bench, name, total_runs=2)
    past(bench, name, 2)
    _shows(bench, name, status="completed", runs_completed=2)
    bench.world.advance("3d")
    bench.equal(_runs(bench, name), "pagination.total", 2)


@promise("recurring.deleted", "States: Recurring payment, delete", "writes", "control")
def deleted(bench: Bench) -> None:
    """A deleted payment does not run again. Its past transactions still exist."""
    name = active(bench)
    past(bench, name, 1)
    made = str(_runs(bench, name).items[0]["id"])
    bench.done(f"DELETE {PATH}", id=name)
    before = bench.total("GET /transactions")
    bench.world.advance("3d")
    bench.equal(bench.done("GET /transactions", query={"size": 1}), "pagination.total", before)
    bench.accepted(bench.call("GET /transactions/{id}", id=made), 200)
