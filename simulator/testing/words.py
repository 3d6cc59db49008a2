"""What the test kit tells when something is not as a test wants it: what came instead, and what the world says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from simulator.testing.errors import NotReached, SimulatorError

if TYPE_CHECKING:
    from simulator.engine.control.shapes import Envelope
    from simulator.testing.seen import SeenWorld

_SHOWN = 12
_CAME_SHOWN = 20


def not_the_only_one(world: SeenWorld, type: str, object_id: str | None, found: list[Envelope]) -> str:
    """Why there is not exactly one event, and what there was instead."""
    about = f" about {object_id}" if object_id else ""
    if found:
        return "\n".join([f"There are {len(found)} events {type}{about}, not one:", *_lines(found)])
    others = world.events(object_id=object_id)
    if others:
        return "\n".join([f"There is no event {type}{about}. There are these{about}:", *_lines(others)])
    if object_id and (all_of_them := world.events()):
        return "\n".join([f"There is no event at all{about}. Others:", *_lines(all_of_them)])
    return f"There is no event {type}{about}: nothing has emitted any."


def _lines(events: list[Envelope]) -> Iterable[str]:
    if len(events) > _SHOWN:
        yield f"  … {len(events) - _SHOWN} earlier ones"
    for event in events[-_SHOWN:]:
        about = event["data"]["object"].get("id") or ""
        yield f"  {event['created_at']}  {event['type']}  {about}".rstrip()


def not_reached(world: SeenWorld, goal: Mapping[str, object], error: NotReached) -> NotReached:
    """The error of an advance that waited in vain: what for, how long, and what happened instead."""
    receipt, fired = error.receipt, error.receipt.get("fired", 0)
    lines = [_awaited(goal) + ": " + _why(error.message)]
    lines.append(
        f"  From {receipt.get('from')} to {receipt.get('now')}, {fired} timer{'' if fired == 1 else 's'} fired."
    )
    ids = set(receipt.get("events") or ())
    events = [event for event in world.events() if event["id"] in ids] if ids else []
    lines += ["  Events meanwhile:", *(f"  {line}" for line in _lines(events))] if events else ["  No event meanwhile."]
    subject = goal.get("resource") or goal.get("object_id")
    if isinstance(subject, str):
        lines += _standing(world, subject)
    if not world.control("GET", f"/worlds/{world.id}")["scenarios"]:
        lines.append(
            '  No scenario is active, so nothing outside happens by itself: say world.scenario("autopilot"), '
            "or act(...) as the outside world."
        )
    return NotReached(
        "\n".join(lines),
        status=error.status,
        error={"message": error.message, "code": error.code, "param": error.param, "receipt": receipt},
    )


def _awaited(goal: Mapping[str, object]) -> str:
    if goal.get("event"):
        about = f" about {goal['object_id']}" if goal.get("object_id") else ""
        return f"The event {goal['event']}{about} never came"
    return f"{goal.get('resource')} never became {goal.get('status')}"


def _why(message: str) -> str:
    """The server's reason, without what it waited for: that stands in front."""
    why = message.partition(" while waiting for ")[0]
    return {"The agenda ran dry": "nothing more is planned in this world"}.get(why, why[:1].lower() + why[1:]) + "."


def _standing(world: SeenWorld, subject: str) -> Iterable[str]:
    """How a resource stands, and what can be done to it."""
    try:
        story = world.resource(subject)
    except SimulatorError:
        return
    since = story["history"][-1]["at"] if story["history"] else story["origin"]["at"]
    allowed = ", ".join(story["allowed"]) or "nothing"
    yield f"  {subject} is {story['state']} since {since}; possible now: {allowed}."


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
        lines.append(f"What came, in this order{f' (the last {_CAME_SHOWN})' if len(came) > _CAME_SHOWN else ''}:")
        lines += [f"  {delivery}" for delivery in came[-_CAME_SHOWN:]]
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
