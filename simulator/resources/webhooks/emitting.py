"""The action `emit`: any event of the catalogue, about the newest resource that fits, else about a realistic example.

`examples.json` holds one whole object for each event type; a text `@`, `@+30m` or `@-1d` in it stands for a moment
counted from now.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import Any

from simulator.kernel.clock import format_timestamp, parse_duration
from simulator.kernel.world import World
from simulator.resources.profile import profile_of, show_kyc
from simulator.wire.events import EVENT_TYPES, emit
from simulator.wire.fields import Body, Text, Wrong, wrong
from simulator.wire.json import JsonObject, loads
from simulator.wire.records import render_told, rows
from simulator.wire.strict import did_you_mean
from simulator.wire.triggers import Push

_RAMPS = ("onramp", "offramp")
_MOVING = (*_RAMPS, "send", "swap", "buy", "withdraw")
_QUOTES = ("ramp_quote", "swap_quote", "buy_quote", "withdraw_quote")
_RECURRING = ("recurring_payment",)

_FITTING: dict[str, tuple[tuple[str, ...], str]] = {
    "transaction.created": (_RAMPS, ""),
    "transaction.awaiting_payment": (("onramp",), "awaiting_payment"),
    "transaction.awaiting_deposit": (("offramp",), "awaiting_deposit"),
    "transaction.processing": (_MOVING, "processing"),
    "transaction.completed": (_MOVING, "completed"),
    "transaction.failed": (_MOVING, "failed"),
    "transaction.expired": (_RAMPS, "expired"),
    "transaction.refunded": ((*_RAMPS, "withdraw"), "refunded"),
    "wallet.created": (("wallet", "lightning_address"), ""),
    "deposit.detected": (("deposit",), "detected"),
    "deposit.confirmed": (("deposit",), "confirmed"),
    "deposit.failed": (("deposit",), "failed"),
    "lightning.invoice_paid": (("invoice",), "paid"),
    "lightning.invoice_expired": (("invoice",), "expired"),
    "quote.expired": (_QUOTES, "expired"),
    "beneficiary.created": (("beneficiary",), ""),
    "beneficiary.deleted": (("beneficiary",), ""),
    "network.status_changed": (("network",), ""),
    "webhook.test": (("webhook",), ""),
    "recurring_payment.activated": (_RECURRING, "active"),
    "recurring_payment.run_upcoming": (_RECURRING, "active"),
    "recurring_payment.run_succeeded": (_RECURRING, "active"),
    "recurring_payment.run_failed": (_RECURRING, "active"),
    "recurring_payment.paused": (_RECURRING, "paused"),
    "recurring_payment.completed": (_RECURRING, "completed"),
    "recurring_payment.restarted": (_RECURRING, "active"),
    "recurring_payment.deleted": (_RECURRING, "deleted"),
}
"""The kinds an event is about, and the status they have then ("" = whichever)."""

_OF_THE_STATUS = ("failure_code", "pause_reason", "reason", "run")
"""Members that an object only has because of what the event says; taken from the example when it lacks them."""


class EmitParameters(Body):
    """`object` is laid over the object that would be sent, member by member."""

    type: Text
    object: dict[str, Any] | None = None


def check_emit(parameters: EmitParameters) -> Iterator[Wrong]:
    """What is wrong with the parameters of emit."""
    if parameters.type not in EVENT_TYPES:
        hint = did_you_mean(parameters.type, EVENT_TYPES)
        yield wrong("type", f"there is no event type {parameters.type!r}{hint}")


def emit_example(push: Push) -> JsonObject:
    """The action emit; answers the object that was sent."""
    world, environment, event_type = push.world, push.environment, push.parameters.type
    subject, object_id = _subject(world, environment, event_type)
    subject |= push.parameters.object or {}
    if isinstance(subject.get("id"), str):
        object_id = subject["id"]
    emit(world, environment, event_type, subject, object_id)
    return subject


def _subject(world: World, environment: str, event_type: str) -> tuple[JsonObject, str]:
    example = _example(world, event_type)
    if event_type.startswith("kyc."):
        profile = profile_of(world)
        shown = show_kyc(profile) | {"kyc_status": example["kyc_status"]}
        shown["required_actions"] = shown["required_actions"] or example["required_actions"]
        return shown, profile.user_id
    kinds, status = _FITTING[event_type]
    record = _newest(world, environment, kinds, status)
    if record is None:
        return example, example.get("id") or f"network_{environment}_{example['network']}"
    subject = render_told(world, record)
    if event_type == "transaction.created":
        status = "awaiting_payment" if subject["type"] == "onramp" else "awaiting_deposit"
    if status and "status" in subject:
        subject["status"] = status
    for name in _OF_THE_STATUS:
        if name in example and subject.get(name) is None:
            subject[name] = example[name]
    return subject, record.id


def _newest(world: World, environment: str, kinds: tuple[str, ...], status: str) -> Any | None:
    """The newest resource of these kinds, of those in the right status if there are any."""
    fitting = max(_newest_of_each(world, environment, kinds, status), key=_age, default=None)
    return fitting or max(_newest_of_each(world, environment, kinds, ""), key=_age, default=None)


def _age(record: Any) -> int:
    sequence: int = record.sequence
    return sequence


def _newest_of_each(world: World, environment: str, kinds: tuple[str, ...], status: str) -> Iterator[Any]:
    tables = dict.fromkeys(world.wiring.kinds[kind].table for kind in kinds if kind in world.wiring.kinds)
    for name in tables:
        for table in (rows(world, environment, name), rows(world, environment, f"{name}:deleted")):
            for record in table.newest_first():
                if record.kind in kinds and status in ("", record.status):
                    yield record
                    break


def _example(world: World, event_type: str) -> JsonObject:
    filled: JsonObject = _at(world.now_ms, examples()[event_type])
    return filled


@cache
def examples() -> dict[str, JsonObject]:
    """One object for each event type, moments still written as `@…`; not to be changed."""
    found: dict[str, JsonObject] = loads(files(__package__).joinpath("examples.json").read_bytes())
    return found


def _at(now_ms: int, value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _at(now_ms, member) for name, member in value.items()}
    if isinstance(value, list):
        return [_at(now_ms, member) for member in value]
    if isinstance(value, str) and value.startswith("@"):
        span_ms = parse_duration(value[2:]) if len(value) > 1 else 0
        return format_timestamp(now_ms + (-span_ms if value[1:2] == "-" else span_ms))
    return value
