"""The state table of recurring payments: the table "Recurring payment" of the specification, decisions S19 to S21.

A run is a move of its own (active to active) and is followed, at the same instant, by `finish` when it was the
last, else by `fail_repeatedly` when it was the third failure in a row.
"""

from __future__ import annotations

from simulator.kernel.machine import Machine, Move

MEANINGS = {
    "draft": "Made, and without runs: its schedule is to be set, reviewed and activated.",
    "active": "Runs are planned; `next_run_at` says when the next one is.",
    "paused": "No run is planned, by request or after three failed runs in a row. It can be restarted.",
    "completed": "The last run of the schedule has been executed.",
    "deleted": "Ended for good; what it has paid stays.",
}
FAILURES_TO_PAUSE = 3

_DELETE = Move("delete", "deleted", ("recurring_payment.deleted",))

RECURRING_PAYMENT = Machine(
    "recurring payment",
    initial=(Move("create", "draft"),),
    rows={
        "draft": (
            Move("set_schedule", "draft"),
            Move("activate", "active", ("recurring_payment.activated",)),
            _DELETE,
        ),
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
