"""Event types, and how events are emitted, with raw envelopes (W7). Source: section "Events", decision W8."""

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
    """One row of the event catalogue. Its kinds and statuses are derived from the transitions that emit it."""

    name: str
    sent_when: str
    tells: str = ""
    """An explanation of the event for receivers."""
    requires: tuple[str, ...] = ()
    """The fields of the object that are always present. Nested fields are dotted (`run.failure_code`)."""
    also: tuple[str, ...] = ()
    """Further statuses that the contract allows."""
    narrows: bool = True
    """True if the contract allows only the statuses that the object can have after the event."""
    in_status: str = ""
    """The status of the object, if no transition emits the event."""
    is_last: bool = False
    """True if the receiver has to read the resource after the event."""
    example_of: str = ""
    """The kind whose example is used. The default is the first kind for the event."""
    example: JsonObject = field(default_factory=dict)
    """The differences from the kind's example. `@`, `@+30m` or `@-1d` is a time relative to now."""
    after: str = ""
    """The preceding event in the catalogue, if it is not the previous event in the same package."""
    of: str = ""
    """The kind of `data.object`. The default is the first part of the name."""

    @property
    def object(self) -> str:
        """The kind of the object in the event's `data.object`."""
        return self.of or self.name.partition(".")[0]

    @property
    def meaning(self) -> str:
        return f"Sent when {self.sent_when}."

    @property
    def description(self) -> str:
        return f"{self.meaning} {self.tells}".rstrip()


def make(world: World, environment: str, event_type: str, subject: Shown, object_id: str) -> Event:
    """Return an event with its raw envelope. The event is not yet in the journal."""
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
    """Create an event, add it to the journal, and call all listeners. Call this inside a transaction."""
    event = make(world, environment, event_type, subject, object_id)
    publish(world, event, subject)
    return event


def publish(world: World, event: Event, subject: Shown) -> None:
    """Add an event to the journal and call all listeners. Call this inside a transaction."""
    world.journal.append(event)
    for listener in world.wiring.on_event:
        listener(world, event, subject)
