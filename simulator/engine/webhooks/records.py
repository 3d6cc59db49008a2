"""What the webhooks room keeps: endpoints, what waits to be delivered, attempts on their way, and deliveries made.

Chapter "Events" of the specification, decisions W1 to W12.
"""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar, Literal

from simulator.engine.faults.in_force import DeliveryPlan
from simulator.engine.rows.kind import Record
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Id, Milliseconds
from simulator.kernel.ids import derive, text_of
from simulator.kernel.store import TableKey
from simulator.kernel.texts import NO_HEADERS, NOTHING, HeadersText, Text

ALL_EVENTS = "*"

DeliveryStatus = Literal["succeeded", "failed"]
DELIVERY_MEANINGS = {
    "succeeded": "The receiver answered 2xx within 10 seconds.",
    "failed": "It answered anything else, too late, or not at all.",
}
DeliveryCause = Literal["first", "retry", "copy", "resend"]
DELIVERY_CAUSE_MEANINGS = {
    "first": "The first attempt for this event and endpoint.",
    "retry": "An attempt of the retry schedule, after one that failed.",
    "copy": "A second copy that a fault made (`copies`, `two_at_once`).",
    "resend": "Somebody asked for the event to be sent again.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook(Record):
    """A registered endpoint; `events` are the types it subscribes to as given, `*` among them means all."""

    url: str
    events: tuple[str, ...]
    description: str | None = None

    @property
    def kind(self) -> str:
        return "webhook"

    def wants(self, event_type: str) -> bool:
        return ALL_EVENTS in self.events or event_type in self.events


NO_FAULT = DeliveryPlan()


@dataclass(frozen=True, slots=True)
class PendingAttempt:
    """One attempt that is still to be made of one event at one endpoint.

    `stage` is its place in the retry schedule (0 the first attempt), None for copies and resends, after which
    nothing is retried. `after` is the number of the attempt before it. `plan` is None until faults were asked.
    `place` is where it goes among the first attempts of its instant, () for one that goes by its own event: (the newest
    event there was when it was resent or fell due, its number, 0); a held one goes right after the one it waited for.
    `delayed_after`: how many first attempts its endpoint had answered when a fault began to delay it. `held_for`: how
    many it has answered when this one goes, while a fault holds it; None: it goes when the end of its object was told.
    """

    event_id: Id
    endpoint_id: Id
    stage: int | None = 0
    after: int = 0
    plan: DeliveryPlan | None = None
    place: tuple[int, ...] = ()
    delayed_after: int | None = field(default=None, metadata={"saved_as": "since"})
    held_for: int | None = 0
    cause: DeliveryCause = "first"
    """Why the attempt is made."""

    saved_as: ClassVar[str] = "Due"

    @property
    def is_first(self) -> bool:
        return self.stage == 0


@dataclass(frozen=True, slots=True)
class EndpointQueue:
    """The first attempts of one endpoint, which go out one after another.

    The places from `waiting_from` to before `waiting_to` wait in a table of their own, `ahead` goes before them.
    `active` is the key of the attempt that is on its way or about to be ("" for none). `held` are those that faults
    hold, until further first attempts have been answered or the end of their object was told; `answered` counts the
    first attempts that were.
    """

    waiting_from: int = field(default=0, metadata={"saved_as": "head"})
    waiting_to: int = field(default=0, metadata={"saved_as": "tail"})
    active: str = field(default="", metadata={"saved_as": "busy"})
    ahead: tuple[PendingAttempt, ...] = field(default=(), metadata={"saved_as": "front"})
    held: tuple[PendingAttempt, ...] = ()
    answered: int = field(default=0, metadata={"saved_as": "gone"})

    saved_as: ClassVar[str] = "Line"


@dataclass(frozen=True, slots=True)
class Planned:
    """A retry or a delayed attempt on the agenda, and the delivery that announces it (None: none does)."""

    pending: PendingAttempt = field(metadata={"saved_as": "due"})
    timer: str
    delivery_id: Id | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt on its way. `id` is the id of the delivery it will become; `key` its place in the queue."""

    id: Id
    key: str
    pending: PendingAttempt = field(metadata={"saved_as": "due"})
    number: int
    url: str
    event_sequence: int
    endpoint_sequence: int
    started_at_ms: Milliseconds

    @property
    def event_id(self) -> str:
        return self.pending.event_id

    @property
    def place(self) -> tuple[int, ...]:
        """Where it went among the attempts that started at the same instant, however fast receivers answer."""
        return self.pending.place or (self.event_sequence, 0, 0)

    @property
    def endpoint_id(self) -> str:
        return self.pending.endpoint_id


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """One request as it is to be sent, byte for byte."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came back from one request: a status, or why there is none; times in milliseconds of the wall clock.

    With both, the answer was lost: the receiver sent it, the service saw none.
    """

    status: int | None
    error: str | None = None
    duration_ms: int = 0
    request_headers: tuple[tuple[str, str], ...] = ()
    response_headers: tuple[tuple[str, str], ...] = ()
    response_body: bytes = b""

    @property
    def succeeded(self) -> bool:
        return self.error is None and self.status is not None and 200 <= self.status <= 299


@dataclass(frozen=True, slots=True)
class Delivery:
    """One attempt that was made (decision W12). `sequence` is the order in which the attempts of a world went out.

    `altered`, `corrupted` and `stale` say what a fault made of it: the body, the signature, the timestamp.
    `unheard`: the receiver acknowledged it, and a fault lost its answer. `sent`: the body, where a fault put something
    unexpected into that of the event. `fault`: the id of the fault that acted on it.
    """

    id: Id
    sequence: tuple[int, ...]
    created_at_ms: Milliseconds
    updated_at_ms: Milliseconds
    event_id: Id
    event_type: str
    environment: str
    endpoint_id: Id
    url: str
    attempt: int
    status: DeliveryStatus
    response_status: int | None
    error: str | None
    duration_ms: Milliseconds
    next_attempt_at_ms: Milliseconds | None
    request_headers: HeadersText
    response_headers: HeadersText
    response_body: Text
    altered: bool = False
    corrupted: bool = False
    stale: bool = False
    unheard: bool = False
    sent: Text = NOTHING
    fault: str = ""
    cause: DeliveryCause | None = None
    """Why the attempt was made, or None in a document saved before this was recorded."""

    @property
    def was_dropped(self) -> bool:
        """Whether a fault dropped it: whatever the courier takes has a request, even one that was never answered."""
        return self.request_headers is NO_HEADERS


ENDPOINTS = TableKey("webhooks", Webhook, per_environment=True)
DELIVERIES = TableKey("deliveries", Delivery, per_owner=True, journal=True)
"""The deliveries of each endpoint, in the order of their answers."""
PLANNED = TableKey("webhook_planned", Planned, per_owner=True)
QUEUES = TableKey("webhook_lines", EndpointQueue)
WAITING = TableKey("webhook_waiting", str)
"""Ids of events whose first attempt waits, by `<endpoint>:<place>`."""
WAITING_PLANS = TableKey("webhook_waiting_plans", DeliveryPlan)
"""What faults make of those of them that one met when the event happened, by the same place."""
READY = TableKey("webhook_ready", PendingAttempt)
"""What may start now, in that order."""
IN_FLIGHT = TableKey("webhook_in_flight", Attempt)
"""The attempts that were taken and not yet reported, by their ids."""
TESTED = TableKey("webhook_tests", str)
"""Id of an event that a test call made → the id of the endpoint that was tested."""


@dataclass(frozen=True, slots=True)
class Email:
    """An e-mail the service would have sent; it is only recorded (decision W5)."""

    id: Id
    sequence: int
    at_ms: Milliseconds
    to: str
    subject: str
    body: str


EMAILS = TableKey("emails", Email, journal=True)


def delivery_id(event_id: str, endpoint_id: str, number: int) -> str:
    """The id of a delivery, made of event, endpoint and attempt number (decision W12)."""
    return "dlv_" + text_of(derive(event_id, endpoint_id, number))
