"""Paths to an event: from every state of every state table, cheapest first, or a refusal with the reason."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest

from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.run.drive import DriveCall, Until, action
from simulator.engine.scenario.run.paths import Path, factory_for, paths_to, paths_where
from simulator.engine.scenario.run.triggers import Factory, Setup, Triggers
from simulator.engine.vocabulary.vocabulary import collected
from simulator.kernel.machine import Machine
from simulator.kernel.world import World
from tests.calls import world_of
from tests.unit.engine.scenario import shop
from tests.unit.engine.scenario.shop import KINDS, Thing

TRIGGERS = Triggers(
    without_funds=lambda world, actions, target, cause: nullcontext(),
    factories=tuple(
        Factory(kind, lambda world, environment, event: Setup(()), {"order.failed": (action("fail"),)} if late else {})
        for kind, late in (("purchase", False), ("buyback", False), ("dispatch", True), ("parcel", False))
    ),
    parameters=lambda record, move: {"amount": "0.01"} if move.when == "short" else {},
)
PROVIDER = replace(shop.PROVIDER, triggers=lambda: TRIGGERS)
ACTIONS = collected(PROVIDER).actions


@pytest.fixture
def world() -> World:
    return world_of(PROVIDER)


def thing(kind: str, status: str, **more: Any) -> Thing:
    fields: dict[str, Any] = {"id": "thing_1", "environment": "practice", "sequence": 1, "created_at_ms": 0}
    return Thing(**fields, updated_at_ms=0, status=status, sort=kind, **more)


def paths(world: World, record: Any, event: str) -> list[Path]:
    """The paths, or none if they are refused."""
    try:
        return paths_to(world, ACTIONS, record, event)
    except ControlError:
        return []


def reaches(machine: Machine, state: str, event: str, nobody: Collection[str] = ()) -> int | None:
    """Return the length of the shortest path, by an independent search. Moves that nobody makes are left out."""
    queue, seen = deque([(state, 0)]), {state}
    while queue:
        here, steps = queue.popleft()
        for move in machine.rows[here]:
            if move.on in nobody:
                continue
            if event in move.events:
                return steps + 1
            if move.target not in seen:
                seen.add(move.target)
                queue.append((move.target, steps + 1))
    return None


def cells_of(kinds: Collection[Any]) -> list[tuple[str, str, str]]:
    """Kind, state and event: all of them that a kind has."""
    return [
        (kind.name, state, event)
        for kind in kinds
        for state in kind.machine.rows
        for event in sorted({event for row in kind.machine.rows.values() for move in row for event in move.events})
    ]


def check_cell(found: list[Path], event: str, shortest: int | None) -> None:
    """A path exists exactly if the table has one."""
    assert min((len(path.moves) for path in found), default=None) == shortest
    for path in found:
        assert event in path.moves[-1].events
        assert path.steps


@pytest.mark.parametrize(("kind", "state", "event"), cells_of([one for one in KINDS.values() if one.name != "network"]))
def test_path_exists_exactly_if_the_table_has_one(world: World, kind: str, state: str, event: str) -> None:
    check_cell(paths(world, thing(kind, state), event), event, reaches(KINDS[kind].machine, state, event))


def test_cheapest_path_comes_first(world: World) -> None:
    first, *others = paths(world, thing("purchase", "awaiting_payment"), "order.failed")
    assert first.steps == (action("payment_declined", "thing_1"),)
    assert [path.steps for path in others] == [(action("payment_arrives", "thing_1"), action("fail", "thing_1"))]
    assert first.cost < others[0].cost


def test_parameters_choose_among_moves_of_one_action(world: World) -> None:
    (path,) = paths_where(world, ACTIONS, thing("buyback", "awaiting_parcel"), lambda move: move.when == "short")
    assert path.steps == (action("parcel_arrives", "thing_1", amount="0.01"),)


def test_timer_move_is_a_wait(world: World) -> None:
    (path,) = paths(world, thing("offer", "active"), "offer.expired")
    assert path.steps == (Until("thing_1", ("offer.expiry",)),)
    assert path.waits == 1


@pytest.mark.parametrize(
    ("record", "on", "call"),
    [
        (thing("offer", "active"), "confirm", DriveCall(post="/offers/thing_1/confirm", body={})),
        (thing("webhook", "disabled"), "enable", DriveCall(patch="/webhooks/thing_1", body={"status": "enabled"})),
        (thing("webhook", "enabled"), "delete", DriveCall(delete="/webhooks/thing_1")),
    ],
)
def test_a_move_of_the_account_is_a_call(world: World, record: Thing, on: str, call: DriveCall) -> None:
    (path, *_) = paths_where(world, ACTIONS, record, lambda move: move.on == on)
    assert path.steps == (call,)


def test_refusal_lists_the_allowed_actions(world: World) -> None:
    with pytest.raises(ControlError) as caught:
        paths_to(world, ACTIONS, thing("purchase", "refunded"), "order.failed")
    assert (caught.value.status, caught.value.code) == (409, "invalid_transition")
    assert caught.value.members == {"allowed": []}
    with pytest.raises(ControlError) as caught:
        paths_to(world, ACTIONS, thing("purchase", "processing"), "parcel.failed")
    assert caught.value.members == {"allowed": ["complete", "fail", "refund"]}


@pytest.mark.parametrize(
    ("record", "event", "reason"),
    [
        (thing("gift", "pending", owner="u_2"), "order.failed", "another user"),
        (thing("gift", "pending"), "parcel.failed", "is about a parcel, but thing_1 is a gift"),
        (thing("purchase", "processing"), "order.created", "happens only when a resource is created"),
        (thing("purchase", "refunded"), "order.failed", "no legal path from a purchase in the state 'refunded'"),
    ],
)
def test_an_event_out_of_reach_is_refused_with_the_reason(world: World, record: Thing, event: str, reason: str) -> None:
    with pytest.raises(ControlError, match=reason):
        paths_to(world, ACTIONS, record, event)


def test_the_first_factory_of_a_kind_that_emits_the_event_makes_its_object(world: World) -> None:
    assert factory_for(world, "order.completed").kind == "purchase"
    assert factory_for(world, "parcel.confirmed").kind == "parcel"
    assert factory_for(world, "order.failed").kind == "dispatch", "its steps to the event are named"
