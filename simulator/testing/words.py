"""What the test kit tells when something is not as a test wants it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from simulator.testing.errors import NotReached, SimulatorError

if TYPE_CHECKING:
    from simulator.engine.control.shapes import Envelope
    from simulator.testing.seen import SeenWorld

_SHOWN = 12


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
    receipt = error.receipt
    lines = [_awaited(goal) + ": " + _why(error.message)]
    lines.append(
        f"  From {receipt.get('from')} to {receipt.get('now')}, {_count(receipt.get('fired', 0), 'timer')} fired."
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


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
