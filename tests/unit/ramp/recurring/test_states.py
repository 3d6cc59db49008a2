"""The state table: target and events of each legal transition; each illegal one is refused and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.records.records import find, move, present, remove
from simulator.kernel.journal import Cause
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import World
from simulator.providers.ramp.recurring.states import RECURRING_PAYMENT
from tests.unit.ramp.recurring.world import active, draft, events, fresh

LEGAL = {
    ("draft", "set_schedule"): ("draft", []),
    ("draft", "activate"): ("active", ["activated"]),
    ("draft", "delete"): ("deleted", ["deleted"]),
    ("active", "announce_run"): ("active", ["run_upcoming"]),
    ("active", "run_succeeds"): ("active", ["run_succeeded"]),
    ("active", "run_fails"): ("active", ["run_failed"]),
    ("active", "fail_repeatedly"): ("paused", ["paused"]),
    ("active", "finish"): ("completed", ["completed"]),
    ("active", "pause"): ("paused", ["paused"]),
    ("active", "delete"): ("deleted", ["deleted"]),
    ("paused", "set_schedule"): ("paused", []),
    ("paused", "restart"): ("active", ["restarted"]),
    ("paused", "delete"): ("deleted", ["deleted"]),
    ("completed", "delete"): ("deleted", ["deleted"]),
}
TRIGGERS = sorted({trigger for _, trigger in LEGAL})
STATES = ("draft", "active", "paused", "completed", "deleted")


def in_state(state: str) -> tuple[World, Any]:
    world = fresh()
    payment = present(find(world, draft(world) if state == "draft" else active(world)))
    way = {"paused": "pause", "completed": "finish", "deleted": "delete"}.get(state)
    if way:
        with world.change(Cause("start", "test")):
            payment = remove(world, payment, way) if way == "delete" else move(world, payment, way)
    return world, payment


def test_table_has_exactly_these_transitions() -> None:
    cells = {(state, cell.on) for state, row in RECURRING_PAYMENT.rows.items() for cell in row}
    assert cells == set(LEGAL)
    assert [cell.target for cell in RECURRING_PAYMENT.initial] == ["draft"]


@pytest.mark.parametrize(("state", "trigger"), sorted(LEGAL))
def test_legal_transition_changes_status_and_emits_its_event(state: str, trigger: str) -> None:
    world, payment = in_state(state)
    before = events(world)
    with world.change(Cause("start", "test")):
        after = move(world, payment, trigger)
    assert (after.status, events(world)[len(before) :]) == LEGAL[state, trigger]


@pytest.mark.parametrize(
    ("state", "trigger"),
    [(state, trigger) for state in STATES for trigger in TRIGGERS if (state, trigger) not in LEGAL],
)
def test_an_illegal_move_is_refused_and_changes_nothing(state: str, trigger: str) -> None:
    world, payment = in_state(state)
    before = world.store.tables()
    with pytest.raises(IllegalMove), world.change(Cause("start", "test")):
        move(world, payment, trigger)
    assert world.store.tables() == before


def test_a_draft_begins_without_an_event() -> None:
    world, payment = in_state("draft")
    assert payment.status == "draft"
    assert events(world) == []
