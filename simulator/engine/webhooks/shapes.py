"""How endpoints, test calls and deliveries are shown (chapter "Webhook endpoint and event", decisions W10 and W12)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.text.shapes import (
    Assumed,
    Clauses,
    Count,
    EventName,
    Format,
    Meanings,
    OneOf,
    Pagination,
    Prefix,
    Timestamp,
)
from simulator.engine.text.texts import headers_of
from simulator.engine.webhooks.delivery import faults
from simulator.engine.webhooks.delivery.faults import altered
from simulator.engine.webhooks.records import (
    DELIVERY_CAUSE_MEANINGS,
    DELIVERY_MEANINGS,
    Delivery,
    DeliveryCause,
    DeliveryStatus,
    Webhook,
)
from simulator.engine.webhooks.states import MEANINGS
from simulator.kernel.clock import format_moment, format_timestamp
from simulator.kernel.world import World


class WebhookEndpoint(TypedDict):
    """A URL that events are sent to."""

    id: Annotated[str, Prefix("wh_")]
    """Names the endpoint in every path below /webhooks."""
    url: str
    """Where events are sent, by POST."""
    events: list[str]
    """The event types that it gets, as subscribed; `*` among them stands for all."""
    description: Annotated[str | None, Assumed("H19", "nullable")]
    """The caller's note; null when there is none."""
    status: Annotated[str, OneOf(MEANINGS)]
    """Whether it gets events."""
    created_at: Timestamp
    """When it was registered."""


class WebhookPage(TypedDict):
    """A page of endpoints."""

    data: Annotated[list[WebhookEndpoint], Assumed("webhook-answers", "items")]
    """The endpoints of this page."""
    pagination: Pagination
    """Which page this is, of how many."""


class WebhookTestData(TypedDict):
    """What the test event is about."""

    object: Annotated[WebhookEndpoint, Assumed("W8")]
    """The endpoint that is tested."""


class WebhookTestAnswer(TypedDict):
    """The answer of a test call: the envelope that was sent."""

    id: Annotated[str, Prefix("evt_"), Assumed("W10")]
    """Names the event; every attempt to deliver it carries the same id."""
    type: Annotated[Literal["webhook.test"], Assumed("W10")]
    """Always `webhook.test`."""
    created_at: Annotated[Timestamp, Assumed("W10")]
    """When the event was made."""
    livemode: Annotated[bool, Assumed("W10")]
    """Whether it comes from production: false in the sandbox."""
    data: Annotated[WebhookTestData, Assumed("W10")]
    """What the event is about."""


class WebhookDelivery(TypedDict):
    """One attempt to deliver one event to one endpoint."""

    id: Annotated[str, Prefix("dlv_"), Assumed("W12")]
    """Names the attempt."""
    event_id: Annotated[str, Prefix("evt_"), Assumed("W12")]
    """The event that was sent: its envelope's id."""
    event_type: Annotated[str, EventName(), Assumed("W12")]
    """What the event tells."""
    endpoint_id: Annotated[str, Prefix("wh_"), Assumed("W12")]
    """The endpoint that it was sent to."""
    url: Annotated[str, Assumed("W12")]
    """The URL that it was sent to, as it was then."""
    attempt: Annotated[int, Field(ge=1), Assumed("W12")]
    """Which attempt for this event and endpoint it was, counted from 1."""
    status: Annotated[DeliveryStatus, Meanings(DELIVERY_MEANINGS), Assumed("W12")]
    """What came of it."""
    response_status: Annotated[int | None, Assumed("W12")]
    """The HTTP status that the receiver answered; null when there was no answer."""
    error: Annotated[str | None, Assumed("W12")]
    """Why the attempt failed, for people; null when it succeeded."""
    duration_ms: Annotated[Count, Assumed("W12")]
    """How long the receiver took, in milliseconds."""
    attempted_at: Annotated[Timestamp, Assumed("W12")]
    """When the attempt was made."""
    next_attempt_at: Annotated[Timestamp | None, Assumed("W12")]
    """When it is tried again; null when it is not."""


class DeliveryPage(TypedDict):
    """A page of delivery attempts."""

    data: Annotated[list[WebhookDelivery], Assumed("W12", "items")]
    """The attempts of this page."""
    pagination: Pagination
    """Which page this is, of how many."""


class RecordedDelivery(WebhookDelivery):
    """A delivery as the control interface shows it: also what was sent and what came back, to the byte."""

    request_headers: dict[str, str]
    """The headers that were sent, the signature among them."""
    request_body: str
    """The body that was sent."""
    response_headers: dict[str, str] | None
    """The headers of the answer; null when there was none."""
    response_body: Annotated[str | None, Format()]
    """The body of the answer, its first 64 KiB; null when there was none."""
    faults: list[Annotated[str, OneOf(faults.FALSIFIED)]]
    """What faults did to it, so that nobody looks for that in the receiver; empty for one that went as it should."""
    fault_id: str | None
    """The fault that acted on the attempt; null where none did."""
    cause: Annotated[DeliveryCause, Meanings(DELIVERY_CAUSE_MEANINGS)]
    """Why the attempt was made."""


def render_webhook(world: World, endpoint: Webhook) -> WebhookEndpoint:
    return {
        "id": endpoint.id,
        "url": endpoint.url,
        "events": list(endpoint.events),
        "description": endpoint.description,
        "status": endpoint.status,
        "created_at": format_timestamp(endpoint.created_at_ms),
    }


def render_delivery(world: World, delivery: Delivery) -> WebhookDelivery:
    """The delivery record of the interface (decision W12)."""
    return {
        "id": delivery.id,
        "event_id": delivery.event_id,
        "event_type": delivery.event_type,
        "endpoint_id": delivery.endpoint_id,
        "url": delivery.url,
        "attempt": delivery.attempt,
        "status": delivery.status,
        "response_status": delivery.response_status,
        "error": delivery.error,
        "duration_ms": delivery.duration_ms,
        "attempted_at": format_timestamp(delivery.created_at_ms),
        "next_attempt_at": format_moment(delivery.next_attempt_at_ms),
    }


def render_recorded_delivery(world: World, delivery: Delivery) -> RecordedDelivery:
    """The record of the control interface: also the exact request and what came back (null without an answer)."""
    event = world.journal.event(delivery.event_id)
    raw = delivery.sent.read() or (b"" if event is None else event.raw)
    answered = delivery.response_status is not None
    return {
        **render_delivery(world, delivery),
        "request_headers": dict(headers_of(delivery.request_headers)),
        "request_body": (altered(raw) if delivery.altered else raw).decode(),
        "response_headers": dict(headers_of(delivery.response_headers)) if answered else None,
        "response_body": delivery.response_body.read().decode("utf-8", "replace") if answered else None,
        "faults": faults.what_happened_to(delivery),
        "fault_id": delivery.fault or None,
        "cause": delivery.cause or ("first" if delivery.attempt == 1 else "retry"),
    }


CLAUSES: Clauses = {
    "Webhook endpoint and event": (WebhookEndpoint, WebhookDelivery, WebhookTestAnswer),
    "Pagination envelope and error envelope": (WebhookPage, DeliveryPage),
}
