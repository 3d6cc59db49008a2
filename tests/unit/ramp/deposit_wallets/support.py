"""A world with the rooms that deposit wallets need, and helpers for the tests."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import bech32
import orjson
import pytest

from simulator.engine.records.records import find, present
from simulator.engine.rows.action import ActionTable, Performed
from simulator.engine.rows.error import ApiError, ControlError
from simulator.kernel.ledger import available
from simulator.kernel.world import World
from simulator.providers.ramp import deposit_wallets, reference, transactions
from simulator.providers.ramp.transactions import holder
from tests.support import act as act_in
from tests.support import find_operation, invoke, make_world

ROOMS = (reference.ROOM, transactions.ROOM, deposit_wallets.ROOM)


def fresh_world(seed: int = 1) -> World:
    return make_world(*ROOMS, seed=seed)


def call(
    world: World,
    method: str,
    path: str,
    body: dict[str, Any] | None = None,
    *,
    environment: str = "sandbox",
    query: dict[str, str] | None = None,
    **ids: str,
) -> Any:
    """Call an operation by method and path template."""
    return invoke(world, find_operation(ROOMS, method, path), body, environment=environment, query=query, **ids)


def refusal(world: World, method: str, path: str, body: Any = None, **rest: Any) -> tuple[int, str, str | None]:
    """Status, code and param with which a call is refused; and that it changed nothing."""
    before = state(world)
    with pytest.raises(ApiError) as caught:
        call(world, method, path, body, **rest)
    assert state(world) == before
    return caught.value.status, caught.value.code, caught.value.param


def act(world: World, action: str, target: str, **values: Any) -> Performed:
    return act_in(world, ROOMS, action, target, **values)


def blocked(world: World, action: str, target: str, **values: Any) -> tuple[int, str, str | None]:
    """Status, code and param with which an action is refused; and that it changed nothing."""
    before = state(world)
    with pytest.raises(ControlError) as caught:
        act(world, action, target, **values)
    assert state(world) == before
    return caught.value.status, caught.value.code, caught.value.param


def state(world: World) -> dict[str, dict[str, Any]]:
    return world.store.tables()


def happens(world: World, action: str, target: str, **values: Any) -> dict[str, Any]:
    """Perform an action and return the resource from the response."""
    return {**present(act(world, action, target, **values).resource)}


def allowed(world: World, record_id: str) -> list[str]:
    table = ActionTable(row for room in ROOMS for row in room.actions)
    return table.allowed(world, present(find(world, record_id)))


def regrouped(data: Iterable[int], old_bits: int, new_bits: int, *, pad: bool = True) -> list[int]:
    """The same bits in groups of another size, as the independent library regroups them."""
    return present(bech32.convertbits(data, old_bits, new_bits, pad))


def decoded_bech32(text: str) -> tuple[str, list[int]]:
    """Prefix and groups of a text that is bech32."""
    prefix, groups = bech32.bech32_decode(text)
    return present(prefix), present(groups)


def new_wallet(world: World, network: str = "bitcoin", **body: Any) -> dict[str, Any]:
    wallet: dict[str, Any] = call(world, "POST", "/wallets", {"network": network, **body})
    return wallet


def get_wallet(world: World, wallet_id: str) -> dict[str, Any]:
    wallet: dict[str, Any] = call(world, "GET", "/wallets/{id}", id=wallet_id)
    return wallet


def add(world: World, wallet_id: str, type: str, **body: Any) -> dict[str, Any]:
    entry: dict[str, Any] = call(world, "POST", "/wallets/{id}/lightning", {"type": type, **body}, id=wallet_id)
    return entry


def entries_of(world: World, wallet_id: str, **query: str) -> list[dict[str, Any]]:
    page = call(world, "GET", "/wallets/{id}/lightning", query=query, id=wallet_id)
    return list(page["data"])


def deposits_of(world: World, wallet_id: str, **query: str) -> list[dict[str, Any]]:
    page = call(world, "GET", "/wallets/{id}/deposits", query=query, id=wallet_id)
    return list(page["data"])


def envelopes(world: World) -> list[dict[str, Any]]:
    return [orjson.loads(event.raw) for event in world.journal.events()]


def balance(world: World, currency: str, environment: str = "sandbox") -> str:
    return str(world.ledger.balance(available(holder(environment)), currency))


def books_balance(world: World) -> bool:
    return not any(world.ledger.totals().values())
