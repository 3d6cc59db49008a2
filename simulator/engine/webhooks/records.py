"""Records of endpoints, queues, attempts and deliveries.

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
    """A registered endpoint."""

    url: str
    events: tuple[str, ...]
    """The subscribed event types as given. `*` means all."""
    description: str | None = None

    @property
    def kind(self) -> str:
        return "webhook"

    def wants(self, event_type: str) -> bool:
        return ALL_EVENTS in self.events or event_type in self.events


NO_FAULT = DeliveryPlan()


@dataclass(frozen=True, slots=True)
class PendingAttempt:
    """One attempt that is still to be made, of one event at one endpoint."""

    event_id: Id
    endpoint_id: Id
    stage: int | None = 0
    """The position in the retry schedule, 0 for the first attempt. Copies and resends have None and no retries."""
    after: int = 0
    """The number of the attempt before this one."""
    plan: DeliveryPlan | None = None
    """The effects of faults, or None until faults were matched."""
    place: tuple[int, ...] = ()
    """The position among the attempts of its instant: (number of the newest event when the attempt was resent or fell
    due, sequence number, 0), or () for the position of its own event. A held attempt goes right after the attempt it
    waited for.
    """
    delayed_after: int | None = field(default=None, metadata={"saved_as": "since"})
    """The number of answered first attempts of the endpoint when a fault began to delay this one."""
    held_for: int | None = 0
    """The number of answered first attempts at which a held attempt starts. None: it starts after the final event of
    its object.
    """
    cause: DeliveryCause = "first"

    saved_as: ClassVar[str] = "Due"

    @property
    def is_first(self) -> bool:
        return self.stage == 0


@dataclass(frozen=True, slots=True)
class EndpointQueue:
    """The first attempts of one endpoint, which go out one after another."""

    waiting_from: int = field(default=0, metadata={"saved_as": "head"})
    """The first waiting position. The events that wait are in the table `WAITING`."""
    waiting_to: int = field(default=0, metadata={"saved_as": "tail"})
    """The position after the last waiting one."""
    active: str = field(default="", metadata={"saved_as": "busy"})
    """The key of the attempt that is ready or in flight, or "" if the queue is idle."""
    ahead: tuple[PendingAttempt, ...] = field(default=(), metadata={"saved_as": "front"})
    """Attempts that go before the waiting ones."""
    held: tuple[PendingAttempt, ...] = ()
    """Attempts that faults hold back (see `PendingAttempt.held_for`)."""
    answered: int = field(default=0, metadata={"saved_as": "gone"})
    """The number of answered first attempts."""

    saved_as: ClassVar[str] = "Line"


@dataclass(frozen=True, slots=True)
class Planned:
    """A retry or a delayed attempt on the agenda."""

    pending: PendingAttempt = field(metadata={"saved_as": "due"})
    timer: str
    delivery_id: Id | None = None
    """The delivery whose `next_attempt_at` announces it, or None."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt in flight."""

    id: Id
    """The id of the delivery that the attempt becomes."""
    key: str
    """Its key in the table `READY`, which a queue uses to name it."""
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
        """Return its position among the attempts of the same instant. It does not depend on the receivers."""
        return self.pending.place or (self.event_sequence, 0, 0)

    @property
    def endpoint_id(self) -> str:
        return self.pending.endpoint_id


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """One request, byte for byte."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """The response to one request, or the reason why there is none."""

    status: int | None
    error: str | None = None
    """With a status, a fault lost the response: the receiver sent it, and the service did not see it."""
    duration_ms: int = 0
    """Milliseconds of the wall clock."""
    request_headers: tuple[tuple[str, str], ...] = ()
    response_headers: tuple[tuple[str, str], ...] = ()
    response_body: bytes = b""

    @property
    def succeeded(self) -> bool:
        return self.error is None and self.status is not None and 200 <= self.status <= 299


@dataclass(frozen=True, slots=True)
class Delivery:
    """One attempt that was made (decision W12)."""

    id: Id
    sequence: tuple[int, ...]
    """The order in which the attempts of a world went out."""
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
    """True if a fault altered the body after it was signed."""
    corrupted: bool = False
    """True if a fault made the signature wrong."""
    stale: bool = False
    """True if a fault made the timestamp old."""
    unheard: bool = False
    """True if a fault lost the acknowledgement of the receiver."""
    sent: Text = NOTHING
    """The body, if a fault added something unexpected to that of the event."""
    fault: str = ""
    """The id of the fault that applied."""
    cause: DeliveryCause | None = None
    """None in a document that was saved before causes were recorded."""

    @property
    def was_dropped(self) -> bool:
        """Return True if a fault dropped it. All other attempts have request headers, even unanswered ones."""
        return self.request_headers is NO_HEADERS


ENDPOINTS = TableKey("webhooks", Webhook, per_environment=True)
DELIVERIES = TableKey("deliveries", Delivery, per_owner=True, journal=True)
"""The deliveries of each endpoint, in the order in which they were answered."""
PLANNED = TableKey("webhook_planned", Planned, per_owner=True)
QUEUES = TableKey("webhook_lines", EndpointQueue)
WAITING = TableKey("webhook_waiting", str)
"""Ids of events whose first attempt waits, by `<endpoint>:<position>`."""
WAITING_PLANS = TableKey("webhook_waiting_plans", DeliveryPlan)
"""Plans of faults that matched a waiting event when it happened, by the same position."""
READY = TableKey("webhook_ready", PendingAttempt)
"""Attempts that may start now, in this order."""
IN_FLIGHT = TableKey("webhook_in_flight", Attempt)
"""Attempts that were taken and not yet reported, by id."""
TESTED = TableKey("webhook_tests", str)
"""Ids of tested endpoints, by the id of the test event."""


@dataclass(frozen=True, slots=True)
class Email:
    """An e-mail that the service would have sent (decision W5)."""

    id: Id
    sequence: int
    at_ms: Milliseconds
    to: str
    subject: str
    body: str


EMAILS = TableKey("emails", Email, journal=True)


def delivery_id(event_id: str, endpoint_id: str, number: int) -> str:
    """Return the id of a delivery, which is derived from event, endpoint and attempt number (decision W12)."""
    return "dlv_" + text_of(derive(event_id, endpoint_id, number))
