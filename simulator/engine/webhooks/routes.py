"""The operations on webhook endpoints."""

from __future__ import annotations

from simulator.engine.records.listing import Listing
from simulator.engine.rows.handlers import by_id, listed, shown
from simulator.engine.rows.operation import Operation
from simulator.engine.webhooks import actions, bodies, shapes
from simulator.engine.webhooks.records import DELIVERY_MEANINGS, ENDPOINTS
from simulator.engine.webhooks.states import MEANINGS

TAG = "Webhooks"


WEBHOOKS = Listing(
    search=lambda endpoint: (endpoint.url, endpoint.description),
    searched="url and description",
    statuses=MEANINGS,
)
DELIVERIES = Listing(
    search=lambda delivery: (delivery.id, delivery.event_id, delivery.event_type, delivery.error),
    searched="id, event, type of event and error",
    statuses=DELIVERY_MEANINGS,
    assumed_statuses="W12",
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
        lambda: shapes.WebhookEndpoint,
        status=201,
        body=lambda: bodies.NewWebhook,
        group="webhooks",
        errors=("invalid_webhook_url", "unsupported_event"),
        description=(
            "Registers a URL for events. It is tested first: a signed webhook.test event is sent, and only when "
            "the URL answers exactly 200 within 10 seconds is the endpoint stored. A redirect, 201 or 204, a "
            "timeout or a refused connection is refused with invalid_webhook_url, and so is a URL that is not a "
            "public HTTPS one. The signing key is not part of the answer: the dashboard shows it."
        ),
        statuses=("enabled",),
    ),
    Operation(
        "GET",
        "/webhooks",
        "list_webhooks",
        TAG,
        "The registered endpoints",
        listed(ENDPOINTS, lambda world, record: shapes.render_webhook(world, record)),
        lambda: shapes.WebhookPage,
        query=WEBHOOKS,
        group="webhooks",
        reads=True,
        description="Lists the registered endpoints, newest first, disabled ones too.",
    ),
    Operation(
        "GET",
        "/webhooks/{id}",
        "get_webhook",
        TAG,
        "One endpoint",
        shown(lambda world, record: shapes.render_webhook(world, record)),
        lambda: shapes.WebhookEndpoint,
        load=_FIND,
        group="webhooks",
        reads=True,
        errors=("not_found",),
        description="Shows one registered endpoint. The signing key is not part of it.",
    ),
    Operation(
        "PATCH",
        "/webhooks/{id}",
        "update_webhook",
        TAG,
        "Change an endpoint, disable it, or enable it again",
        actions.change,
        lambda: shapes.WebhookEndpoint,
        body=lambda: bodies.WebhookChange,
        load=_FIND,
        group="webhooks",
        errors=("not_found", "invalid_webhook_url", "unsupported_event"),
        description=(
            "Changes what is sent of an endpoint. A new URL is tested as at registration. Disabled, it gets "
            "nothing, not even retries that were planned; enabled again, it gets the events from then on."
        ),
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
        description="Removes an endpoint: what happens from now on is not sent there and nothing is tried again.",
    ),
    Operation(
        "POST",
        "/webhooks/{id}/test",
        "test_webhook",
        TAG,
        "Send a webhook.test event to this endpoint",
        actions.send_test,
        lambda: shapes.WebhookTestAnswer,
        load=_FIND,
        group="webhooks",
        errors=("not_found", "invalid_state"),
        description=(
            "Sends a webhook.test event to this endpoint alone, whatever it subscribes to, and answers the "
            "envelope that is sent; what the receiver said is in its deliveries. Refused with invalid_state "
            "when the endpoint is disabled."
        ),
    ),
    Operation(
        "GET",
        "/webhooks/{id}/deliveries",
        "list_webhook_deliveries",
        TAG,
        "Recent delivery attempts with status codes",
        actions.list_deliveries,
        lambda: shapes.DeliveryPage,
        query=DELIVERIES,
        load=_FIND,
        group="webhooks",
        reads=True,
        errors=("not_found",),
        description=(
            "Lists the attempts to deliver events to one endpoint, newest first, with what the receiver "
            "answered and when it is tried again."
        ),
    ),
)
