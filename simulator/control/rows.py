"""All rows of the control interface, in the order of its page."""

from __future__ import annotations

from simulator.control import (
    actions,
    advance,
    calls,
    clock,
    deliveries,
    faults,
    health,
    insight,
    journal,
    ledger,
    queries,
    reach,
    recording,
    reference,
    resending,
    scenarios,
    search,
    set_aside,
    settings,
    snapshots,
    states,
    subscribing,
    timeline,
    timers,
    usage,
    worlds,
)
from simulator.control.inbox import Inboxes
from simulator.control.operation import ControlOperation
from simulator.control.stream import EventStreams
from simulator.wire.rows import by_name


def control_rows(extra: tuple[ControlOperation, ...] = ()) -> tuple[ControlOperation, ...]:
    """A fresh table; the inboxes and streams of a server belong to it. `extra`: rows of packages above this one.

    ValueError for two rows of one name: the journal of control calls knows a call by it.
    """
    rows = (
        *health.ROWS,
        *health.MetricsPage().rows(),
        *worlds.ROWS,
        *usage.ROWS,
        *settings.ROWS,
        *reference.ROWS,
        *set_aside.ROWS,
        *snapshots.ROWS,
        *clock.ROWS,
        *advance.ROWS,
        *timers.ROWS,
        *actions.ROWS,
        *states.ROWS,
        *reach.ROWS,
        *journal.ROWS,
        *recording.ROWS,
        *scenarios.ROWS,
        *faults.ROWS,
        *queries.ROWS,
        *calls.ROWS,
        *resending.ROWS,
        *deliveries.ROWS,
        *search.ROWS,
        *ledger.ROWS,
        *timeline.ROWS,
        *insight.ROWS,
        *EventStreams().rows(),
        *Inboxes().rows(),
        *subscribing.ROWS,
        *extra,
    )
    return tuple(by_name("control calls", rows, lambda row: row.name).values())
