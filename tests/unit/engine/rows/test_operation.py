"""The operation table and a room: the defaults of a row."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from simulator.engine.rows.operation import Call, Operation, Probe, ProbeOutcome
from simulator.engine.rows.room import Room
from simulator.engine.text.fields import Nothing
from tests.unit.engine.rows import lamps

ROW = Operation("GET", "/lamps", "lamps.list", "Lamps", "Lists lamps", lambda call: {})


def test_operation_defaults() -> None:
    assert (ROW.status, ROW.body(), ROW.query, ROW.errors, ROW.basis) == (200, Nothing, None, {}, "specified")
    assert (ROW.group, ROW.reads, ROW.money) == ("", False, False)
    assert (ROW.token, ROW.profile_gate, ROW.idempotent) == (True, True, True)


@pytest.mark.parametrize(
    ("method", "takes"),
    [("GET", False), ("HEAD", False), ("DELETE", False), ("POST", True), ("PUT", True), ("PATCH", True)],
)
def test_posts_puts_and_patches_take_a_body(method: str, takes: bool) -> None:
    assert Operation(method, "/", "n", "t", "s", lambda call: None).takes_body is takes


def test_the_table_is_never_edited() -> None:
    with pytest.raises(FrozenInstanceError):
        ROW.status = 201  # type: ignore[misc]  # frozen, as a type checker sees, too


def test_a_call_begins_with_nothing_but_its_path_and_leaves_a_trace() -> None:
    asked = Call(lamps.make(), "practice", {"id": "lamp_1"})
    assert (asked.raw, asked.body, asked.query, asked.resource, asked.caller) == ({}, None, None, None, None)
    assert asked.path == {"id": "lamp_1"}
    assert asked.trace
    assert asked.raw is not Call(lamps.make(), "practice", {}).raw


def test_a_probe_hands_its_outcome_on() -> None:
    probe = Probe("http://localhost/", b"{}", "whk", lambda outcome: {"status": outcome.status, "error": outcome.error})
    assert probe.then(ProbeOutcome(200)) == {"status": 200, "error": None}
    assert probe.then(ProbeOutcome(None, "refused")) == {"status": None, "error": "refused"}


def test_a_room_adds_only_its_declared_rows() -> None:
    room = Room("lamps", operations=(ROW,))
    assert room.operations == (ROW,)
    assert (room.actions, room.timers, room.kinds, room.on_event, room.on_created, room.setup) == (
        (),
        (),
        (),
        (),
        (),
        None,
    )
