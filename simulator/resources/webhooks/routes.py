"""The operations on webhook endpoints."""

from __future__ import annotations

from typing import get_args

from simulator.resources.webhooks import actions
from simulator.resources.webhooks.bodies import NewWebhook, WebhookChange
from simulator.resources.webhooks.records import ENDPOINTS, DeliveryStatus
from simulator.resources.webhooks.shapes import (
    DeliveryPage,
    WebhookEndpoint,
    WebhookPage,
    WebhookTestAnswer,
    render_webhook,
)
from simulator.resources.webhooks.states import STATUSES
from simulator.wire.handlers import by_id, listed, shown
from simulator.wire.listing import Listing
from simulator.wire.operation import Operation

TAG = "Webhooks"


WEBHOOKS = Listing(
    search=lambda endpoint: (endpoint.url, endpoint.description),
    searched="url and description",
    statuses=STATUSES,
)
DELIVERIES = Listing(
    search=lambda delivery: (delivery.id, delivery.event_id, delivery.event_type, delivery.error),
    searched="id, event, type of event and error",
    statuses=get_args(DeliveryStatus),
)

_FIND = by_id(ENDPOINTS, "webhook endpoint")

OPERATIONS = (
    Operation(
        "POST",
        "/webhooks",
        "create_webhook",
        TAG,
        "Register an endpoint; it must answer a signed test request with exactly 200",
        actions.register,
        WebhookEndpoint,
        status=201,
        body=NewWebhook,
        group="webhooks",
        errors=("invalid_webhook_url", "unsupported_event"),
    ),
    Operation(
        "GET",
        "/webhooks",
        "list_webhooks",
        TAG,
        "The registered endpoints",
        listed(ENDPOINTS, render_webhook),
        WebhookPage,
        query=WEBHOOKS,
        group="webhooks",
        reads=True,
    ),
    Operation(
        "GET",
        "/webhooks/{id}",
        "get_webhook",
        TAG,
        "One endpoint",
        shown(render_webhook),
        WebhookEndpoint,
        load=_FIND,
        group="webhooks",
        reads=True,
        errors=("not_found",),
    ),
    Operation(
        "PATCH",
        "/webhooks/{id}",
        "update_webhook",
        TAG,
        "Change an endpoint, disable it, or enable it again",
        actions.change,
        WebhookEndpoint,
        body=WebhookChange,
        load=_FIND,
        group="webhooks",
        errors=("not_found", "invalid_webhook_url", "unsupported_event"),
    ),
    Operation(
        "DELETE",
        "/webhooks/{id}",
        "delete_webhook",
        TAG,
        "Remove an endpoint",
        actions.delete,
        status=204,
        load=_FIND,
        group="webhooks",
        errors=("not_found",),
    ),
    Operation(
        "POST",
        "/webhooks/{id}/test",
        "test_webhook",
        TAG,
        "Send a webhook.test event to this endpoint",
        actions.send_test,
        WebhookTestAnswer,
        load=_FIND,
        group="webhooks",
        errors=("not_found", "invalid_state"),
    ),
    Operation(
        "GET",
        "/webhooks/{id}/deliveries",
        "list_webhook_deliveries",
        TAG,
        "Recent delivery attempts with status codes",
        actions.list_deliveries,
        DeliveryPage,
        query=DELIVERIES,
        load=_FIND,
        group="webhooks",
        reads=True,
        errors=("not_found",),
    ),
)
