"""The events that this room declares: chapter "Events" of the specification."""

from __future__ import annotations

from simulator.engine.rows.event import EventType

EVENTS = (
    EventType(
        "recurring_payment.activated",
        "a recurring payment was activated",
        "recurring_payment",
        "`next_run_at` is set.",
        after="webhook.test",
    ),
    EventType(
        "recurring_payment.run_upcoming",
        "a run is due within the next 24 hours",
        "recurring_payment",
        "`run` tells which run it is and when; see to the balance.",
        narrows=False,
        example={"runs_completed": 3, "activated_at": "@-29d", "run": {"number": 4, "scheduled_for": "@+1d"}},
    ),
    EventType(
        "recurring_payment.run_succeeded",
        "a run created its transaction",
        "recurring_payment",
        "`run.transaction_id` names the transaction, which has events of its own.",
        requires=("run.transaction_id",),
        narrows=False,
        example={
            "runs_completed": 4,
            "activated_at": "@-29d",
            "run": {"number": 4, "scheduled_for": "@", "transaction_id": "txn_1w5yb9f3k7n2r6v4x8za"},
        },
    ),
    EventType(
        "recurring_payment.run_failed",
        "a run failed",
        "recurring_payment",
        "`run.failure_code` says why. The run is not tried again; the next one is as planned.",
        requires=("run.failure_code",),
        narrows=False,
        example={
            "runs_completed": 3,
            "activated_at": "@-29d",
            "run": {"number": 4, "scheduled_for": "@", "failure_code": "insufficient_balance"},
        },
    ),
    EventType(
        "recurring_payment.paused",
        "a recurring payment was paused, by request or after three failed runs in a row",
        "recurring_payment",
        "No run is planned until it is restarted; `pause_reason` says why.",
        example={
            "next_run_at": None,
            "runs_completed": 3,
            "activated_at": "@-29d",
            "paused_at": "@",
            "pause_reason": "repeated_failures",
        },
    ),
    EventType(
        "recurring_payment.completed",
        "the final scheduled run finished",
        "recurring_payment",
        "There are no further runs.",
        example={"next_run_at": None, "runs_completed": 12, "activated_at": "@-29d"},
    ),
    EventType(
        "recurring_payment.restarted",
        "a paused recurring payment was restarted",
        "recurring_payment",
        "`next_run_at` is set; runs that were missed stay so.",
        example={"runs_completed": 3, "activated_at": "@-29d"},
    ),
    EventType(
        "recurring_payment.deleted",
        "a recurring payment was deleted",
        "recurring_payment",
        "There are no further runs; what it has paid stays.",
        example={"next_run_at": None, "runs_completed": 3, "activated_at": "@-29d"},
    ),
)
