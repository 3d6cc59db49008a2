"""Webhook endpoints, and the queueing, signing and recording of deliveries.

This package decides what to send. The courier takes attempts with `take`, sends them, and reports results with
`report`.
"""

from __future__ import annotations

from simulator.engine.rows.action import Action
from simulator.engine.rows.kind import Kind
from simulator.engine.rows.room import Room
from simulator.engine.vocabulary.subjects import example_of
from simulator.engine.webhooks import bodies, operations, shapes
from simulator.engine.webhooks.delivery import queue
from simulator.engine.webhooks.delivery.attempts import in_flight, may_take, put_back, take
from simulator.engine.webhooks.delivery.deliveries import (
    all_deliveries,
    deliveries_about,
    deliveries_of,
    delivery_of,
    endpoint_of,
    every_endpoint_id,
    retries_ahead,
)
from simulator.engine.webhooks.delivery.faults import awaited
from simulator.engine.webhooks.delivery.queue import end_fault, recipients, report, resend
from simulator.engine.webhooks.emails import EmailEntry, emails
from simulator.engine.webhooks.emitting import emit_example
from simulator.engine.webhooks.keys import (
    KEYS,
    prepare,
    rotate_key,
    sending_time_ms,
    set_up_keys,
    signed_headers,
    url_policy,
    webhook_key,
)
from simulator.engine.webhooks.records import (
    DELIVERIES,
    DELIVERY_MEANINGS,
    EMAILS,
    ENDPOINTS,
    IN_FLIGHT,
    PLANNED,
    QUEUES,
    READY,
    TESTED,
    WAITING,
    WAITING_PLANS,
    Attempt,
    Delivery,
    Outcome,
    delivery_id,
)
from simulator.engine.webhooks.states import ERRORS, EVENTS, WEBHOOK
from simulator.engine.webhooks.urls import check_address, check_url, is_on_this_machine
from simulator.kernel.world import TimerRow

ROOM = Room(
    "webhooks",
    operations=(
        operations.create_webhook,
        operations.list_webhooks,
        operations.get_webhook,
        operations.update_webhook,
        operations.delete_webhook,
        operations.test_webhook,
        operations.list_webhook_deliveries,
    ),
    actions=(
        Action("rotate_webhook_key", "replaces the webhook key of the environment", rotate_key),
        Action(
            "emit",
            "sends an event of any type, with a realistic object",
            emit_example,
            parameters=lambda: bodies.EmitParameters,
            names_event="type",
        ),
    ),
    timers=(
        TimerRow(queue.RETRY, queue.on_timer, "a webhook attempt is repeated"),
        TimerRow(queue.DELAYED, queue.on_timer, "a webhook attempt that a fault delayed is sent"),
    ),
    tables=(DELIVERIES, PLANNED, QUEUES, WAITING, WAITING_PLANS, READY, IN_FLIGHT, TESTED, EMAILS, KEYS),
    kinds=(
        Kind(
            "webhook",
            ENDPOINTS,
            lambda world, record: shapes.render_webhook(world, record),
            WEBHOOK,
            lambda: shapes.WebhookEndpoint,
            example_of(__package__, "webhook"),
            prefix="wh_",
            collection="/webhooks",
        ),
    ),
    on_event=(queue.on_event,),
    setup=set_up_keys,
    clauses=lambda: shapes.CLAUSES,
    events=EVENTS,
    errors=ERRORS,
)
