"""The state table of recurring payments, and the events of this package (decisions S19 to S21).

A run is a transition from active to active. If it was the last one, `finish` follows immediately. If it was the third
failure in a row, `fail_repeatedly` follows.
"""

from __future__ import annotations

from simulator.engine.rows.event import EventType
from simulator.kernel.machine import Machine, Move

MEANINGS = {
    "draft": "Created, but without runs. Set its schedule, review it, then activate it.",
    "active": "Runs are planned. `next_run_at` is the time of the next one.",
    "paused": "Paused by request or after three failed runs in a row. It can be restarted.",
    "completed": "The last run of the schedule has been executed.",
    "deleted": "Ended permanently. Past payments are unaffected.",
}
FAILURES_TO_PAUSE = 3

_DELETE = Move("delete", "deleted", ("recurring_payment.deleted",))

RECURRING_PAYMENT = Machine(
    "recurring payment",
    initial=(Move("create", "draft"),),
    rows={
        "draft": (Move("set_schedule", "draft"), Move("activate", "active", ("recurring_payment.activated",)), _DELETE),
        "active": (
            Move("announce_run", "active", ("recurring_payment.run_upcoming",), basis="S21"),
            Move("run_succeeds", "active", ("recurring_payment.run_succeeded",)),
            Move("run_fails", "active", ("recurring_payment.run_failed",)),
            Move("fail_repeatedly", "paused", ("recurring_payment.paused",)),
            Move("finish", "completed", ("recurring_payment.completed",)),
            Move("pause", "paused", ("recurring_payment.paused",)),
            _DELETE,
        ),
        "paused": (
            Move("set_schedule", "paused"),
            Move("restart", "active", ("recurring_payment.restarted",)),
            _DELETE,
        ),
        "completed": (_DELETE,),
        "deleted": (),
    },
)

EVENTS = (
    EventType(
        "recurring_payment.activated",
        "a recurring payment was activated",
        "`next_run_at` is set.",
        after="webhook.test",
    ),
    EventType(
        "recurring_payment.run_upcoming",
        "a run is due within the next 24 hours",
        "`run` has the number and time of the run. Make sure that the balance covers it.",
        narrows=False,
        example={"runs_completed": 3, "activated_at": "@-29d", "run": {"number": 4, "scheduled_for": "@+1d"}},
    ),
    EventType(
        "recurring_payment.run_succeeded",
        "a run created its transaction",
        "`run.transaction_id` is the transaction, which has its own events.",
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
        "`run.failure_code` gives the reason. The run is not retried, and the next run is not affected.",
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
        "No run is planned until it is restarted. `pause_reason` has the reason.",
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
        "There are no further runs.",
        example={"next_run_at": None, "runs_completed": 12, "activated_at": "@-29d"},
    ),
    EventType(
        "recurring_payment.restarted",
        "a paused recurring payment was restarted",
        "`next_run_at` is set. Missed runs are skipped.",
        example={"runs_completed": 3, "activated_at": "@-29d"},
    ),
    EventType(
        "recurring_payment.deleted",
        "a recurring payment was deleted",
        "There are no further runs. Past payments are unaffected.",
        example={"next_run_at": None, "runs_completed": 3, "activated_at": "@-29d"},
    ),
)
