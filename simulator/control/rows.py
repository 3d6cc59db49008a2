"""All rows of the control interface, in the order of its page."""

from __future__ import annotations

from collections import Counter

from simulator.control import (
    actions,
    advance,
    clock,
    faults,
    health,
    insight,
    journal,
    queries,
    reach,
    recording,
    reference,
    scenarios,
    settings,
    snapshots,
    timers,
    worlds,
)
from simulator.control.inbox import Inboxes
from simulator.control.operation import ControlOperation
from simulator.control.stream import Streams


def control_rows(extra: tuple[ControlOperation, ...] = ()) -> tuple[ControlOperation, ...]:
    """A fresh table; the inboxes and streams of a server belong to it. `extra`: rows of packages above this one.

    ValueError for two rows of one name: the journal of control calls knows a call by it.
    """
    rows = (
        *health.ROWS,
        *worlds.ROWS,
        *settings.ROWS,
        *reference.ROWS,
        *snapshots.ROWS,
        *clock.ROWS,
        *advance.ROWS,
        *timers.ROWS,
        *actions.ROWS,
        *reach.ROWS,
        *journal.ROWS,
        *recording.ROWS,
        *scenarios.ROWS,
        *faults.ROWS,
        *queries.ROWS,
        *insight.ROWS,
        *Streams().rows(),
        *Inboxes().rows(),
        *extra,
    )
    twice = [name for name, count in Counter(row.name for row in rows).items() if count > 1]
    if twice:
        raise ValueError(f"two control calls are called {twice[0]}")
    return rows
