"""The steps that cause the events of a recurring payment: activation, successful and failed runs, and the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from simulator.engine.records.records import find
from simulator.engine.rows.action import ActionTable
from simulator.engine.scenario.run.drive import Drive, DriveCall, Until
from simulator.engine.text.json import JsonObject
from simulator.kernel.clock import MINUTE_MS, to_datetime
from simulator.kernel.journal import Cause
from simulator.kernel.ledger import available
from simulator.kernel.world import World
from simulator.providers.ramp.recurring import NOTICE, RUN, RecurringPayment
from simulator.providers.ramp.shapes import upper
from simulator.providers.ramp.transactions import holder

_LAST_RUN = 1_000_000


def steps(world: World, record: RecurringPayment, on: str) -> Drive:
    """Return the calls and waits that lead to the transition `on`, or () if none are needed or it cannot happen."""
    if on == "activate":
        path = f"/recurring-payments/{record.id}"
        plan = () if record.schedule else (DriveCall(put=f"{path}/schedule", body=schedule_from(world.now_ms)),)
        return (*plan, DriveCall(get=f"{path}/review"), DriveCall(post=f"{path}/activate", body={}))
    if on == "announce_run":
        return (Until(record.id, (NOTICE, RUN), most=3),)
    if on in ("run_succeeds", "run_fails"):
        return (Until(record.id, (RUN,), empty=on == "run_fails"),)
    never_ends = record.schedule is None or record.schedule.end == "never"
    return (Until(record.id, (RUN,), most=_LAST_RUN),) if on == "finish" and not never_ends else ()


def schedule_from(at_ms: int, occurrences: int | None = None) -> JsonObject:
    """Return a daily schedule whose first run is at `at_ms`, rounded up to a whole minute."""
    first = to_datetime(-(-at_ms // MINUTE_MS) * MINUTE_MS)
    end = {"type": "never"} if occurrences is None else {"type": "after_occurrences", "occurrences": occurrences}
    day, time = first.strftime("%Y-%m-%d"), first.strftime("%H:%M")
    return {"frequency": "daily", "start_date": day, "time": time, "timezone": "UTC", "end": end}


@contextmanager
def without_funds(world: World, actions: ActionTable, payment_id: str, cause: Cause) -> Iterator[None]:
    """During the block, the balance that pays for a recurring payment is zero. Call it inside a transaction."""
    payment = find(world, payment_id)
    if not isinstance(payment, RecurringPayment):
        raise TypeError(f"{payment_id} is not a recurring payment")
    source, environment = payment.source, payment.environment
    balance = world.ledger.balance(available(holder(environment)), source.key)
    asset = {"symbol": source.code, "network": upper(source.network or "")}
    actions.perform(world, "set_balance", None, {**asset, "amount": "0"}, environment, cause)
    yield
    actions.perform(world, "set_balance", None, {**asset, "amount": f"{balance:f}"}, environment, cause)
