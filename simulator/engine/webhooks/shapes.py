"""Shapes of endpoints, test events and deliveries (section "Webhook endpoint and event", decisions W10 and W12)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.text.json import headers_of
from simulator.engine.text.shapes import (
    EVENT,
    Assumed,
    Clauses,
    Count,
    Format,
    Listed,
    Meanings,
    OneOf,
    Prefix,
    Timestamp,
    page_shape,
)
from simulator.engine.webhooks import records
from simulator.engine.webhooks.delivery import faults
from simulator.engine.webhooks.delivery.faults import altered
from simulator.engine.webhooks.records import Delivery, DeliveryCause, DeliveryStatus, Webhook
from simulator.engine.webhooks.states import MEANINGS
from simulator.kernel.clock import format_moment, format_timestamp
from simulator.kernel.world import World


class WebhookEndpoint(TypedDict):
    """A URL that events are sent to."""

    id: Annotated[str, Prefix("wh_")]
    """The id of the endpoint in paths below /webhooks."""
    url: str
    """The URL to which events are posted."""
    events: list[str]
    """The subscribed event types. `*` means all."""
    description: Annotated[str | None, Assumed("H19", "nullable")]
    """The caller's note, or null."""
    status: Annotated[str, OneOf(MEANINGS)]
    """Whether the endpoint receives events."""
    created_at: Timestamp
    """The time of the registration."""


WebhookPage = page_shape(
    "WebhookPage", WebhookEndpoint, "endpoints", "The endpoints of this page.", Assumed("webhook-answers", "items")
)


class WebhookTestData(TypedDict):
    """The subject of a test event."""

    object: Annotated[WebhookEndpoint, Assumed("W8")]
    """The endpoint that is tested."""


class WebhookTestAnswer(TypedDict):
    """The response to a test call: the envelope that was sent."""

    id: Annotated[str, Prefix("evt_"), Assumed("W10")]
    """The id of the event. It is the same in every delivery attempt."""
    type: Annotated[Literal["webhook.test"], Assumed("W10")]
    """Always `webhook.test`."""
    created_at: Annotated[Timestamp, Assumed("W10")]
    """The time at which the event was created."""
    livemode: Annotated[bool, Assumed("W10")]
    """True in production, false in the sandbox."""
    data: Annotated[WebhookTestData, Assumed("W10")]
    """The subject of the event."""


class WebhookDelivery(TypedDict):
    """One attempt to deliver one event to one endpoint."""

    id: Annotated[str, Prefix("dlv_"), Assumed("W12")]
    """The id of the attempt."""
    event_id: Annotated[str, Prefix("evt_"), Assumed("W12")]
    """The id in the envelope of the event."""
    event_type: Annotated[str, Listed(EVENT), Assumed("W12")]
    """The type of the event."""
    endpoint_id: Annotated[str, Prefix("wh_"), Assumed("W12")]
    """The endpoint that it was sent to."""
    url: Annotated[str, Assumed("W12")]
    """The URL of the endpoint at that time."""
    attempt: Annotated[int, Field(ge=1), Assumed("W12")]
    """The number of the attempt for this event and endpoint, starting at 1."""
    status: Annotated[DeliveryStatus, Meanings(records.DELIVERY_MEANINGS), Assumed("W12")]
    """The result of the attempt."""
    response_status: Annotated[int | None, Assumed("W12")]
    """The HTTP status of the receiver's response, or null if there was none."""
    error: Annotated[str | None, Assumed("W12")]
    """A description of the failure, or null."""
    duration_ms: Annotated[Count, Assumed("W12")]
    """The duration of the request in milliseconds."""
    attempted_at: Annotated[Timestamp, Assumed("W12")]
    """The time of the attempt."""
    next_attempt_at: Annotated[Timestamp | None, Assumed("W12")]
    """The time of the next attempt, or null if there is none."""


DeliveryPage = page_shape(
    "DeliveryPage", WebhookDelivery, "delivery attempts", "The attempts of this page.", Assumed("W12", "items")
)


class RecordedDelivery(WebhookDelivery):
    """A delivery in the control API, with the exact request and response."""

    request_headers: dict[str, str]
    """The request headers, including the signature."""
    request_body: str
    """The request body."""
    response_headers: dict[str, str] | None
    """The response headers, or null if there was no response."""
    response_body: Annotated[str | None, Format()]
    """The first 64 KiB of the response body, or null if there was no response."""
    faults: list[Annotated[str, OneOf(faults.FALSIFIED)]]
    """The effects of faults on the attempt. The receiver did not cause them."""
    fault_id: str | None
    """The id of the fault that applied, or null."""
    cause: Annotated[DeliveryCause, Meanings(records.DELIVERY_CAUSE_MEANINGS)]
    """The reason for the attempt."""


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
    """Return a delivery in the form that the API returns (decision W12)."""
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
    """Return a delivery in the form that the control API returns."""
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
