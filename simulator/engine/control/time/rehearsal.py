"""Rehearsing a timer: what it would bring about if it fired now, found out on a copy of the world."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext

from simulator.engine.records.records import find
from simulator.engine.rows.action import ActionTable, events_since
from simulator.engine.worlds.simulator import Simulator
from simulator.kernel.agenda import Timer
from simulator.kernel.journal import Cause, Event
from simulator.kernel.ledger import available
from simulator.kernel.world import World
from simulator.providers.ramp.recurring import RecurringPayment
from simulator.providers.ramp.spelling import upper
from simulator.providers.ramp.transactions import holder


def rehearse(simulator: Simulator, world: World, timer: Timer, cause: Cause, *, empty: bool) -> Sequence[Event]:
    """The events that a timer would emit at its due time, as things stand; with an empty balance if that is asked.

    It fires in a copy, whose clock can be moved there and forgotten: the clock of a world never goes back. What the
    present change has written is in the copy, because its tables are copied as they are.
    """
    copy = simulator.from_state(simulator.state_of(world), world.id)
    copy.clock.move_to(max(copy.now_ms, timer.due_at_ms))
    with copy.change(cause), emptied(copy, simulator.actions, timer.target, cause) if empty else nullcontext():
        copy.agenda.take(timer)
        copy.wiring.timers[timer.kind].handler(copy, timer)
    return events_since(copy, world.journal.event_count)


@contextmanager
def emptied(world: World, actions: ActionTable, payment_id: str, cause: Cause) -> Iterator[None]:
    """Leave nothing of the asset that a recurring payment is made from while the block works; inside a change."""
    payment = find(world, payment_id)
    if not isinstance(payment, RecurringPayment):
        raise TypeError(f"{payment_id} is no recurring payment")
    source, environment = payment.source, payment.environment
    balance = world.ledger.balance(available(holder(environment)), source.key)
    place = {"symbol": source.code, "network": upper(source.network or "")}
    actions.perform(world, "set_balance", None, {**place, "amount": "0"}, environment, cause)
    yield
    actions.perform(world, "set_balance", None, {**place, "amount": f"{balance:f}"}, environment, cause)
