"""Failure messages of the test kit. They describe what happened instead of what the test expected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from simulator.engine.text.json import JsonObject
from simulator.testing.errors import NotReached, SimulatorError

if TYPE_CHECKING:
    from simulator.engine.control.history.timeline import Timeline
    from simulator.engine.control.scenarios.faults import FaultList
    from simulator.engine.control.shapes import Envelope
    from simulator.engine.insight.shapes import Finding
    from simulator.testing.reading import SeenWorld

_SHOWN = 12
_CAME_SHOWN = 20
_LINES = 40
_GRAVEST = ("error", "warning", "info")
_MOST_ADVICE = 4


def not_exactly_one(world: SeenWorld, type: str, object_id: str | None, found: list[Envelope]) -> str:
    """Return the message for a search that did not find exactly one event. It lists the events that exist."""
    about = f" about {object_id}" if object_id else ""
    if found:
        return "\n".join([f"There are {len(found)} events {type}{about}, not one:", *_lines(found)])
    others = world.events(object_id=object_id)
    if others:
        return "\n".join([f"There is no event {type}{about}. There are these{about}:", *_lines(others)])
    if object_id and (all_of_them := world.events()):
        return "\n".join([f"There are no events{about}. Other events:", *_lines(all_of_them)])
    return f"There is no event {type}{about}: the world has emitted none."


def _lines(events: list[Envelope]) -> Iterable[str]:
    if len(events) > _SHOWN:
        yield f"  … {len(events) - _SHOWN} earlier ones"
    for event in events[-_SHOWN:]:
        about = event["data"]["object"].get("id") or ""
        yield f"  {event['created_at']}  {event['type']}  {about}".rstrip()


def not_reached(world: SeenWorld, goal: Mapping[str, object], error: NotReached) -> NotReached:
    """Return the error for an advance whose condition was never met. The error describes what happened instead."""
    receipt, fired = error.receipt, error.receipt.get("fired", 0)
    why = error.message.partition(" while waiting for ")[0]  # without the condition
    lines = [
        f"{_awaited(goal)}: {why[:1].lower()}{why[1:]}.",
        f"  From {receipt.get('from')} to {receipt.get('now')}, {fired} timer{'' if fired == 1 else 's'} fired.",
    ]
    ids = set(receipt.get("events") or ())
    events = [event for event in world.events() if event["id"] in ids] if ids else []
    shown = [f"  {line}" for line in _lines(events)]
    lines += ["  Events in that time:", *shown] if events else ["  No event in that time."]
    subject = goal.get("resource") or goal.get("object_id")
    if isinstance(subject, str):
        lines += _standing(world, subject)
    if not world.control("GET", f"/worlds/{world.id}")["scenarios"]:
        lines.append(
            "  No scenario is active, so no outside event happens on its own. "
            'Call world.scenario("autopilot") or world.act(...).'
        )
    return NotReached(
        "\n".join(lines),
        status=error.status,
        error={"message": error.message, "code": error.code, "param": error.param, "receipt": receipt},
    )


def _awaited(goal: Mapping[str, object]) -> str:
    if goal.get("event"):
        about = f" about {goal['object_id']}" if goal.get("object_id") else ""
        return f"The event {goal['event']}{about} never occurred"
    return f"{goal.get('resource')} never became {goal.get('status')}"


def _standing(world: SeenWorld, subject: str) -> Iterable[str]:
    try:
        story = world.resource(subject)
    except SimulatorError:
        return
    since = story["history"][-1]["at"] if story["history"] else story["origin"]["at"]
    allowed = ", ".join(story["allowed"]) or "none"
    yield f"  {subject} has been {story['state']} since {since}; possible actions: {allowed}."


class Receiving(Protocol):
    """The attributes of a webhook receiver that a message shows."""

    environment: str
    endpoint_id: str | None

    @property
    def received(self) -> Sequence[object]: ...


def absence(world: SeenWorld, receiver: Receiving, type: str, object_id: str | None, timeout: float) -> str:
    """Return the failure message for `Receiver.wait_for`."""
    about = f" of {object_id}" if object_id else ""
    lines = [f"No {type}{about} arrived within {timeout:g} seconds."]
    came = list(receiver.received)
    if came:
        lines.append(f"Deliveries received, in order{f' (the last {_CAME_SHOWN})' if len(came) > _CAME_SHOWN else ''}:")
        lines += [f"  {delivery}" for delivery in came[-_CAME_SHOWN:]]
    else:
        lines.append("No delivery was received.")
    try:
        lines += [*_what_the_world_says(world, receiver, type, object_id)]
    except SimulatorError as error:
        lines.append(f"The request for details failed: {error}")
    return "\n".join(lines)


def _what_the_world_says(world: SeenWorld, receiver: Receiving, type: str, object_id: str | None) -> Iterator[str]:
    emitted = _data(world, "/events", type=type, object_id=object_id, environment=receiver.environment)
    if emitted:
        yield from _why_not_delivered(world, receiver, emitted[-1])
        return
    clock = world.control("GET", "/clock")
    others = _data(world, "/events", object_id=object_id, environment=receiver.environment) if object_id else []
    yield "The world has not emitted it."
    if others:
        told = ", ".join(dict.fromkeys(event["type"] for event in others))
        yield f"For {object_id} it has emitted: {told}."
    if clock["mode"] == "manual" and clock["timers"]:
        yield (
            f"Its clock is manual, at {clock['now']}; its next timer is due at {clock['next_timer_at']}. "
            f'Move it with world.advance(...), or advance(until={{"event": "{type}"}}).'
        )
    elif clock["mode"] == "manual":
        yield (
            f"Its clock is manual, at {clock['now']}, and nothing is scheduled. "
            "Cause the event with world.act(...), or activate a scenario."
        )


def _why_not_delivered(world: SeenWorld, receiver: Receiving, event: JsonObject) -> Iterator[str]:
    yield f"The world has emitted it ({event['id']} at {event['created_at']})."
    attempts = _data(world, "/deliveries", event_id=event["id"], endpoint_id=receiver.endpoint_id)
    clock = world.control("GET", "/clock")
    for attempt in attempts[-3:]:
        came = attempt["response_status"] or attempt["error"]
        again = f"; the next is due at {attempt['next_attempt_at']}" if attempt["next_attempt_at"] else ""
        yield f"Attempt {attempt['attempt']} to this receiver at {attempt['attempted_at']}: {came}{again}."
    if attempts and attempts[-1]["next_attempt_at"] and clock["mode"] == "manual":
        yield f"The clock is manual, at {clock['now']}: move it with world.advance(...)."
    if not attempts:
        yield (
            "It was not sent to this receiver: the endpoint is deleted (a reset does that), disabled or not "
            "subscribed, or a fault holds the delivery back."
        )


def _data(world: SeenWorld, path: str, **query: object) -> list[JsonObject]:
    given = {name: value for name, value in query.items() if value is not None}
    rows: list[JsonObject] = world.control("GET", path, query=given)["data"]
    return rows


def timeline(world: SeenWorld) -> str:
    """Return requests and their effects, oldest first, then active faults and advice. Events take at most 40 lines."""
    happened: Timeline = world.control("GET", "/timeline", query={"limit": _LINES})
    faults: FaultList = world.control("GET", "/faults")
    return "\n".join(
        [
            f"World {world.id}, seed {world.seed}, now {world.now:%Y-%m-%d %H:%M:%S} UTC",
            *_happened(happened),
            *_faults(faults),
            *_advice(world.advice()),
        ]
    )


_SIGNS = {"call": "", "control": "* ", "move": "    ", "event": "    ", "delivery": "    webhook "}
"""The signs before an entry: requests are on the left, and their effects on the right."""


def _happened(timeline: Timeline) -> Iterator[str]:
    if not timeline["data"]:
        yield "  nothing happened"
    if timeline["earlier"]:
        yield f"  … {timeline['earlier']} earlier"
    day = time = call = ""
    for entry in timeline["data"]:
        text = entry["text"]
        if entry["what"] in ("call", "control"):
            call = text
        elif text.startswith(f"{entry['id']} (new)") and entry["id"] in call and ", emits " not in text:
            continue  # the line of the call already mentions the new object
        date, _, now = entry["at"].removesuffix("Z").partition("T")
        if date != day:
            yield f"  {date}"
        yield f"  {now if (date, now) != (day, time) else '':12}  {_SIGNS[entry['what']]}{text}"
        day, time = date, now


def _faults(faults: FaultList) -> Iterator[str]:
    if faults["data"]:
        yield "Active faults"
    for row in faults["data"]:
        left = "" if row["times_left"] is None else f", {row['times_left']} left"
        where = row.get("match") or row.get("webhook") or {}
        words = " ".join(str(part) for part in where.values()) or "everything"
        yield f"  {row['id']} on {words}: applied {row['hits']}×{left}"


def _advice(found: list[Finding]) -> Iterator[str]:
    """Yield advice, the most severe first, with one remedy for all findings of the same kind."""
    kinds: dict[tuple[int, str], list[Finding]] = {}
    for row in found:
        kinds.setdefault((_GRAVEST.index(row["severity"]), row["kind"]), []).append(row)
    if kinds:
        yield "Advice"
    for index, (_, rows) in enumerate(sorted(kinds.items(), key=lambda item: item[0])):
        if index == _MOST_ADVICE:
            yield f"  … {len(kinds) - index} more kinds: see world.advice()"
            return
        yield from (f"  {row['severity']}: {row['message']}" for row in rows[:_MOST_ADVICE])
        if len(rows) > _MOST_ADVICE:
            yield f"    and {len(rows) - _MOST_ADVICE} more like it"
        yield f"    {rows[0]['what_to_do']}"
