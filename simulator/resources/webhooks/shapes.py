"""How endpoints, test calls and deliveries are shown (chapter "Webhook endpoint and event", decisions W10 and W12)."""

from __future__ import annotations

from typing import Annotated, Literal

from typing_extensions import TypedDict

from simulator.kernel.clock import format_moment, format_timestamp
from simulator.kernel.world import World
from simulator.resources.webhooks.faults import altered
from simulator.resources.webhooks.records import Delivery, DeliveryStatus, Webhook
from simulator.resources.webhooks.states import STATUSES
from simulator.wire.shapes import Assumed, Clauses, Format, OneOf, Pagination, Prefix, Timestamp


class WebhookEndpoint(TypedDict):
    id: Annotated[str, Prefix("wh_")]
    url: str
    events: list[str]
    description: Annotated[str | None, Assumed("H19")]
    status: Annotated[str, OneOf(STATUSES)]
    created_at: Timestamp


class WebhookPage(TypedDict):
    data: Annotated[list[WebhookEndpoint], Assumed("L6")]
    pagination: Annotated[Pagination, Assumed("L6")]


class WebhookTestData(TypedDict):
    object: Annotated[WebhookEndpoint, Assumed("W8")]


class WebhookTestAnswer(TypedDict):
    """The answer of a test call: the envelope that was sent."""

    id: Annotated[str, Prefix("evt_"), Assumed("W10")]
    type: Annotated[Literal["webhook.test"], Assumed("W10")]
    created_at: Annotated[Timestamp, Assumed("W10")]
    livemode: Annotated[bool, Assumed("W10")]
    data: Annotated[WebhookTestData, Assumed("W10")]


class WebhookDelivery(TypedDict):
    id: Annotated[str, Prefix("dlv_"), Assumed("W12")]
    event_id: Annotated[str, Prefix("evt_"), Assumed("W12")]
    event_type: Annotated[str, Assumed("W12")]
    endpoint_id: Annotated[str, Prefix("wh_"), Assumed("W12")]
    url: Annotated[str, Assumed("W12")]
    attempt: Annotated[int, Assumed("W12")]
    status: Annotated[DeliveryStatus, Assumed("W12")]
    response_status: Annotated[int | None, Assumed("W12")]
    error: Annotated[str | None, Assumed("W12")]
    duration_ms: Annotated[int, Assumed("W12")]
    attempted_at: Annotated[Timestamp, Assumed("W12")]
    next_attempt_at: Annotated[Timestamp | None, Assumed("W12")]


class DeliveryPage(TypedDict):
    data: Annotated[list[WebhookDelivery], Assumed("W12")]
    pagination: Annotated[Pagination, Assumed("L6")]


class RecordedDelivery(WebhookDelivery):
    """A delivery as the control interface shows it: also what was sent and what came back, to the byte."""

    request_headers: dict[str, str]
    request_body: str
    response_headers: dict[str, str] | None
    response_body: Annotated[str | None, Format()]


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
    raw = b"" if event is None else event.raw
    answered = delivery.response_status is not None
    return {
        **render_delivery(world, delivery),
        "request_headers": dict(delivery.request_headers),
        "request_body": (altered(raw) if delivery.altered else raw).decode(),
        "response_headers": dict(delivery.response_headers) if answered else None,
        "response_body": delivery.response_body.decode("utf-8", "replace") if answered else None,
    }


CLAUSES: Clauses = {
    "Webhook endpoint and event": (WebhookEndpoint, WebhookDelivery, WebhookTestAnswer),
}
