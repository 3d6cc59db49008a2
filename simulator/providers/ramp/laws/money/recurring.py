"""Recurring payments: draft, schedule, review, activation, runs, pauses and the end."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime, timedelta
from decimal import Decimal

from simulator.conformance.bench import Bench
from simulator.conformance.laws import guess, promise
from simulator.conformance.service import Answer
from simulator.engine.text.json import JsonObject
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.money.quotes import instant

PATH = "/recurring-payments/{id}"
SCHEDULE = f"PUT {PATH}/schedule"
RECURRING = f"GET {PATH}"
DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)


def _daily(bench: Bench, days: int = 1, **more: object) -> JsonObject:
    """Every day at nine from tomorrow on, or so many days ahead, by the service's clock as far as a client sees it."""
    made = instant(bench.done("POST /wallet/swap/quote", stock.SWAP_QUOTE).text("created_at"))
    start = (made + timedelta(days=days)).date().isoformat()
    return {
        "frequency": "daily", "start_date": start, "time": "09:00", "timezone": "Africa/Nairobi",
        "end": {"type": "never"}, **more,
    }  # fmt: skip


def _scheduled(bench: Bench, days: int = 1, **more: object) -> str:
    name = stock.recurring(bench).text("id")
    bench.done(SCHEDULE, _daily(bench, days, **more), id=name)
    return name


def active(bench: Bench, days: int = 1, **more: object) -> str:
    """A payment that is active, by its id."""
    name = _scheduled(bench, days, **more)
    bench.done(f"GET {PATH}/review", id=name)
    bench.done(f"POST {PATH}/activate", {}, id=name)
    return name


@promise("recurring.draft", "States: Recurring payment", "writes")
def draft(bench: Bench) -> None:
    """A recurring payment is a draft without schedule or next run, with what was asked for."""
    body = stock.recurring_body(bench)
    made = bench.done("POST /recurring-payments", body)
    bench.equal(made, "status", "draft")
    for name in ("schedule", "next_run_at"):
        bench.equal(made, name, None)
    bench.equal(made, "runs_completed", 0)
    for name in ("name", "type", "source", "recipient", "reference"):
        bench.equal(made, name, body[name])


@promise("recurring.scheduled", "PUT /recurring-payments/{id}/schedule: status stays draft", "writes")
def scheduled(bench: Bench) -> None:
    """A schedule is kept, and the payment stays a draft without a next run."""
    name = stock.recurring(bench).text("id")
    answer = bench.done(SCHEDULE, _daily(bench), id=name)
    bench.equal(answer, "status", "draft")
    bench.equal(answer, "next_run_at", None)
    kept = bool(answer.body.get("schedule"))
    bench.holds(kept, answer, "the payment has no schedule after it was set", "schedule")


@guess("recurring.schedule_shown", "schedule-fields", "writes")
def schedule_shown(bench: Bench) -> None:
    """A schedule is shown with the fields that were asked for."""
    name = stock.recurring(bench).text("id")
    asked = _daily(bench, end={"type": "after_occurrences", "occurrences": 4})
    answer = bench.done(SCHEDULE, asked, id=name)
    for member, value in asked.items():
        bench.equal(answer, f"schedule.{member}", value)


@promise("recurring.schedule_fields", "PUT /recurring-payments/{id}/schedule", "writes")
def schedule_fields(bench: Bench) -> None:
    """A schedule says what its frequency needs: day_of_week, day_of_month; and how it ends."""
    name = stock.recurring(bench).text("id")
    daily = _daily(bench)
    for body, param in (
        ({**daily, "frequency": "weekly"}, "day_of_week"), ({**daily, "frequency": "biweekly"}, "day_of_week"),
        ({**daily, "frequency": "monthly"}, "day_of_month"),
        ({member: value for member, value in daily.items() if member != "end"}, "end"),
        ({member: value for member, value in daily.items() if member != "start_date"}, "start_date"),
    ):  # fmt: skip
        bench.refused(bench.call(SCHEDULE, body, id=name), 400, "missing_parameter", param=param)
    past = bench.call(SCHEDULE, {**daily, "start_date": "2020-01-01"}, id=name)
    bench.refused(past, 400, "invalid_parameter", param="start_date")


@promise("recurring.activate", "States: Recurring payment, activate", "writes")
def activate(bench: Bench) -> None:
    """A reviewed payment is activated and tells its next run."""
    name = _scheduled(bench)
    bench.done(f"GET {PATH}/review", id=name)
    answer = bench.done(f"POST {PATH}/activate", {}, id=name)
    bench.equal(answer, "id", name)
    for shown in (answer, bench.done(RECURRING, id=name)):
        bench.equal(shown, "status", "active")
        bench.equal(shown, "runs_completed", 0)
        bench.holds(bool(shown.body.get("next_run_at")), shown, "no next run", "next_run_at")


@promise("recurring.next_run", "Recurring payment: schedule, next_run_at", "writes")
def next_run(bench: Bench) -> None:
    """The next run is at the time of the schedule in its time zone, on start_date."""
    name, plan = stock.recurring(bench).text("id"), _daily(bench)
    bench.done(SCHEDULE, plan, id=name)
    bench.done(f"GET {PATH}/review", id=name)
    answer = bench.done(f"POST {PATH}/activate", {}, id=name)
    day = plan["start_date"]
    due = datetime.fromisoformat(f"{day}T09:00:00+03:00")
    got = instant(answer.text("next_run_at"))
    bench.holds(got == due, answer, f"next_run_at is {got}, {due} is due", "next_run_at")


MONTHLY = (
    (31, ("01-31", "02-{}", "03-31")), (30, ("01-30", "02-{}", "03-30")), (29, ("01-29", "02-{}", "03-29")),
)  # fmt: skip
"""The day of a monthly schedule that starts with a year, and its first three runs; February has its last day."""


@promise("recurring.short_months", f"PUT {PATH}/schedule", "writes")
def short_months(bench: Bench) -> None:
    """A monthly payment runs on the last day of a month that has not got its day."""
    name = stock.recurring(bench).text("id")
    plan = _daily(bench, frequency="monthly")
    year = int(str(plan["start_date"])[:4]) + 1
    february = monthrange(year, 2)[1]
    for day, due in MONTHLY:
        bench.done(SCHEDULE, {**plan, "start_date": f"{year}-01-01", "day_of_month": day}, id=name)
        answer = bench.done(f"GET {PATH}/review", id=name)
        # At nine in Nairobi it is the same day in UTC.
        runs = [text[:10] for text in answer.body["next_runs"]]
        wanted = [f"{year}-{one.format(february)}" for one in due]
        bench.holds(runs == wanted, answer, f"next_runs are {runs}, not {wanted}", "next_runs")
    bench.done(SCHEDULE, {**plan, "start_date": f"{year}-02-01", "day_of_month": 31}, id=name)
    bench.done(f"GET {PATH}/review", id=name)
    answer = bench.done(f"POST {PATH}/activate", {}, id=name)
    due_on = f"{year}-02-{february}"
    bench.holds(answer.text("next_run_at")[:10] == due_on, answer, f"the next run is not on {due_on}", "next_run_at")


@guess("recurring.on_date", "S19", "writes")
def on_date(bench: Bench) -> None:
    """A schedule that ends on a date has its last run on that very day."""
    plan = _daily(bench)
    last = (date.fromisoformat(str(plan["start_date"])) + DAY).isoformat()
    name = active(bench, end={"type": "on_date", "date": last})
    bench.equal(bench.done(RECURRING, id=name), "total_runs", 2)
    if bench.controlled:
        past(bench, name, 2)
        shown = bench.done(RECURRING, id=name)
        bench.equal(shown, "status", "completed")
        bench.equal(shown, "runs_completed", 2)


@promise("recurring.review", "Review object", "writes")
def review(bench: Bench) -> None:
    """A review tells the figures of a run, whether the balance covers it, the next three runs, and a masked account."""
    name = _scheduled(bench)
    answer = bench.done(f"GET {PATH}/review", id=name)
    runs = [instant(text) for text in answer.body["next_runs"]]
    held = len(runs) == 3 and runs[1] - runs[0] == runs[2] - runs[1] == timedelta(days=1)
    bench.holds(held, answer, f"next_runs are {answer.body['next_runs']}", "next_runs")
    total = answer.number("per_run.estimated_total_debit")
    covers = answer.number("balance_check.available") >= total
    bench.equal(answer, "balance_check.covers_next_run", covers)
    bench.holds(answer.number("per_run.amount") == Decimal(stock.CRYPTO), answer, "another amount", "per_run.amount")
    account = answer.text("recipient.account")
    held = stock.PHONES["KES"].lstrip("+") not in account
    bench.holds(held, answer, f"account is {account}, which is not masked", "recipient.account")


@promise("recurring.review_warns", "Review object: warnings", "writes", "control")
def review_warns(bench: Bench) -> None:
    """A review warns when the balance does not cover the next run."""
    name = _scheduled(bench)
    bench.world.act("set_balance", symbol="USDC", network="CELO", amount="1")
    answer = bench.done(f"GET {PATH}/review", id=name)
    held = "insufficient_balance_for_next_run" in answer.body["warnings"]
    bench.holds(held, answer, f"warnings are {answer.body['warnings']}", "warnings")
    bench.equal(answer, "balance_check.covers_next_run", False)


@promise("recurring.paused", "States: Recurring payment, pause", "writes")
def paused(bench: Bench) -> None:
    """A paused payment has no next run and keeps the reason."""
    name = active(bench)
    answer = bench.done(f"POST {PATH}/pause", {"reason": "holiday"}, id=name)
    bench.equal(answer, "pause_reason", "holiday")
    for shown in (answer, bench.done(RECURRING, id=name)):
        bench.equal(shown, "status", "paused")
        bench.equal(shown, "next_run_at", None)


@promise("recurring.restarted", "States: Recurring payment, restart", "writes")
def restarted(bench: Bench) -> None:
    """A restarted payment is active and has a next run again."""
    name = active(bench)
    bench.done(f"POST {PATH}/pause", {}, id=name)
    bench.done(f"POST {PATH}/restart", {}, id=name)
    shown = bench.done(RECURRING, id=name)
    bench.equal(shown, "status", "active")
    bench.holds(bool(shown.body.get("next_run_at")), shown, "no next run", "next_run_at")


def _illegal(bench: Bench) -> list[tuple[str, str, JsonObject, str]]:
    """Payments with a move that their status does not allow, and the status that has to stay."""
    held, busy, fresh = active(bench), active(bench), stock.recurring(bench).text("id")
    bench.done(f"POST {PATH}/pause", {}, id=held)
    daily = _daily(bench)
    return [
        (held, f"POST {PATH}/pause", {}, "paused"), (busy, f"POST {PATH}/restart", {}, "active"),
        (busy, f"POST {PATH}/activate", {}, "active"), (busy, SCHEDULE, daily, "active"),
        (fresh, f"POST {PATH}/pause", {}, "draft"), (fresh, f"POST {PATH}/restart", {}, "draft"),
        (fresh, f"POST {PATH}/activate", {}, "draft"),
    ]  # fmt: skip


@promise("recurring.illegal_move", "States: Recurring payment", "writes")
def illegal_move(bench: Bench) -> None:
    """A move that the status does not allow is refused and changes nothing."""
    for name, operation, body, status in _illegal(bench):
        answer = bench.call(operation, body, id=name)
        held = 400 <= answer.status < 500
        bench.holds(held, answer, f"answers {answer.short} to what is {status}", "status")
        bench.equal(bench.done(RECURRING, id=name), "status", status, after=(answer,))


@guess("recurring.illegal_code", "S20", "writes")
def illegal_code(bench: Bench) -> None:
    """A move that the status does not allow answers 409 invalid_state."""
    for name, operation, body, _ in _illegal(bench):
        bench.refused(bench.call(operation, body, id=name), 409, "invalid_state")


@promise("recurring.unreviewed", "States: Recurring payment, reviewed draft", "writes")
def unreviewed(bench: Bench) -> None:
    """A payment that was not reviewed since its schedule was set cannot be activated."""
    name = _scheduled(bench)
    answer = bench.call(f"POST {PATH}/activate", {}, id=name)
    bench.holds(400 <= answer.status < 500, answer, f"answers {answer.short}", "status")
    bench.equal(bench.done(RECURRING, id=name), "status", "draft", after=(answer,))


def past(bench: Bench, name: str, runs: int) -> None:
    """Move the clock an hour past the run of that number from now on, of a daily payment."""
    first = instant(bench.done(RECURRING, id=name).text("next_run_at"))
    bench.world.advance_to(first + timedelta(days=runs - 1, hours=1))


def _runs(bench: Bench, name: str) -> Answer:
    return bench.done(f"GET {PATH}/transactions", id=name)


@promise("recurring.run", "Recurring payment: Run behaviour", "writes", "control")
def run(bench: Bench) -> None:
    """At its time a run makes a transaction that the payment lists, with the run's number in its reference."""
    name = active(bench)
    before = bench.done(RECURRING, id=name)
    bench.world.control.post("/clock/advance", {"to": before.text("next_run_at")})
    page = _runs(bench, name)
    references = [row["reference"] for row in page.items]
    due = [f"{before.text('reference')}-1"]
    bench.holds(references == due, page, f"references are {references}, not {due}", "data")
    after = bench.done(RECURRING, id=name)
    bench.equal(after, "runs_completed", 1)
    moved = instant(after.text("next_run_at")) - instant(before.text("next_run_at"))
    bench.holds(moved == timedelta(days=1), after, f"the next run lies {moved} later", "next_run_at")
    order = bench.done("GET /orders/{order_id}", order_id=str(page.items[0]["id"]))
    bench.equal(order, "recurring_payment", name)
    listed = bench.done("GET /orders", query={"recurring_payment": name})
    bench.equal(listed, "pagination.total", 1)
    filtered = bench.done("GET /transactions", query={"recurring_payment_id": name})
    bench.equal(filtered, "pagination.total", 1)


@promise("recurring.no_early_run", "Recurring payment: Run behaviour", "writes", "control")
def no_early_run(bench: Bench) -> None:
    """Before its time, and while the payment is paused, nothing runs; missed runs are not paid later."""
    name = active(bench)
    bench.done(f"POST {PATH}/pause", {}, id=name)
    # Not a whole number of days: the clock may stand at the very time of the runs.
    bench.world.advance("5d7m")
    bench.equal(_runs(bench, name), "pagination.total", 0)
    bench.done(f"POST {PATH}/restart", {}, id=name)
    bench.world.advance_to(instant(bench.done(RECURRING, id=name).text("next_run_at")) - MINUTE)
    bench.equal(_runs(bench, name), "pagination.total", 0)


@promise("recurring.auto_pause", "Limits: Recurring run auto-pause", "writes", "control")
def auto_pause(bench: Bench) -> None:
    """Three failed runs in a row pause a payment, two do not."""
    name = active(bench)
    bench.world.act("set_balance", symbol="USDC", network="CELO", amount="0")
    past(bench, name, 2)
    bench.equal(bench.done(RECURRING, id=name), "status", "active")
    past(bench, name, 1)
    shown = bench.done(RECURRING, id=name)
    bench.equal(shown, "status", "paused")
    bench.equal(shown, "runs_completed", 0)
    bench.equal(_runs(bench, name), "pagination.total", 0)


@promise("recurring.completes", "States: Recurring payment, last scheduled run finishes", "writes", "control")
def completes(bench: Bench) -> None:
    """After its last run a payment is completed and runs no more."""
    name = active(bench, end={"type": "after_occurrences", "occurrences": 2})
    bench.equal(bench.done(RECURRING, id=name), "total_runs", 2)
    past(bench, name, 2)
    shown = bench.done(RECURRING, id=name)
    bench.equal(shown, "status", "completed")
    bench.equal(shown, "runs_completed", 2)
    bench.world.advance("3d")
    bench.equal(_runs(bench, name), "pagination.total", 2)


@promise("recurring.deleted", "States: Recurring payment, delete", "writes", "control")
def deleted(bench: Bench) -> None:
    """A deleted payment runs no more, and its past transactions are kept."""
    name = active(bench)
    past(bench, name, 1)
    made = str(_runs(bench, name).items[0]["id"])
    bench.done(f"DELETE {PATH}", id=name)
    before = bench.total("GET /transactions")
    bench.world.advance("3d")
    page = bench.done("GET /transactions", query={"size": 1})
    bench.equal(page, "pagination.total", before)
    bench.accepted(bench.call("GET /transactions/{id}", id=made), 200)


LAWS = (
    draft, scheduled, schedule_shown, schedule_fields, activate, next_run, short_months, on_date, review,
    review_warns, paused, restarted, illegal_move, illegal_code, unreviewed, run, no_early_run, auto_pause,
    completes, deleted,
)  # fmt: skip
