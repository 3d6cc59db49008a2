"""The state table of endpoints, transition by transition."""

from __future__ import annotations

import pytest

from simulator.engine.records.records import find, move, present
from simulator.engine.webhooks.states import WEBHOOK
from simulator.kernel.journal import Cause
from simulator.kernel.machine import IllegalMove
from tests.unit.engine.webhooks.support import register, webhook_world

LEGAL = {
    ("enabled", "disable"): "disabled",
    ("enabled", "repeated_failures"): "disabled",
    ("enabled", "delete"): "deleted",
    ("disabled", "enable"): "enabled",
    ("disabled", "delete"): "deleted",
}
TRIGGERS = ("register", "disable", "repeated_failures", "enable", "delete")
PATHS = {"enabled": (), "disabled": ("disable",), "deleted": ("delete",)}


def test_an_endpoint_begins_enabled() -> None:
    assert WEBHOOK.begin("register").target == "enabled"


@pytest.mark.parametrize("state", list(PATHS))
@pytest.mark.parametrize("trigger", TRIGGERS)
def test_every_cell(state: str, trigger: str) -> None:
    world = webhook_world()
    endpoint = present(find(world, register(world)))
    with world.change(Cause("action", "test")):
        for step in PATHS[state]:
            endpoint = move(world, endpoint, step)
    events, before = world.journal.event_count, world.store.tables()
    if (state, trigger) in LEGAL:
        with world.change(Cause("action", "test")):
            assert move(world, endpoint, trigger).status == LEGAL[state, trigger]
        assert world.journal.event_count == events
        return
    with pytest.raises(IllegalMove), world.change(Cause("action", "test")):
        move(world, endpoint, trigger)
    assert world.store.tables() == before
