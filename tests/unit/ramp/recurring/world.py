"""A world for tests on recurring payments: the rooms that they need, and helpers for the operations."""

from __future__ import annotations

import json
from typing import Any

from simulator.kernel.clock import parse_duration, parse_timestamp
from simulator.kernel.world import World
from simulator.providers.ramp import history, recurring
from tests.support import BENEFICIARY, act, advance, find_operation, invoke, make_world
from tests.unit.ramp.balance.support import ROOMS as WALLET_ROOMS

ROOMS = (*WALLET_ROOMS, recurring.ROOM, history.ROOM)
ITEM = "/recurring-payments/{id}"
WEEKLY = {"frequency": "weekly", "day_of_week": "monday", "start_date": "2026-01-12", "end": {"type": "never"}}
DAILY = {"frequency": "daily", "start_date": "2026-01-06", "end": {"type": "never"}}


def fresh(now: str = "2026-01-05T08:00:00.000Z") -> World:
    """A fresh account on Monday 2026-01-05, 11:00 in Nairobi."""
    return make_world(*ROOMS, now=now)


def call(world: World, method: str, path: str, body: dict[str, Any] | None = None, **arguments: Any) -> Any:
    """Call an operation; an id may follow in the keyword `id`."""
    return invoke(world, find_operation(ROOMS, method, path), body, **arguments)


def save_beneficiary(world: World, phone: str = "+254722000000") -> str:
    made = call(
        world,
        "POST",
        "/beneficiaries",
        {**BENEFICIARY, "phone_number": {"phone_number": phone, "provider": "mpesa"}},
    )
    return str(made["id"])


def withdraw_body(beneficiary_id: str, **members: Any) -> dict[str, Any]:
    return {
        "name": "Rent",
        "type": "withdraw",
        "source": {"symbol": "USDC", "network": "STELLAR"},
        "amount": "20",
        "amount_currency": "USDC",
        "recipient": {"beneficiary_id": beneficiary_id},
        "reference": "rent",
    } | members


def send_body(**members: Any) -> dict[str, Any]:
    return {
        "name": "Savings",
        "type": "send",
        "source": {"symbol": "USDC", "network": "STELLAR"},
        "amount": "20",
        "amount_currency": "USDC",
        "recipient": {"destination": {"type": "platform_user", "email": "amina@example.test"}},
    } | members


def draft(world: World, **members: Any) -> str:
    """A draft of a withdrawal of 20 USDC."""
    made = call(world, "POST", "/recurring-payments", withdraw_body(save_beneficiary(world), **members))
    return str(made["id"])


def scheduled(world: World, schedule: dict[str, Any] = DAILY, **members: Any) -> str:
    """A draft with a schedule."""
    made = draft(world, **members)
    call(world, "PUT", f"{ITEM}/schedule", schedule, id=made)
    return made


def active(world: World, schedule: dict[str, Any] = DAILY, **members: Any) -> str:
    made = scheduled(world, schedule, **members)
    call(world, "GET", f"{ITEM}/review", id=made)
    call(world, "POST", f"{ITEM}/activate", id=made)
    return made


def go(world: World, moment: str) -> None:
    """Advance by a duration (`24h`) or to a moment (2026-01-06T06:00:00Z)."""
    at_ms = parse_timestamp(moment) if "T" in moment else world.now_ms + parse_duration(moment)
    advance(world, at_ms)


def set_balance(world: World, amount: str) -> None:
    act(world, ROOMS, "set_balance", symbol="USDC", network="STELLAR", amount=amount)


def shown(world: World, payment_id: str) -> Any:
    return call(world, "GET", ITEM, id=payment_id)


def events(world: World, prefix: str = "recurring_payment.") -> list[str]:
    """The types of the events so far without their prefix, oldest first."""
    return [event.type.removeprefix(prefix) for event in world.journal.events() if event.type.startswith(prefix)]


def objects(world: World, event_type: str) -> list[Any]:
    """The objects that the events of one type carried."""
    return [json.loads(event.raw)["data"]["object"] for event in world.journal.events() if event.type == event_type]
