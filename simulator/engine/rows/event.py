"""Event types, and creating an event with its envelope as raw bytes (decision W7).

Chapter "Events" of the specification, decision W8.
"""

from __future__ import annotations

from dataclasses import field

from simulator.engine.records.origins import present_origin
from simulator.engine.rows.service import service_of
from simulator.engine.text.json import JsonObject, Shown, dumps
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Event
from simulator.kernel.texts import Text
from simulator.kernel.world import World


@dataclass(frozen=True, slots=True)
class EventType:
    """One row of the event catalogue.

    The state tables whose cells name the event decide its kinds of resource and their statuses.
    """

    name: str
    sent_when: str
    object: str
    """The content of `data.object`."""
    tells: str = ""
    """Explains the event to receivers."""
    requires: tuple[str, ...] = ()
    """The fields of the object that every receiver may rely on; dotted for nested fields (`run.failure_code`)."""
    also: tuple[str, ...] = ()
    """Further statuses that the contract leaves open."""
    narrows: bool = True
    """Whether the contract narrows the status of the object."""
    in_status: str = ""
    """The status of the object, if no move emits the event."""
    is_last: bool = False
    """Whether an integrator reads the resource itself afterwards."""
    example_of: str = ""
    """The kind whose example is used, if not the first kind of the event."""
    example: JsonObject = field(default_factory=dict)
    """The differences from the example of the kind. `@`, `@+30m` or `@-1d` is a moment relative to now."""
    after: str = ""
    """The preceding event in the chapter, if that is not the previous one of its room."""

    @property
    def meaning(self) -> str:
        return f"Sent when {self.sent_when}."

    @property
    def description(self) -> str:
        return f"{self.meaning} {self.tells}".rstrip()


def make(world: World, environment: str, event_type: str, subject: Shown, object_id: str) -> Event:
    """Return an event with its raw envelope, not yet in the journal."""
    service, now_ms = service_of(world), world.now_ms
    signing, wording = service.signing, service.wording
    event_id = world.streams.identifier(signing.event_prefix, "ids.event")
    told = wording.subject(world, event_type, subject)
    raw = dumps(wording.answer(world, signing.envelope(event_id, event_type, now_ms, environment, told)))
    return Event(
        id=event_id,
        sequence=world.next_sequence("event"),
        environment=environment,
        type=event_type,
        object_id=object_id,
        at_ms=now_ms,
        text=Text(raw),
        cause=world.cause,
        trace=present_origin(world).trace,
    )


def emit(world: World, environment: str, event_type: str, subject: Shown, object_id: str) -> Event:
    """Emit an event: into the journal, then to all listeners (webhooks, scenarios); inside a change."""
    event = make(world, environment, event_type, subject, object_id)
    publish(world, event, subject)
    return event


def publish(world: World, event: Event, subject: Shown) -> None:
    """Enter an event into the journal and call all listeners; inside a change."""
    world.journal.append(event)
    for listener in world.wiring.on_event:
        listener(world, event, subject)
