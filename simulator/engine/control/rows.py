"""All rows of the control interface, in the order of its page."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.engine.control import health, insight
from simulator.engine.control.history import calls, journal, queries, search, stream, timeline
from simulator.engine.control.objects import actions, ledger, reach
from simulator.engine.control.operation import ControlOperation
from simulator.engine.control.scenarios import faults, recording, scenarios
from simulator.engine.control.time import advance, clock
from simulator.engine.control.webhooks import deliveries, inbox, subscribing
from simulator.engine.control.worlds import set_aside, settings, snapshots, usage, worlds
from simulator.engine.rows.by_name import by_name
from simulator.engine.worlds.alternatives import Alternatives
from simulator.engine.worlds.setting_model import model_of

_MODULES = (
    set_aside, snapshots, clock, advance, actions, reach, journal, recording, scenarios, faults, queries, calls,
    deliveries, search, ledger, timeline, insight,
)  # fmt: skip
"""Those whose calls are functions, and alike for all services."""


def control_rows(
    alternatives: Alternatives, of_provider: Iterable[ControlOperation], extra: tuple[ControlOperation, ...] = ()
) -> tuple[ControlOperation, ...]:
    """A fresh table; the inboxes and streams of a server belong to it.

    `alternatives`: what the provider's worlds can assume otherwise. `of_provider`: its own rows, which tell what its
    worlds know. `extra`: rows of packages above this one.

    ValueError for two rows of one name: the journal of control calls knows a call by it.
    """
    rows = (
        *health.operation.rows,
        *health.seeing.bound_to(health.MetricsPage()),
        *worlds.operation.with_body("create_world", worlds.body_of(alternatives)),
        *usage.operation.rows,
        *settings.operation.with_body("patch_settings", model_of(alternatives)),
        *of_provider,
        *(row for module in _MODULES for row in module.operation.rows),
        *stream.operation.bound_to(stream.EventStreams()),
        *inbox.operation.bound_to(inbox.Inboxes()),
        *subscribing.operation.rows,
        *extra,
    )
    return tuple(by_name("control calls", rows, lambda row: row.name).values())
