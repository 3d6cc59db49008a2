"""Creating, showing, listing and changing deposit wallets."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.records.records import find, move, present
from simulator.engine.rows.kind import Record
from simulator.kernel.ids import STREAMS
from simulator.kernel.journal import Cause
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import World
from simulator.providers.ramp.deposit_wallets import default_wallet
from simulator.providers.ramp.deposit_wallets.records import wallets
from simulator.providers.ramp.reference import is_address
from tests.support import START, act, advance, event_types
from tests.unit.ramp.deposit_wallets.support import (
    ROOMS,
    call,
    envelopes,
    fresh_world,
    get_wallet,
    new_wallet,
    refusal,
    state,
)

COMMON = ["label", "reference", "status", "created_at"]


def test_a_stellar_wallet_has_the_service_address_and_its_own_memo() -> None:
    world = fresh_world()
    first, second = new_wallet(world, "stellar"), new_wallet(world, "stellar")
    assert list(first) == ["id", "network", "assets", "address", "memo", "memo_type", *COMMON]
    assert first["id"].startswith("wal_")
    assert first["assets"] == ["XLM", "USDC"]
    assert is_address("stellar", first["address"])
    assert first["address"] == second["address"]
    assert first["memo"].isdecimal()
    assert first["memo_type"] == "id"
    assert first["memo"] != second["memo"]


def test_a_memo_that_is_already_given_out_is_drawn_again() -> None:
    world = fresh_world()
    memo = new_wallet(world, "stellar")["memo"]
    with world.change(Cause("request", "test")):
        world.store[STREAMS].delete("memos")
    assert new_wallet(world, "stellar")["memo"] != memo


def test_the_two_environments_have_different_stellar_addresses() -> None:
    world = fresh_world()
    sandbox = new_wallet(world, "stellar")
    production = call(world, "POST", "/wallets", {"network": "stellar"}, environment="production")
    assert sandbox["address"] != production["address"]


def test_a_celo_wallet_has_a_unique_checksummed_address() -> None:
    world = fresh_world()
    first, second = new_wallet(world, "celo"), new_wallet(world, "celo")
    assert list(first) == ["id", "network", "assets", "address", *COMMON]
    assert first["assets"] == ["CELO", "USDT", "USDC", "CUSD"]
    assert is_address("celo", first["address"])
    assert first["address"] != second["address"]


def test_a_bitcoin_wallet_has_its_own_address_and_confirmations() -> None:
    world = fresh_world()
    first, second = new_wallet(world, "bitcoin"), new_wallet(world, "bitcoin")
    assert list(first) == [
        "id",
        "network",
        "assets",
        "address",
        "lightning_addresses",
        "confirmations_required",
        *COMMON,
    ]
    assert first["assets"] == ["BTC"]
    assert first["address"].startswith("bc1")
    assert is_address("bitcoin", first["address"])
    assert first["address"] != second["address"]
    assert first["lightning_addresses"] == []
    assert first["confirmations_required"] == 3


def test_label_and_reference_are_the_callers_or_null() -> None:
    world = fresh_world()
    bare = new_wallet(world, "celo", label=None)
    assert (bare["label"], bare["reference"], bare["status"]) == (None, None, "active")
    named = new_wallet(world, "celo", label="Shop", reference="customer-7", lightning=False)
    assert (named["label"], named["reference"]) == ("Shop", "customer-7")
    assert named["created_at"] == START


@pytest.mark.parametrize("network", ["stellar", "celo", "bitcoin"])
def test_the_event_of_a_new_wallet_carries_what_the_wallet_shows(network: str) -> None:
    world = fresh_world()
    wallet = new_wallet(world, network)
    (event,) = envelopes(world)
    assert event["type"] == "wallet.created"
    assert event["livemode"] is False
    assert event["data"]["object"] == wallet == get_wallet(world, wallet["id"])


def test_a_bitcoin_wallet_with_lightning_has_one_address_and_two_events() -> None:
    """Decision S13."""
    world = fresh_world()
    wallet = new_wallet(world, "bitcoin", lightning=True)
    (entry,) = wallet["lightning_addresses"]
    assert list(entry) == ["id", "type", "address", "lnurl", "status", "created_at"]
    of_wallet, of_entry = envelopes(world)
    assert (of_wallet["type"], of_entry["type"]) == ("wallet.created", "wallet.created")
    assert of_wallet["data"]["object"] == wallet
    assert of_entry["data"]["object"] == entry | {"wallet_id": wallet["id"], "reference": wallet["reference"]}
    assert get_wallet(world, wallet["id"]) == wallet


@pytest.mark.parametrize("network", ["STELLAR", "BITCOIN", "btc", "ethereum", "", " celo"])
def test_a_network_in_another_spelling_is_unsupported(network: str) -> None:
    """Decision H5: 422 where the specification names one."""
    assert refusal(fresh_world(), "POST", "/wallets", {"network": network}) == (422, "unsupported_network", "network")


@pytest.mark.parametrize("network", ["stellar", "celo"])
def test_lightning_is_for_bitcoin_wallets_only(network: str) -> None:
    """Decision S13."""
    body = {"network": network, "lightning": True}
    assert refusal(fresh_world(), "POST", "/wallets", body) == (422, "unsupported_network", "network")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({}, (400, "missing_parameter", "network")),
        ({"network": None}, (400, "missing_parameter", "network")),
        ({"network": 1}, (400, "invalid_parameter", "network")),
        ({"network": "celo", "label": 1}, (400, "invalid_parameter", "label")),
        ({"network": "celo", "reference": []}, (400, "invalid_parameter", "reference")),
        ({"network": "bitcoin", "lightning": "yes"}, (400, "invalid_parameter", "lightning")),
        ({"network": "bitcoin", "lightning": 1}, (400, "invalid_parameter", "lightning")),
    ],
)
def test_missing_and_malformed_fields_are_named(body: Any, expected: Any) -> None:
    assert refusal(fresh_world(), "POST", "/wallets", body) == expected


def test_a_network_that_is_down_takes_no_new_wallets() -> None:
    world = fresh_world()
    act(world, ROOMS, "set_network", network="celo", status="down")
    assert refusal(world, "POST", "/wallets", {"network": "celo"})[:2] == (503, "network_unavailable")
    assert new_wallet(world, "stellar")["status"] == "active"
    act(world, ROOMS, "set_network", network="celo", status="degraded")
    assert new_wallet(world, "celo")["status"] == "active"


def test_unknown_wallets_and_those_of_another_environment_are_not_found() -> None:
    world = fresh_world()
    wallet = new_wallet(world)
    for method, path in [
        ("GET", "/wallets/{id}"),
        ("PATCH", "/wallets/{id}"),
        ("GET", "/wallets/{id}/deposits"),
        ("GET", "/wallets/{id}/lightning"),
        ("POST", "/wallets/{id}/lightning"),
    ]:
        assert refusal(world, method, path, id="wal_unknown") == (404, "not_found", None)
        assert refusal(world, method, path, id=wallet["id"], environment="production") == (404, "not_found", None)


def patch(world: World, wallet_id: str, **body: Any) -> Any:
    return call(world, "PATCH", "/wallets/{id}", body, id=wallet_id)


def test_patching_changes_what_is_sent_and_makes_no_event() -> None:
    world = fresh_world()
    wallet = new_wallet(world, "celo", label="Old", reference="r")
    events = event_types(world)
    assert patch(world, wallet["id"]) == wallet
    assert patch(world, wallet["id"], label="New") == wallet | {"label": "New"}
    assert patch(world, wallet["id"], status="disabled") == wallet | {"label": "New", "status": "disabled"}
    assert patch(world, wallet["id"], status="disabled") == wallet | {"label": "New", "status": "disabled"}
    assert patch(world, wallet["id"], label=None, status="active") == wallet | {"label": None}
    assert get_wallet(world, wallet["id"]) == wallet | {"label": None}
    assert event_types(world) == events


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"status": "closed"}, "status"),
        ({"status": None}, "status"),
        ({"status": 1}, "status"),
        ({"label": 1}, "label"),
    ],
)
def test_a_malformed_patch_changes_nothing(body: Any, param: str) -> None:
    world = fresh_world()
    wallet = new_wallet(world, "celo")
    assert refusal(world, "PATCH", "/wallets/{id}", body, id=wallet["id"]) == (400, "invalid_parameter", param)


@pytest.mark.parametrize(
    ("status", "trigger", "target"), [("active", "disable", "disabled"), ("disabled", "enable", "active")]
)
def test_legal_transitions_of_the_wallet_table(status: str, trigger: str, target: str) -> None:
    world = fresh_world()
    wallet = _wallet_in(world, status)
    before = event_types(world)
    with world.change(Cause("request", "test")):
        assert move(world, wallet, trigger).status == target
    assert event_types(world) == before


@pytest.mark.parametrize(("status", "trigger"), [("active", "enable"), ("disabled", "disable")])
def test_illegal_wallet_transitions_raise_and_change_nothing(status: str, trigger: str) -> None:
    world = fresh_world()
    wallet = _wallet_in(world, status)
    before = state(world)
    with pytest.raises(IllegalMove), world.change(Cause("request", "test")):
        move(world, wallet, trigger)
    assert state(world) == before


def _wallet_in(world: World, status: str) -> Record:
    wallet_id = new_wallet(world)["id"]
    if status == "disabled":
        patch(world, wallet_id, status="disabled")
    return present(find(world, wallet_id))


def names(world: World, **query: str) -> list[str]:
    page = call(world, "GET", "/wallets", query=query)
    return [wallet["label"] for wallet in page["data"]]


def three_wallets() -> World:
    world = fresh_world()
    new_wallet(world, "stellar", label="One", reference="customer-1")
    advance(world, world.now_ms + 1000)
    new_wallet(world, "celo", label="Two", reference="customer-2")
    new_wallet(world, "bitcoin", label="Three")
    return world


def test_wallets_are_listed_newest_first_in_pages() -> None:
    world = three_wallets()
    page = call(world, "GET", "/wallets", query={"size": "2"})
    assert [wallet["label"] for wallet in page["data"]] == ["Three", "Two"]
    assert page["pagination"] == {"page": 1, "size": 2, "total": 3, "total_pages": 2}
    assert names(world, sort_order="asc") == ["One", "Two", "Three"]
    assert names(world, page="9") == []
    assert page["data"][0] == get_wallet(world, page["data"][0]["id"])


def test_wallets_are_filtered_and_searched() -> None:
    """Decision L4: wallets by label, reference, address."""
    world = three_wallets()
    address = call(world, "GET", "/wallets", query={"network": "celo"})["data"][0]["address"]
    assert names(world, network="bitcoin") == ["Three"]
    assert names(world, search="CUSTOMER-") == ["Two", "One"]
    assert names(world, search="thr") == ["Three"]
    assert names(world, search=address[5:20]) == ["Two"]
    assert names(world, status="disabled") == []
    assert names(world, status="active,disabled", sort_by="updated_at") == ["Three", "Two", "One"]
    assert names(world, end_date=START) == ["One"]


def test_wallets_sorted_by_updated_at_are_in_order_of_creation() -> None:
    """Decision L1: `updated_at` falls back to created_at."""
    world = three_wallets()
    oldest = call(world, "GET", "/wallets", query={"sort_order": "asc"})["data"][0]
    advance(world, world.now_ms + 1000)
    patch(world, oldest["id"], label="Changed")
    assert names(world, sort_by="updated_at") == ["Three", "Two", "Changed"]


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"network": "BITCOIN"}, "network"),
        ({"status": "closed"}, "status"),
        ({"sort_by": "amount"}, "sort_by"),
        ({"size": "101"}, "size"),
        ({"search": "x"}, "search"),
        ({"start_date": "soon"}, "start_date"),
    ],
)
def test_a_malformed_list_query_is_named(query: dict[str, str], param: str) -> None:
    assert refusal(fresh_world(), "GET", "/wallets", query=query) == (400, "invalid_parameter", param)


def test_the_default_wallet_is_the_oldest_active_one_of_the_network() -> None:
    world = fresh_world()
    assert default_wallet(world, "sandbox", "stellar") is None
    new_wallet(world, "celo")
    first, second = new_wallet(world, "stellar"), new_wallet(world, "stellar")
    found = default_wallet(world, "sandbox", "stellar")
    assert found is not None
    assert (found.id, found.address, found.memo) == (first["id"], first["address"], first["memo"])
    patch(world, first["id"], status="disabled")
    assert default_wallet(world, "sandbox", "stellar") == wallets(world, "sandbox")[second["id"]]
    assert default_wallet(world, "production", "stellar") is None


def test_the_same_seed_gives_the_same_wallets() -> None:
    assert new_wallet(fresh_world(5), lightning=True) == new_wallet(fresh_world(5), lightning=True)
    assert new_wallet(fresh_world(5))["address"] != new_wallet(fresh_world(6))["address"]
