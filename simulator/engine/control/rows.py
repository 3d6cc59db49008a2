"""All operations of the control API, in the order of its reference page."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.engine.control import health, insight
from simulator.engine.control.history import events, journal, requests, search, stream, timeline
from simulator.engine.control.objects import actions, ledger, reach
from simulator.engine.control.operation import ControlOperation
from simulator.engine.control.scenarios import faults, recording, scenarios
from simulator.engine.control.time import advance, clock, seeding
from simulator.engine.control.webhooks import deliveries, inbox, subscribing
from simulator.engine.control.worlds import set_aside, settings, snapshots, usage, worlds
from simulator.engine.vocabulary.vocabulary import by_name
from simulator.engine.worlds.alternatives import Alternatives
from simulator.engine.worlds.setting_model import model_of

_MODULES = (
    set_aside, snapshots, clock, advance, seeding, actions, reach, journal, recording, scenarios, faults, requests,
    events, deliveries, search, ledger, timeline, insight,
)  # fmt: skip
"""Modules with plain functions as handlers, whose operations do not depend on the service."""


def control_rows(
    alternatives: Alternatives, of_provider: Iterable[ControlOperation], extra: tuple[ControlOperation, ...] = ()
) -> tuple[ControlOperation, ...]:
    """Return the control operations of one server, including those of its inboxes and streams. `alternatives` contains
    the alternatives to the provider's assumptions. `of_provider` contains the operations that the provider adds, and
    `extra` the operations that tools add. Raise `ValueError` if two operations have the same name, because the journal
    identifies calls by name.
    """
    rows = (
        *health.operation.rows,
        *health.seeing.rows,
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
