"""The operations on webhook endpoints (section "Webhooks" of the specification, decisions W3, W4, W9 and W10)."""

from __future__ import annotations

from collections.abc import Callable

from simulator.engine.records.conditions import field_getter
from simulator.engine.records.listing import Listing, ListRequest, page_of
from simulator.engine.records.records import by_id, create, move, new_fields, page, remove, require, save
from simulator.engine.rows.error import ApiError
from simulator.engine.rows.event import make, publish
from simulator.engine.rows.operation import Call, OperationDecorator, Probe, ProbeOutcome
from simulator.engine.text import strict
from simulator.engine.text.fields import Nothing
from simulator.engine.text.json import loads
from simulator.engine.text.shapes import Page
from simulator.engine.vocabulary.vocabulary import vocabulary_of
from simulator.engine.webhooks import bodies, shapes
from simulator.engine.webhooks.delivery.attempts import cancel_planned, discard_pending
from simulator.engine.webhooks.delivery.deliveries import deliveries_of, endpoints
from simulator.engine.webhooks.keys import url_policy, webhook_key
from simulator.engine.webhooks.records import ALL_EVENTS, DELIVERY_MEANINGS, ENDPOINTS, TESTED, Webhook
from simulator.engine.webhooks.states import INVALID_WEBHOOK_URL, MEANINGS, UNSUPPORTED_EVENT, WEBHOOK
from simulator.engine.webhooks.urls import DOCKER_HOST, check_url, is_on_this_machine
from simulator.engine.worlds.settings import assumes
from simulator.kernel.dataclass import replace
from simulator.kernel.world import World

operation = OperationDecorator("Webhooks", group="webhooks")

_FIND = by_id(ENDPOINTS, "webhook endpoint")
TEST_EVENT = "webhook.test"


@operation(
    "POST /webhooks",
    "Register an endpoint; it must answer a signed test request with exactly 200",
    answer=lambda: shapes.WebhookEndpoint,
    status=201,
    errors=("invalid_webhook_url", "unsupported_event"),
    statuses=("enabled",),
)
def create_webhook(call: Call[bodies.NewWebhook, None, None]) -> Probe:
    """Registers a URL for events. The URL is tested first. The service sends a signed webhook.test event, and stores
    the endpoint only if the URL responds with status 200 within 10 seconds. After any other outcome (a redirect, 201,
    204, a timeout, a refused connection) the call fails with invalid_webhook_url. A URL that is not a public HTTPS URL
    is rejected, too. The response does not contain the signing key. The dashboard shows the key.
    """
    world, body = call.world, call.body
    _require_url(world, body.url)
    _require_events(call.world, body.events)
    draft = Webhook(
        **new_fields(world, call.environment, "wh_", "ids.webhook"),
        url=body.url,
        events=tuple(body.events),
        description=body.description,
        status=WEBHOOK.begin("register").target,
    )

    def store() -> shapes.WebhookEndpoint:
        now_ms, sequence = world.now_ms, world.next_sequence("record")
        stored = replace(draft, status="", sequence=sequence, created_at_ms=now_ms, updated_at_ms=now_ms)
        return shapes.render_webhook(world, create(world, stored, "register"))

    return _probe(world, draft, store)


@operation(
    "PATCH /webhooks/{id}",
    "Change an endpoint, disable it, or enable it again",
    answer=lambda: shapes.WebhookEndpoint,
    load=_FIND,
    errors=("invalid_webhook_url", "unsupported_event"),
)
def update_webhook(call: Call[bodies.WebhookChange, None, Webhook]) -> shapes.WebhookEndpoint | Probe:
    """Changes the fields that the request contains. A new URL is tested in the same way as at registration. A disabled
    endpoint receives nothing, not even planned retries. After it is enabled again, it receives later events only.
    """
    world, body, endpoint = call.world, call.body, call.resource
    sent = body.model_fields_set
    draft = _changed(endpoint, body)
    if draft.url != endpoint.url:
        _require_url(world, draft.url)
    if "events" in sent:
        _require_events(call.world, body.events)

    def apply() -> shapes.WebhookEndpoint:
        found = require(endpoints(world, endpoint.environment), endpoint.id, "webhook endpoint")
        if sent & {"url", "events", "description"}:
            found = save(world, _changed(found, body))
        if "status" in sent and body.status != found.status:
            if body.status == "disabled":
                discard_pending(world, found.id)
            found = move(world, found, "enable" if body.status == "enabled" else "disable")
        return shapes.render_webhook(world, found)

    if draft.url == endpoint.url or assumes(world, "W4", "changes_are_not_tested"):
        return apply()
    return _probe(world, draft, apply)


def _changed(endpoint: Webhook, body: bodies.WebhookChange) -> Webhook:
    """Return a copy of the endpoint with the changes in the request, except for the status."""
    sent = body.model_fields_set
    return replace(
        endpoint,
        url=body.url if "url" in sent else endpoint.url,
        events=tuple(body.events) if "events" in sent else endpoint.events,
        description=body.description if "description" in sent else endpoint.description,
    )


@operation("DELETE /webhooks/{id}", "Remove an endpoint", load=_FIND)
def delete_webhook(call: Call[None, None, Webhook]) -> None:
    """Removes an endpoint. Later events are not sent to it, and no attempt is retried."""
    cancel_planned(call.world, call.resource.id)
    remove(call.world, call.resource, "delete")


@operation(
    "POST /webhooks/{id}/test",
    "Send a webhook.test event to this endpoint",
    load=_FIND,
    errors=("invalid_state",),
)
def test_webhook(call: Call[Nothing, None, Webhook]) -> shapes.WebhookTestAnswer:
    """Sends a webhook.test event to this endpoint only, and returns the envelope. The endpoint does not have to
    subscribe to this event type. The response of the receiver is in the deliveries of the endpoint. A disabled endpoint
    is rejected with invalid_state.
    """
    world, endpoint = call.world, call.resource
    if endpoint.status != "enabled":
        raise ApiError("invalid_state", "The webhook endpoint is disabled. Enable it before you test it.")
    subject = shapes.render_webhook(world, endpoint)
    event = make(world, endpoint.environment, TEST_EVENT, subject, endpoint.id)
    world.store[TESTED].put(event.id, endpoint.id)
    publish(world, event, subject)
    envelope: shapes.WebhookTestAnswer = loads(event.raw)
    return envelope


def _require_url(world: World, url: str) -> None:
    refusal = check_url(url, url_policy(world))
    if refusal is not None:
        raise INVALID_WEBHOOK_URL.error(f"The URL cannot receive webhooks: {refusal}.", "url")


def _require_events(world: World, events: list[str]) -> None:
    known = vocabulary_of(world).events
    for name in events:
        if name != ALL_EVENTS and name not in known:
            raise UNSUPPORTED_EVENT.error(f"Unknown event type {name!r}{strict.did_you_mean(name, known)}.", "events")


def _probe(world: World, endpoint: Webhook, then: Callable[[], shapes.WebhookEndpoint]) -> Probe:
    event = make(world, endpoint.environment, TEST_EVENT, shapes.render_webhook(world, endpoint), endpoint.id)

    def judge(outcome: ProbeOutcome) -> shapes.WebhookEndpoint:
        if outcome.status != 200:
            raise INVALID_WEBHOOK_URL.error(_what_came_back(endpoint.url, outcome), "url")
        return then()

    return Probe(endpoint.url, event.raw, webhook_key(world, endpoint.environment), judge)


def _what_came_back(url: str, outcome: ProbeOutcome) -> str:
    if outcome.status is not None:
        return f"The URL must respond to the test request with status 200. It returned {outcome.status}."
    hint = ""
    if is_on_this_machine(url) and DOCKER_HOST not in url:
        hint = f" If the simulator runs in a container and the receiver does not, use {DOCKER_HOST} in the URL."
    return f"The URL must respond to the test request with status 200. There was no response: {outcome.error}.{hint}"


WEBHOOKS = Listing(
    search=lambda endpoint: (endpoint.url, endpoint.description), searched="url and description", statuses=MEANINGS
)

DELIVERIES = Listing(
    search=lambda delivery: (delivery.id, delivery.event_id, delivery.event_type, delivery.error),
    searched="id, event, type of event and error",
    statuses=DELIVERY_MEANINGS,
    assumed_statuses="W12",
)


@operation(
    "GET /webhooks/{id}/deliveries",
    "Recent delivery attempts with status codes",
    answer=lambda: shapes.DeliveryPage,
    query=DELIVERIES,
    load=_FIND,
)
def list_webhook_deliveries(call: Call[None, ListRequest, Webhook]) -> Page[shapes.WebhookDelivery]:
    """Lists the delivery attempts of one endpoint, newest first. Each attempt contains the receiver's response and the
    time of the next attempt.
    """
    made = deliveries_of(call.world, call.resource.id)
    query = call.query.ordered(field_getter("sequence"))
    return page_of(query, made, lambda delivery: shapes.render_delivery(call.world, delivery))


@operation("GET /webhooks", "The registered endpoints", answer=lambda: shapes.WebhookPage, query=WEBHOOKS)
def list_webhooks(call: Call[None, ListRequest, None]) -> Page[shapes.WebhookEndpoint]:
    """Lists the registered endpoints, newest first, including disabled ones."""
    return page(call, ENDPOINTS, lambda world, record: shapes.render_webhook(world, record))


@operation("GET /webhooks/{id}", "One endpoint", load=_FIND, shows="webhook")
def get_webhook(call: Call[None, None, Webhook]) -> shapes.WebhookEndpoint:
    """Shows one endpoint, without its signing key."""
    return shapes.render_webhook(call.world, call.resource)
