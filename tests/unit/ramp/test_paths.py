"""Paths to an event of the ramp: from every state of every state table, cheapest first, or a refusal."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from simulator.engine.records.records import find, present
from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.run.drive import DriveCall, Until, action
from simulator.engine.scenario.run.paths import Path, factory_for, paths_to
from simulator.engine.scenario.run.triggers import Setup
from simulator.engine.worlds.simulator import Blueprint
from simulator.host import Simulator, vocabulary
from simulator.kernel.world import World
from simulator.providers.ramp.transactions import Side
from simulator.providers.ramp.triggers.recurring_runs import schedule_from
from tests.unit.engine.scenario.test_paths import cells_of, check_cell, reaches

SIMULATOR = Simulator()
SIDE = Side("USDC", "celo", Decimal(1))
NOBODY = {"confirm", "settle", "disable", "repeated_failures", "fail_repeatedly", "set_schedule", "create"}
"""Moves that no action, call or timer makes."""


@pytest.fixture
def world() -> World:
    fresh = Simulator(library=SIMULATOR.library)
    return fresh.create_world(Blueprint("default", 1))


@dataclass
class Thing:
    """A record with a given status."""

    kind: str
    status: str
    id: str = "thing_1"
    owner: str = ""
    name: str = "celo"
    network: str = "bitcoin"
    counterparty: str | None = None
    funds_received: int = 1
    wallet_id: str = "wal_1"
    environment: str = "sandbox"
    paid: Any = SIDE
    received: Any = SIDE
    schedule: Any = field(default_factory=lambda: SimpleNamespace(end="after_occurrences"))


def paths(world: World, thing: Any, event: str) -> list[Path]:
    try:
        return paths_to(world, SIMULATOR.actions, thing, event)
    except ControlError:
        return []


CELLS = cells_of(
    [one for one in SIMULATOR.wiring.kinds.values() if one.name not in ("lightning_address", "wallet", "invoice")]
)


@pytest.mark.parametrize(("kind", "state", "event"), CELLS)
def test_path_exists_exactly_if_the_table_has_one(world: World, kind: str, state: str, event: str) -> None:
    shortest = reaches(SIMULATOR.wiring.kinds[kind].machine, state, event, NOBODY)
    check_cell(paths(world, Thing(kind, state), event), event, shortest)


def test_cheapest_path_comes_first(world: World) -> None:
    first = paths(world, Thing("onramp", "awaiting_payment"), "transaction.failed")[0]
    assert first.steps == (action("payment_declined", "thing_1"),)
    short = paths(world, Thing("offramp", "awaiting_deposit"), "transaction.failed")[0]
    assert short.steps == (action("deposit_arrives", "thing_1", amount="0.000001"),)


def test_timer_move_is_a_wait(world: World) -> None:
    (path,) = paths(world, Thing("ramp_quote", "active"), "quote.expired")
    (until,) = path.steps
    assert isinstance(until, Until)
    assert "quote.expiry" in until.timers
    assert set(until.timers) <= set(SIMULATOR.wiring.timers)


def test_draft_is_scheduled_and_activated_by_calls(world: World) -> None:
    draft = Thing("recurring_payment", "draft", schedule=None)
    (path, *_) = paths(world, draft, "recurring_payment.activated")
    assert [step.method for step in path.steps if isinstance(step, DriveCall)] == ["put", "get", "post"]


def test_refusal_lists_the_allowed_actions(world: World) -> None:
    thing: Any = Thing("onramp", "processing")
    with pytest.raises(ControlError) as caught:
        paths_to(world, SIMULATOR.actions, thing, "transaction.expired")
    refusal = caught.value
    assert (refusal.status, refusal.code, refusal.members) == (
        409,
        "invalid_transition",
        {"allowed": ["complete", "fail", "refund"]},
    )


def test_a_schedule_without_end_never_completes(world: World) -> None:
    thing = Thing("recurring_payment", "active", schedule=SimpleNamespace(end="never"))
    assert paths(world, thing, "recurring_payment.completed") == []


def test_another_users_object_is_not_moved(world: World) -> None:
    thing: Any = Thing("send", "pending", owner="u_2")
    with pytest.raises(ControlError, match="another user"):
        paths_to(world, SIMULATOR.actions, thing, "transaction.failed")


@pytest.mark.parametrize("event", vocabulary().events)
def test_every_event_has_a_factory(world: World, event: str) -> None:
    assert factory_for(world, event).kind


def setup_for(world: World, event: str) -> Setup:
    return factory_for(world, event).set_up(world, "sandbox", event)


def test_payment_without_balance_is_refused(world: World) -> None:
    for symbol, network in (("USDC", "STELLAR"), ("XLM", "STELLAR"), ("CELO", "CELO"), ("CUSD", "CELO")):
        _empty(world, symbol, network)
    for symbol, network in (("USDC", "CELO"), ("USDT", "CELO"), ("BTC", "BITCOIN")):
        _empty(world, symbol, network)
    with pytest.raises(ControlError, match="set_balance"):
        setup_for(world, "recurring_payment.run_succeeded")
    assert setup_for(world, "recurring_payment.run_failed").drive


def _empty(world: World, symbol: str, network: str) -> None:
    values = {"symbol": symbol, "network": network, "amount": "0"}
    SIMULATOR.actions.perform(world, "set_balance", None, values, "sandbox", world.cause)


def test_network_that_is_down_is_preferred(world: World) -> None:
    values = {"network": "bitcoin", "status": "down"}
    SIMULATOR.actions.perform(world, "set_network", None, values, "sandbox", world.cause)
    bitcoin = present(find(world, setup_for(world, "network.status_changed").subject))
    path = paths_to(world, SIMULATOR.actions, bitcoin, "network.status_changed")[0]
    assert path.steps == (action("set_network", network="bitcoin", status="operational"),)


def test_a_schedule_begins_at_a_whole_minute() -> None:
    assert schedule_from(59_999)["time"] == "00:01"
    assert schedule_from(60_000, 3)["end"] == {"type": "after_occurrences", "occurrences": 3}
