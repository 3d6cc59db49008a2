"""GET and DELETE /beneficiaries, their list, and the state table of a beneficiary (decisions L1 and L6)."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.records.records import find, move
from simulator.engine.rows.error import ApiError
from simulator.engine.text.json import loads
from simulator.kernel.journal import Cause
from simulator.kernel.machine import IllegalMove
from simulator.kernel.world import World
from simulator.providers.ramp import beneficiaries, reference
from simulator.providers.ramp.beneficiaries import beneficiary
from simulator.providers.ramp.beneficiaries.records import Beneficiary
from simulator.providers.ramp.beneficiaries.states import BENEFICIARY
from tests.support import STELLAR, advance, event_types, find_operation, invoke, make_world
from tests.unit.ramp.beneficiaries.test_saving import BANK, PHONE, WALLET

ROOMS = (reference.ROOM, beneficiaries.ROOM)
CREATE = find_operation(ROOMS, "POST", "/beneficiaries")
LIST = find_operation(ROOMS, "GET", "/beneficiaries")
GET = find_operation(ROOMS, "GET", "/beneficiaries/{id}")
DELETE = find_operation(ROOMS, "DELETE", "/beneficiaries/{id}")


@pytest.fixture
def world() -> World:
    return make_world(*ROOMS)


@pytest.fixture
def saved(world: World) -> dict[str, str]:
    """One of each type, a second apart, by type."""
    ids = {}
    for body in (BANK, PHONE, WALLET):
        ids[str(body["type"])] = invoke(world, CREATE, body)["id"]
        advance(world, world.now_ms + 1000)
    return ids


def types(world: World, environment: str = "sandbox", **query: str) -> list[str]:
    listed = invoke(world, LIST, query=query, environment=environment)["data"]
    return [item["type"] for item in listed]


def refusal(world: World, operation: Any, query: dict[str, str] | None = None, **path: str) -> tuple[int, str, Any]:
    with pytest.raises(ApiError) as raised:
        invoke(world, operation, None, query=query, **path)
    return raised.value.status, raised.value.code, raised.value.param


def test_one_beneficiary_is_answered_as_it_was_saved(world: World) -> None:
    answer = invoke(world, CREATE, BANK)
    assert invoke(world, GET, id=answer["id"]) == answer


def test_an_unknown_beneficiary_is_not_found(world: World) -> None:
    for operation in (GET, DELETE):
        assert refusal(world, operation, id="ben_unknown")[:2] == (404, "not_found")


def test_a_beneficiary_of_the_other_environment_is_not_found(world: World, saved: dict[str, str]) -> None:
    with pytest.raises(ApiError, match="not_found"):
        invoke(world, GET, environment="production", id=saved["bank_account"])
    assert types(world, "production") == []


def test_deleted_beneficiary_remains_in_past_transactions(world: World, saved: dict[str, str]) -> None:
    """Decision L6: a deleted beneficiary is not listed."""
    identifier = saved["phone_number"]
    shown = invoke(world, GET, id=identifier)
    assert invoke(world, DELETE, id=identifier) is None
    for operation in (GET, DELETE):
        assert refusal(world, operation, id=identifier)[:2] == (404, "not_found")
    with pytest.raises(ApiError, match="not_found"):
        beneficiary(world, "sandbox", identifier)
    assert types(world) == ["wallet_address", "bank_account"]
    kept = find(world, identifier)
    assert isinstance(kept, Beneficiary)
    assert kept.method == "mobile_money"
    event = next(world.journal.events_newest_first())
    assert event.type == "beneficiary.deleted"
    assert loads(event.raw)["data"]["object"] == shown


def test_the_list_is_newest_first_in_the_page_envelope(world: World, saved: dict[str, str]) -> None:
    answer = invoke(world, LIST)
    assert [item["id"] for item in answer["data"]] == list(reversed(saved.values()))
    assert answer["pagination"] == {"page": 1, "size": 20, "total": 3, "total_pages": 1}


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"type": "bank_account"}, ["bank_account"]),
        ({"type": "wallet_address,bank_account"}, ["wallet_address", "bank_account"]),
        ({"country": "KE"}, ["phone_number"]),
        ({"country": "ZM"}, []),
        ({"fiat_currency": "NGN"}, ["bank_account"]),
        ({"network": "stellar"}, ["wallet_address"]),
        ({"network": "btc"}, []),
        ({"search": "wanjiru"}, ["phone_number"]),
        ({"search": "22000"}, ["phone_number"]),
        ({"search": "0123456789"}, ["bank_account"]),
        ({"search": "guaranty"}, ["bank_account"]),
        ({"search": STELLAR[5:20].lower()}, ["wallet_address"]),
        ({"search": "mpesa"}, []),
        ({"sort_order": "asc"}, ["bank_account", "phone_number", "wallet_address"]),
        ({"sort_by": "updated_at"}, ["wallet_address", "phone_number", "bank_account"]),
        ({"sort_by": "name", "sort_order": "asc"}, ["bank_account", "wallet_address", "phone_number"]),
        ({"sort_by": "name"}, ["phone_number", "wallet_address", "bank_account"]),
        ({"status": "active"}, ["wallet_address", "phone_number", "bank_account"]),
        ({"size": "1", "page": "2"}, ["phone_number"]),
        ({"start_date": "2026-01-05T08:00:02.000Z"}, ["wallet_address"]),
        ({"end_date": "2026-01-05T08:00:00.000Z"}, ["bank_account"]),
    ],
)
def test_the_list_is_narrowed_and_sorted(
    world: World, saved: dict[str, str], query: dict[str, str], found: list[str]
) -> None:
    """Decision L1: sorted by `name`."""
    assert types(world, **query) == found


@pytest.mark.parametrize(
    ("query", "param"),
    [
        ({"type": "iban"}, "type"),
        ({"type": "bank_account,"}, "type"),
        ({"country": "US"}, "country"),
        ({"fiat_currency": "USD"}, "fiat_currency"),
        ({"network": "bitcoin"}, "network"),
        ({"network": "STELLAR"}, "network"),
        ({"search": "a"}, "search"),
        ({"sort_by": "amount"}, "sort_by"),
        ({"status": "completed"}, "status"),
        ({"size": "101"}, "size"),
    ],
)
def test_an_unknown_value_of_a_filter_is_an_invalid_parameter(world: World, query: dict[str, str], param: str) -> None:
    assert refusal(world, LIST, query) == (400, "invalid_parameter", param)


def test_reading_needs_only_the_permission_to_read() -> None:
    assert [(op.method, op.reads, op.group) for op in beneficiaries.ROOM.operations] == [
        ("POST", False, "beneficiaries"),
        ("GET", True, "beneficiaries"),
        ("GET", True, "beneficiaries"),
        ("DELETE", False, "beneficiaries"),
    ]


def test_creating_and_deleting_emit_their_events_in_order(world: World) -> None:
    invoke(world, DELETE, id=invoke(world, CREATE, PHONE)["id"])
    assert event_types(world) == ["beneficiary.created", "beneficiary.deleted"]


def test_every_transition_of_the_state_table() -> None:
    begun = BENEFICIARY.begin("create")
    assert (begun.target, begun.events) == ("active", ("beneficiary.created",))
    assert [(cell.on, cell.target, cell.events) for cell in BENEFICIARY.rows["active"]] == [
        ("delete", "deleted", ("beneficiary.deleted",))
    ]
    assert BENEFICIARY.rows["deleted"] == ()


def test_a_move_outside_the_state_table_raises_and_changes_nothing(world: World, saved: dict[str, str]) -> None:
    invoke(world, DELETE, id=saved["bank_account"])
    deleted = find(world, saved["bank_account"])
    assert deleted is not None
    before = world.store.tables()
    for record, trigger in ((deleted, "delete"), (deleted, "create")):
        with pytest.raises(IllegalMove), world.change(Cause("action", "test")):
            move(world, record, trigger)
    assert world.store.tables() == before
