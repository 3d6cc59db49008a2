"""Webhook endpoints, and the queueing, signing and recording of deliveries (sections "Webhooks" and "Events").

This package decides what to send. The courier takes attempts with `take`, sends them, and reports results with
`report`.
"""

from __future__ import annotations

from simulator.engine.rows.action import Action
from simulator.engine.rows.kind import Kind
from simulator.engine.rows.room import Room
from simulator.engine.vocabulary.subjects import example_of
from simulator.engine.webhooks import bodies, operations, records, shapes
from simulator.engine.webhooks.delivery import queue
from simulator.engine.webhooks.delivery.attempts import in_flight, may_take
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
from simulator.engine.webhooks.delivery.queue import end_fault, recipients, resend
from simulator.engine.webhooks.emails import EmailEntry, emails
from simulator.engine.webhooks.emitting import emit_example
from simulator.engine.webhooks.keys import KEYS, rotate_key, set_up_keys, signed_headers, webhook_key
from simulator.engine.webhooks.records import EMAILS, ENDPOINTS, Attempt, Delivery, Outcome, delivery_id
from simulator.engine.webhooks.states import ERRORS, EVENTS, WEBHOOK
from simulator.engine.webhooks.urls import check_url
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
    tables=(
        *(records.DELIVERIES, records.PLANNED, records.QUEUES, records.WAITING, records.WAITING_PLANS),
        *(records.READY, records.IN_FLIGHT, records.TESTED, EMAILS, KEYS),
    ),
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
