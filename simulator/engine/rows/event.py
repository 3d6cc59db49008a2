"""Event types and the making of an event: its envelope once, as raw bytes (decision W7).

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
    """One row of the event catalogue: the type, when it is sent, what `data.object` is, and what a receiver learns.

    Which kinds of resource it tells of, and in which statuses, say the state tables that name it in their cells; of an
    event that no move emits, `in_status` says where its object can be. Every receiver may rely on the members of the
    object that it `requires` (`run.failure_code`: a member of a member), and on its status where the contract
    `narrows` that; `also` are further statuses that the contract leaves open. `is_last`: after it an integrator looks
    at the resource itself.

    `example` is how a realistic object of this event differs from the example of its kind: of the first kind that the
    event tells of, or of `example_of`. A text `@`, `@+30m` or `@-1d` stands for a moment counted from now.
    """

    name: str
    sent_when: str
    object: str
    tells: str = ""
    requires: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    narrows: bool = True
    in_status: str = ""
    is_last: bool = False
    example_of: str = ""
    example: JsonObject = field(default_factory=dict)
    after: str = ""
    """The event that stands before it in the chapter, where that is not the one before it in its room."""

    @property
    def meaning(self) -> str:
        return f"Sent when {self.sent_when}."

    @property
    def description(self) -> str:
        return f"{self.meaning} {self.tells}".rstrip()


def make(world: World, environment: str, event_type: str, subject: Shown, object_id: str) -> Event:
    """An event with its raw envelope, not yet in the journal."""
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
    """Emit an event: into the journal, then to everything that listens (webhooks, scenarios); inside a change."""
    event = make(world, environment, event_type, subject, object_id)
    publish(world, event, subject)
    return event


def publish(world: World, event: Event, subject: Shown) -> None:
    """Put an event that was made into the journal and tell everything that listens; inside a change."""
    world.journal.append(event)
    for listener in world.wiring.on_event:
        listener(world, event, subject)
