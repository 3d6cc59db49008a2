"""Network status: every transition of the state table, its event, refusals, and network stats."""

from __future__ import annotations

import json
from itertools import permutations

import pytest

from simulator.engine.records.records import move
from simulator.engine.rows.action import Performed
from simulator.engine.rows.error import ApiError, ControlError
from simulator.engine.scenario.play.delays import networks_of
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import World
from simulator.providers.ramp.provider import PROVIDER
from simulator.providers.ramp.reference import NETWORK_ASSETS, NETWORKS, ROOM, network_status, require_network
from simulator.providers.ramp.reference.networks import latest_block, network
from simulator.providers.ramp.reference.states import NETWORK, STATUSES
from tests.support import START, act, advance, event_types, find_operation, invoke, make_world

ROOMS = (ROOM,)
STATS = find_operation(ROOMS, "GET", "/network/stats")


@pytest.fixture
def world() -> World:
    return make_world(ROOM)


def bring(world: World, name: str, status: str, environment: str = "sandbox") -> Performed:
    return act(world, ROOMS, "set_network", environment=environment, network=name, status=status)


def test_every_network_is_operational_in_a_fresh_world(world: World) -> None:
    for environment in ("sandbox", "production"):
        assert [network_status(world, environment, name) for name in NETWORKS] == ["operational"] * 3
    assert world.store.tables() == {}


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize(("before", "after"), list(permutations(STATUSES, 2)))
def test_every_change_of_status_emits_the_entry(world: World, name: str, before: str, after: str) -> None:
    bring(world, name, before)
    heard = world.journal.event_count
    done = bring(world, name, after)
    assert network_status(world, "sandbox", name) == after
    (event,) = list(world.journal.events())[heard:]
    envelope = json.loads(event.raw)
    assert envelope["type"] == "network.status_changed"
    assert envelope["data"]["object"] == done.resource
    assert envelope["data"]["object"]["network"] == name
    assert envelope["data"]["object"]["status"] == after


@pytest.mark.parametrize("status", STATUSES)
def test_setting_the_present_status_changes_and_emits_nothing(world: World, status: str) -> None:
    bring(world, "celo", status)
    before, heard = world.store.tables(), event_types(world)
    bring(world, "celo", status)
    assert event_types(world) == heard
    assert world.store.tables() == before


@pytest.mark.parametrize("status", STATUSES)
def test_the_table_has_no_move_to_the_present_status(world: World, status: str) -> None:
    bring(world, "stellar", status)
    before = world.store.tables()
    with pytest.raises(IllegalMove):
        move(world, network(world, "sandbox", "stellar"), "set_network", status)
    assert world.store.tables() == before
    assert {step.target for step in NETWORK.rows[status]} == set(STATUSES) - {status}


def test_environments_and_networks_do_not_mix(world: World) -> None:
    bring(world, "celo", "down", "production")
    assert network_status(world, "production", "celo") == "down"
    assert network_status(world, "sandbox", "celo") == "operational"
    assert network_status(world, "production", "stellar") == "operational"
    (event,) = world.journal.events()
    assert event.environment == "production"
    assert json.loads(event.raw)["livemode"] is True


def test_a_network_that_is_down_is_unavailable(world: World) -> None:
    bring(world, "celo", "down")
    with pytest.raises(ApiError) as refusal:
        require_network(world, "sandbox", "celo")
    assert (refusal.value.code, refusal.value.status) == ("network_unavailable", 503)
    require_network(world, "sandbox", "stellar")
    require_network(world, "production", "celo")


def test_a_degraded_network_still_works(world: World) -> None:
    bring(world, "celo", "degraded")
    require_network(world, "sandbox", "celo")


@pytest.mark.parametrize(
    ("values", "code", "param"),
    [
        ({"status": "down"}, "missing_parameter", "network"),
        ({"network": "celo"}, "missing_parameter", "status"),
        ({"network": "CELO", "status": "down"}, "invalid_parameter", "network"),
        ({"network": "tron", "status": "down"}, "invalid_parameter", "network"),
        ({"network": "celo", "status": "up"}, "invalid_parameter", "status"),
    ],
)
def test_the_action_refuses_what_it_does_not_know(world: World, values: dict[str, str], code: str, param: str) -> None:
    with pytest.raises(ControlError) as refusal:
        act(world, ROOMS, "set_network", **values)
    assert (refusal.value.status, refusal.value.code, refusal.value.param) == (400, code, param)


class TestStats:
    def test_stats_contain_the_two_ramp_networks(self, world: World) -> None:
        assert invoke(world, STATS) == {
            "networks": [
                {
                    "network": "stellar",
                    "status": "operational",
                    "latest_block": "60574880",
                    "avg_confirmation_seconds": 5,
                    "network_fee": {"amount": "0.01", "currency": "XLM"},
                    "assets": ["XLM", "USDC"],
                    "updated_at": START,
                },
                {
                    "network": "celo",
                    "status": "operational",
                    "latest_block": "55674400",
                    "avg_confirmation_seconds": 5,
                    "network_fee": {"amount": "0.01", "currency": "CELO"},
                    "assets": ["CELO", "USDT", "USDC", "CUSD"],
                    "updated_at": START,
                },
            ]
        }

    @pytest.mark.parametrize("name", ["stellar", "celo"])
    def test_stats_can_be_limited_to_one_network(self, world: World, name: str) -> None:
        (entry,) = invoke(world, STATS, query={"network": name})["networks"]
        assert entry["network"] == name
        assert entry["assets"] == list(NETWORK_ASSETS[name])

    @pytest.mark.parametrize("name", ["bitcoin", "CELO", "tron"])
    def test_stats_refuse_other_networks(self, world: World, name: str) -> None:
        with pytest.raises(ApiError) as refusal:
            invoke(world, STATS, query={"network": name})
        assert (refusal.value.code, refusal.value.param) == ("invalid_parameter", "network")

    def test_stats_contain_the_status_of_the_environment(self, world: World) -> None:
        bring(world, "celo", "degraded")
        shown = invoke(world, STATS, query={"network": "celo"})["networks"][0]
        assert (shown["status"], shown["avg_confirmation_seconds"]) == ("degraded", 25)
        shown = invoke(world, STATS, query={"network": "celo"}, environment="production")["networks"][0]
        assert (shown["status"], shown["avg_confirmation_seconds"]) == ("operational", 5)

    @pytest.mark.parametrize(("name", "block_ms"), [("stellar", 5_000), ("celo", 1_000), ("bitcoin", 600_000)])
    def test_a_block_comes_at_a_fixed_pace(self, world: World, name: str, block_ms: int) -> None:
        height = latest_block(name, world.now_ms)
        assert latest_block(name, world.now_ms + block_ms - 1) == height
        advance(world, world.now_ms + block_ms)
        assert latest_block(name, world.now_ms) == height + 1

    def test_a_world_long_before_the_chains_has_a_first_block(self) -> None:
        assert latest_block("celo", 0) == 1


def test_a_scenario_finds_the_networks_of_an_object_in_any_spelling() -> None:
    subject = {"network": "nowhere", "from": {"network": "Stellar"}, "to": {"network": "BITCOIN"}}
    assert networks_of(subject, PROVIDER.outages.spellings) == ["stellar", "bitcoin"]
    assert networks_of({"network": "CELO"}, PROVIDER.outages.spellings) == ["celo"]
