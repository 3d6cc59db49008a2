"""A world: changes with a cause, and timers that fire exactly at their due time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simulator.kernel.agenda import Timer
from simulator.kernel.clock import Clock
from simulator.kernel.journal import Cause
from simulator.kernel.world import TimerRow, Wiring, World
from tests.unit.kernel.breaking import Refused, broken_off

BY_REQUEST = Cause("request", "quotes.create", "req_1")
BY_ACTION = Cause("action", "payment_arrives")
Fired = list[tuple[int, str, str]]


def wiring(**handlers: Any) -> Wiring:
    """Timers of these kinds and handlers."""
    return Wiring(timers={kind: TimerRow(kind, handler, kind) for kind, handler in handlers.items()})


def make(**handlers: Any) -> tuple[World, Fired]:
    """A world whose timers of kind `note` are written down: when, on what, and for which cause."""
    fired: Fired = []

    def note(world: World, timer: Timer) -> None:
        fired.append((world.now_ms, timer.target, f"{world.cause.kind} {world.cause.name}"))

    return World("w", 7, Clock(1_000), wiring(note=note, **handlers)), fired


def plan(world: World, *plans: tuple[int, str, str]) -> None:
    with world.change(BY_REQUEST):
        for due_at_ms, kind, target in plans:
            world.agenda.plan(due_at_ms, kind, target)


def test_a_world_begins_empty_at_the_time_of_its_clock() -> None:
    world, _ = make()
    assert (world.id, world.seed, world.now_ms, world.started_at_ms) == ("w", 7, 1_000, 1_000)
    assert world.keys_of == "w"
    assert world.cause == Cause("start", "world")
    assert world.origin is None
    assert world.store.tables() == {}
    assert world.environments == ()


def test_world_has_the_given_environments_and_keys_of() -> None:
    world = World("w", 7, Clock(0), Wiring(environments=("north", "south")), keys_of="other")
    assert world.environments == ("north", "south")
    assert world.keys_of == "other"


def test_a_world_starts_when_it_was_made_however_far_its_clock_runs() -> None:
    world, _ = make()
    world.clock.move_to(5_000)
    assert (world.started_at_ms, world.now_ms) == (1_000, 5_000)


def test_a_named_count_starts_from_one() -> None:
    world, _ = make()
    with world.change(BY_REQUEST):
        assert [world.next_sequence("a"), world.next_sequence("a"), world.next_sequence("b")] == [1, 2, 1]


def test_a_change_has_its_cause_and_origin_for_as_long_as_it_lasts() -> None:
    world, _ = make()
    origin = object()
    with world.change(BY_REQUEST, origin):
        assert (world.cause, world.origin) == (BY_REQUEST, origin)
    assert (world.cause, world.origin) == (Cause("start", "world"), None)


def test_the_cause_of_an_inner_change_ends_with_it() -> None:
    world, _ = make()
    origin = object()
    with world.change(BY_REQUEST, origin):
        with world.change(BY_ACTION):
            assert (world.cause, world.origin) == (BY_ACTION, None)
        assert (world.cause, world.origin) == (BY_REQUEST, origin)


def test_a_change_that_raises_leaves_no_trace() -> None:
    world, fired = make()
    plan(world, (2_000, "note", "a"))
    before = world.store.tables()
    with broken_off(world.change(BY_ACTION)):
        world.streams.draw("ids")
        world.next_sequence("a")
        world.agenda.cancel("note", "a")
        world.agenda.plan(1_500, "note", "b")
    assert world.store.tables() == before
    assert world.cause == Cause("start", "world")
    assert world.fire_due(9_000) == 1
    assert fired == [(2_000, "a", "law note")]


def test_a_timer_fires_at_exactly_its_due_time_and_by_law() -> None:
    world, fired = make()
    plan(world, (2_500, "note", "b"), (2_000, "note", "a"))
    timer = world.fire_next(9_000)
    assert timer is not None
    assert timer.target == "a"
    assert world.now_ms == 2_000
    assert fired == [(2_000, "a", "law note")]
    assert len(world.agenda) == 1


def test_timer_at_the_end_of_the_span_fires() -> None:
    world, fired = make()
    plan(world, (2_000, "note", "a"), (2_001, "note", "b"))
    assert world.fire_next(1_999) is None
    assert world.now_ms == 1_000
    assert world.fire_next(2_000) is not None
    assert world.fire_next(2_000) is None
    assert [target for _, target, _ in fired] == ["a"]
    assert world.now_ms == 2_000


def test_nothing_fires_when_nothing_is_planned() -> None:
    world, _ = make()
    assert world.fire_next(9_000) is None
    assert world.fire_due(9_000) == 0
    assert world.now_ms == 1_000


def test_late_timer_fires_without_moving_the_clock_back() -> None:
    world, fired = make()
    plan(world, (500, "note", "late"), (1_000, "note", "due"))
    assert world.fire_due() == 2
    assert [(at_ms, target) for at_ms, target, _ in fired] == [(1_000, "late"), (1_000, "due")]


def test_only_due_timers_fire() -> None:
    world, fired = make()
    plan(world, (1_000, "note", "now"), (1_001, "note", "later"))
    assert world.fire_due() == 1
    assert [target for _, target, _ in fired] == ["now"]


def test_timers_that_are_made_by_timers_inside_the_span_fire_in_it() -> None:
    def chain(world: World, timer: Timer) -> None:
        world.agenda.plan(world.now_ms + 100, "note", f"after {timer.target}")
        world.agenda.plan(world.now_ms, "note", f"with {timer.target}")
        if timer.target < "c":
            world.agenda.plan(world.now_ms + 1_000, "chain", chr(ord(timer.target) + 1))

    world, fired = make(chain=chain)
    plan(world, (2_000, "chain", "a"), (2_000, "note", "planned before"))
    assert world.fire_due(3_100) == 7
    assert [(at_ms, target) for at_ms, target, _ in fired] == [
        (2_000, "planned before"),
        (2_000, "with a"),
        (2_100, "after a"),
        (3_000, "with b"),
        (3_100, "after b"),
    ]
    assert [timer.target for timer in world.agenda.in_firing_order()] == ["c"]
    assert world.now_ms == 3_100


def test_a_handler_that_raises_leaves_its_timer_planned_and_no_other_trace() -> None:
    def break_off(world: World, timer: Timer) -> None:
        world.next_sequence("a")
        world.agenda.plan(world.now_ms, "note", "b")
        raise Refused

    world, fired = make(broken=break_off)
    plan(world, (2_000, "broken", "a"))
    before = world.store.tables()
    with pytest.raises(Refused):
        world.fire_due(9_000)
    assert world.store.tables() == before
    assert world.agenda.next() == before["timers"]["broken:a"]
    assert fired == []
    assert world.now_ms == 2_000


def test_failed_timer_is_undone_removed_and_reported() -> None:
    def break_off(world: World, timer: Timer) -> None:
        world.next_sequence("lost")
        world.agenda.plan(world.now_ms, "note", "lost")
        raise Refused

    def record(world: World, timer: Timer, error: Exception) -> None:
        assert world.cause == Cause("law", "broken")
        failed.append((timer.target, type(error)))
        world.next_sequence("kept")

    failed: list[tuple[str, type[Exception]]] = []
    fired: Fired = []
    timers = wiring(broken=break_off, note=lambda world, timer: fired.append((world.now_ms, timer.target, "")))
    world = World("w", 7, Clock(1_000), replace(timers, on_failure=record))
    plan(world, (2_000, "broken", "a"), (2_000, "note", "b"), (3_000, "broken", "c"))
    assert world.fire_due(9_000) == 3
    assert failed == [("a", Refused), ("c", Refused)]
    assert fired == [(2_000, "b", "")]
    assert world.store.tables()["sequences"] == {"timer": 3, "kept": 2}
    assert len(world.agenda) == 0


def test_a_timer_that_fails_inside_a_larger_change_is_undone_alone() -> None:
    def break_off(world: World, timer: Timer) -> None:
        world.next_sequence("lost")
        raise Refused

    world = World("w", 7, Clock(1_000), replace(wiring(broken=break_off), on_failure=lambda *_: None))
    plan(world, (1_000, "broken", "a"))
    with world.change(BY_REQUEST):
        world.next_sequence("kept")
        world.fire_next(1_000)
    assert world.store.tables()["sequences"] == {"timer": 1, "kept": 1}


def test_the_arguments_of_a_timer_reach_its_handler() -> None:
    seen: list[Timer] = []
    world, _ = make(keep=lambda world, timer: seen.append(timer))
    with world.change(BY_REQUEST):
        world.agenda.plan_another(2_000, "keep", "a", attempt=3)
    world.fire_due(2_000)
    assert [(timer.target, timer.arguments) for timer in seen] == [("a", {"attempt": 3})]
