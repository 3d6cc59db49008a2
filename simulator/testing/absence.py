"""Why an event did not come, for a person who waits for it: what came instead, and what the world says of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

from simulator.testing.errors import SimulatorError

if TYPE_CHECKING:
    from simulator.testing.seen import SeenWorld

_SHOWN = 20


class Receiving(Protocol):
    """What is asked of a receiver."""

    environment: str
    endpoint_id: str | None

    @property
    def received(self) -> Sequence[object]: ...


def absence(world: SeenWorld, receiver: Receiving, type: str, object_id: str | None, timeout: float) -> str:
    """The text of the failure of `Receiver.wait_for`."""
    about = f" of {object_id}" if object_id else ""
    lines = [f"No {type}{about} came within {timeout:g} seconds."]
    came = list(receiver.received)
    if came:
        lines.append(f"What came, in this order{f' (the last {_SHOWN})' if len(came) > _SHOWN else ''}:")
        lines += [f"  {delivery}" for delivery in came[-_SHOWN:]]
    else:
        lines.append("Nothing came at all.")
    try:
        lines += _what_the_world_says(world, receiver, type, object_id)
    except SimulatorError as error:
        lines.append(f"The simulator, asked about it, says: {error}")
    return "\n".join(lines)


def _what_the_world_says(world: SeenWorld, receiver: Receiving, type: str, object_id: str | None) -> list[str]:
    emitted = _data(world, "/events", type=type, object_id=object_id, environment=receiver.environment)
    if emitted:
        return _why_not_delivered(world, receiver, emitted[-1])
    clock = world.control("GET", "/clock")
    others = _data(world, "/events", object_id=object_id, environment=receiver.environment) if object_id else []
    lines = ["The world has not emitted it."]
    if others:
        told = ", ".join(dict.fromkeys(event["type"] for event in others))
        lines.append(f"Of {object_id} it has emitted: {told}.")
    if clock["mode"] != "manual":
        return lines
    stands = f"Its clock is manual and stands at {clock['now']}"
    if clock["timers"]:
        lines.append(
            f"{stands}; its next timer is due at {clock['next_timer_at']}. Move it with world.advance(...), or "
            'advance(until={"event": "' + type + '"}).'
        )
    else:
        lines.append(
            f"{stands}, and nothing is planned: no scenario will make it happen by itself. Do what causes it with "
            "world.act(...), or choose a scenario."
        )
    return lines


def _why_not_delivered(world: SeenWorld, receiver: Receiving, event: dict[str, Any]) -> list[str]:
    lines = [f"The world has emitted it ({event['id']} at {event['created_at']})."]
    attempts = _data(world, "/deliveries", event_id=event["id"], endpoint_id=receiver.endpoint_id)
    clock = world.control("GET", "/clock")
    for attempt in attempts[-3:]:
        came = attempt["response_status"] or attempt["error"]
        again = f"; the next is due at {attempt['next_attempt_at']}" if attempt["next_attempt_at"] else ""
        lines.append(f"Attempt {attempt['attempt']} to this receiver at {attempt['attempted_at']}: {came}{again}.")
    if attempts and attempts[-1]["next_attempt_at"] and clock["mode"] == "manual":
        lines.append(f"The clock is manual and stands at {clock['now']}: move it with world.advance(...).")
    if not attempts:
        lines.append(
            "It was not sent to this receiver: its endpoint is gone or disabled (a reset of the world takes it away), "
            "does not subscribe to it, or a fault holds the delivery back."
        )
    return lines


def _data(world: SeenWorld, path: str, **query: Any) -> list[dict[str, Any]]:
    given = {name: value for name, value in query.items() if value is not None}
    rows: list[dict[str, Any]] = world.control("GET", path, query=given)["data"]
    return rows
