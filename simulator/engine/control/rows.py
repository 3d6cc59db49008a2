"""All rows of the control interface, in the order of its page."""

from __future__ import annotations

from simulator.engine.control import health, insight
from simulator.engine.control.history import calls, journal, queries, search, timeline
from simulator.engine.control.history.stream import EventStreams
from simulator.engine.control.objects import actions, ledger, reach, states
from simulator.engine.control.operation import ControlOperation
from simulator.engine.control.scenarios import faults, recording, scenarios
from simulator.engine.control.time import advance, clock, timers
from simulator.engine.control.webhooks import deliveries, resending, subscribing
from simulator.engine.control.webhooks.inbox import Inboxes
from simulator.engine.control.worlds import set_aside, settings, snapshots, usage, worlds
from simulator.engine.rows.by_name import by_name
from simulator.engine.worlds.alternatives import Alternatives


def control_rows(
    alternatives: Alternatives, of_provider: tuple[ControlOperation, ...], extra: tuple[ControlOperation, ...] = ()
) -> tuple[ControlOperation, ...]:
    """A fresh table; the inboxes and streams of a server belong to it.

    `alternatives`: what the provider's worlds can assume otherwise. `of_provider`: its own rows, which tell what its
    worlds know. `extra`: rows of packages above this one.

    ValueError for two rows of one name: the journal of control calls knows a call by it.
    """
    rows = (
        *health.ROWS,
        *health.MetricsPage().rows(),
        *worlds.rows(alternatives),
        *usage.ROWS,
        *settings.rows(alternatives),
        *of_provider,
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
