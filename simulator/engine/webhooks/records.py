"""Records of endpoints, queues, attempts and deliveries (section "Events"; decisions W1 to W12)."""

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
    "succeeded": "The receiver returned 2xx within 10 seconds.",
    "failed": "It responded with another status, too late, or not at all.",
}
DeliveryCause = Literal["first", "retry", "copy", "resend"]
DELIVERY_CAUSE_MEANINGS = {
    "first": "The first attempt for this event and endpoint.",
    "retry": "An attempt in the retry schedule, after a failed attempt.",
    "copy": "A second copy created by a fault (`copies`, `two_at_once`).",
    "resend": "The event was resent on request.",
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
    """A future attempt to deliver one event to one endpoint."""

    event_id: Id
    endpoint_id: Id
    stage: int | None = 0
    """The position in the retry schedule, 0 for the first attempt, or None for copies and resends (not retried)."""
    after: int = 0
    """The number of the previous attempt."""
    plan: DeliveryPlan | None = None
    """The effects of a fault, or None if faults were not matched yet."""
    place: tuple[int, ...] = ()
    """The position among the attempts at the same simulated time, or () for the position of the attempt's event.

    The three numbers are the newest event when the attempt was resent or became due, a sequence number, and 0. A held
    attempt directly follows the attempt that it waited for.
    """
    delayed_after: int | None = field(default=None, metadata={"saved_as": "since"})
    """The number of completed first attempts to the endpoint when a fault started to delay this attempt."""
    held_for: int | None = 0
    """The number of completed first attempts that starts a held attempt, or None for the final event of its object."""
    cause: DeliveryCause = "first"

    saved_as: ClassVar[str] = "Due"

    @property
    def is_first(self) -> bool:
        return self.stage == 0


@dataclass(frozen=True, slots=True)
class EndpointQueue:
    """The first attempts to one endpoint, which are sent one after another."""

    waiting_from: int = field(default=0, metadata={"saved_as": "head"})
    """The first waiting position. The waiting events are in the table `WAITING`."""
    waiting_to: int = field(default=0, metadata={"saved_as": "tail"})
    """The position after the last waiting position."""
    active: str = field(default="", metadata={"saved_as": "busy"})
    """The key of the attempt that is ready or in flight, or "" if the queue is idle."""
    ahead: tuple[PendingAttempt, ...] = field(default=(), metadata={"saved_as": "front"})
    """Attempts that are sent before the waiting attempts."""
    held: tuple[PendingAttempt, ...] = ()
    """Attempts that faults hold back (see `PendingAttempt.held_for`)."""
    answered: int = field(default=0, metadata={"saved_as": "gone"})
    """The number of answered first attempts."""

    saved_as: ClassVar[str] = "Line"


@dataclass(frozen=True, slots=True)
class Planned:
    """A planned retry or a delayed attempt."""

    pending: PendingAttempt = field(metadata={"saved_as": "due"})
    timer: str
    delivery_id: Id | None = None
    """The id of the delivery whose `next_attempt_at` announces the attempt, or None."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt in flight."""

    id: Id
    """The id of the delivery that is recorded for the attempt."""
    key: str
    """The attempt's key in the table `READY`. A queue refers to the attempt by this key."""
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
        """The attempt's position among the attempts at the same simulated time. It does not depend on the receivers."""
        return self.pending.place or (self.event_sequence, 0, 0)

    @property
    def endpoint_id(self) -> str:
        return self.pending.endpoint_id


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A signed webhook request, byte for byte."""

    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes


@dataclass(frozen=True, slots=True)
class Outcome:
    """The response to a webhook request, or the reason why there is none."""

    status: int | None
    error: str | None = None
    """The reason for a failure. If there is also a status, a fault lost the response that the receiver sent."""
    duration_ms: int = 0
    """The duration in milliseconds on the machine's clock."""
    request_headers: tuple[tuple[str, str], ...] = ()
    response_headers: tuple[tuple[str, str], ...] = ()
    response_body: bytes = b""

    @property
    def succeeded(self) -> bool:
        return self.error is None and self.status is not None and 200 <= self.status <= 299


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery attempt that was made (decision W12)."""

    id: Id
    sequence: tuple[int, ...]
    """A sort key: the order in which the attempts in a world were sent."""
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
    """True if a fault sent an old timestamp."""
    unheard: bool = False
    """True if a fault lost the receiver's acknowledgement."""
    sent: Text = NOTHING
    """The body that was sent, if a fault added unexpected data to the event. Otherwise empty."""
    fault: str = ""
    """The id of the fault that applied."""
    cause: DeliveryCause | None = None
    """The reason for the attempt. None in a document that was saved before causes were recorded."""

    @property
    def was_dropped(self) -> bool:
        """True if a fault dropped the attempt. All other attempts have request headers, even without a response."""
        return self.request_headers is NO_HEADERS


ENDPOINTS = TableKey("webhooks", Webhook, per_environment=True)
DELIVERIES = TableKey("deliveries", Delivery, per_owner=True, journal=True)
"""The deliveries to each endpoint, in the order in which their responses arrived."""
PLANNED = TableKey("webhook_planned", Planned, per_owner=True)
QUEUES = TableKey("webhook_lines", EndpointQueue)
WAITING = TableKey("webhook_waiting", str)
"""Ids of events whose first attempt is waiting, by `<endpoint>:<position>`."""
WAITING_PLANS = TableKey("webhook_waiting_plans", DeliveryPlan)
"""The effects of faults that matched a waiting event when it happened, by `<endpoint>:<position>`."""
READY = TableKey("webhook_ready", PendingAttempt)
"""Attempts that may start now, in the order of the table."""
IN_FLIGHT = TableKey("webhook_in_flight", Attempt)
"""Attempts that were taken and are not yet reported, by id."""
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
    """Return the id of a delivery. It is derived from the event, the endpoint and the attempt number (decision W12)."""
    return "dlv_" + text_of(derive(event_id, endpoint_id, number))
