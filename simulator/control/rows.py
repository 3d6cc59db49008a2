"""All rows of the control interface, in the order of its page."""

from __future__ import annotations

from simulator.control import actions, clock, faults, insight, scenarios, seeing, worlds
from simulator.control.inbox import Inboxes
from simulator.control.operation import ControlOperation


def control_rows(extra: tuple[ControlOperation, ...] = ()) -> tuple[ControlOperation, ...]:
    """A fresh table; the inboxes of a server belong to it. `extra`: rows of packages above this one."""
    return (
        *worlds.ROWS,
        *clock.ROWS,
        *actions.ROWS,
        *scenarios.ROWS,
        *faults.ROWS,
        *seeing.ROWS,
        *insight.ROWS,
        *Inboxes().rows(),
        *extra,
    )
