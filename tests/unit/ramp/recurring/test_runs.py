"""Runs over simulated time: payments, notices, failures with their codes, the automatic pause, the last run."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.records.origins import RequestOrigin, origin_of
from simulator.engine.records.records import find, present
from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Call
from simulator.engine.server.pipeline import perform
from simulator.engine.text.json import json_text
from simulator.kernel.journal import Cause
from simulator.kernel.ledger import available, held
from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from simulator.providers.ramp.transactions import holder
from simulator.providers.ramp.transactions.records import Transaction
from tests.support import STELLAR, act, find_operation
from tests.unit.ramp.recurring.world import (
    DAILY,
    ITEM,
    ROOMS,
    WEEKLY,
    active,
    call,
    events,
    fresh,
    go,
    objects,
    save_beneficiary,
    send_body,
    set_balance,
    shown,
    withdraw_body,
)


def kept(world: World, shown: dict[str, Any]) -> Transaction:
    """The record of a transaction that an answer shows."""
    record = find(world, shown["id"])
    assert isinstance(record, Transaction)
    return record


def started(world: World, body: dict[str, Any], schedule: dict[str, Any] = DAILY) -> str:
    payment_id = str(call(world, "POST", "/recurring-payments", body)["id"])
    call(world, "PUT", f"{ITEM}/schedule", schedule, id=payment_id)
    call(world, "GET", f"{ITEM}/review", id=payment_id)
    call(world, "POST", f"{ITEM}/activate", id=payment_id)
    return payment_id


def ends(occurrences: int) -> dict[str, Any]:
    return DAILY | {"end": {"type": "after_occurrences", "occurrences": occurrences}}


def test_run_withdraws_at_its_exact_time_and_emits() -> None:
    """Decisions S19 and S21: reference `-N`, and the next notice after the run's event."""
    world = fresh()
    payment_id = active(world)
    go(world, "2026-01-06T06:00:00Z")
    (transaction,) = call(world, "GET", f"{ITEM}/transactions", id=payment_id)["data"]
    assert transaction["created_at"] == "2026-01-06T06:00:00.000Z"
    assert (transaction["type"], transaction["status"], transaction["amount"]) == ("withdraw", "processing", "20.00")
    assert transaction["reference"] == "rent-1"
    record = kept(world, transaction)
    assert (record.recurring_payment_id, record.run_number) == (payment_id, 1)
    assert world.ledger.balance(held(holder("sandbox")), "USDC.stellar") == 20
    (told,) = objects(world, "recurring_payment.run_succeeded")
    run = told.pop("run")
    assert run == {"number": 1, "scheduled_for": "2026-01-06T06:00:00.000Z", "transaction_id": transaction["id"]}
    assert told == shown(world, payment_id)
    assert (told["runs_completed"], told["next_run_at"]) == (1, "2026-01-07T06:00:00.000Z")
    assert events(world, "")[-3:] == [
        "transaction.processing",
        "recurring_payment.run_succeeded",
        "recurring_payment.run_upcoming",
    ]


def test_a_run_quotes_and_uses_the_quote() -> None:
    world = fresh()
    payment_id = active(world, amount="2000", amount_currency="KES")
    go(world, "2026-01-06T07:00:00Z")
    (transaction,) = call(world, "GET", f"{ITEM}/transactions", id=payment_id)["data"]
    assert transaction["destination_amount"] == "2000.00"
    quote = find(world, present(kept(world, transaction).quote_id))
    assert present(quote).status == "confirmed"
    assert "quote.expired" not in events(world, "")


def test_an_internal_send_completes_at_the_instant_of_its_run() -> None:
    world = fresh()
    payment_id = started(world, send_body(reference="save", description="for Amina"))
    go(world, "2026-01-06T06:00:00Z")
    (transaction,) = call(world, "GET", f"{ITEM}/transactions", id=payment_id)["data"]
    assert (transaction["status"], transaction["reference"]) == ("completed", "save-1")
    assert kept(world, transaction).description == "for Amina"
    told = events(world, "")[-4:]
    assert [name for name in told if name.startswith("transaction.")] == [
        "transaction.processing",
        "transaction.completed",
    ]
    assert [name for name in told if not name.startswith("transaction.")] == [
        "recurring_payment.run_succeeded",
        "recurring_payment.run_upcoming",
    ]


def test_an_on_chain_send_waits_for_the_chain() -> None:
    """Decision S19: a null reference stays null."""
    world = fresh()
    payment_id = started(world, send_body(recipient={"destination": {"type": "address", "address": STELLAR}}))
    go(world, "2026-01-06T06:00:00Z")
    (transaction,) = call(world, "GET", f"{ITEM}/transactions", id=payment_id)["data"]
    assert (transaction["status"], transaction["reference"]) == ("pending", None)


def test_a_run_has_the_origin_of_its_recurring_payment() -> None:
    world = fresh()
    operation = find_operation(ROOMS, "POST", "/recurring-payments")
    body = withdraw_body(save_beneficiary(world))
    request = Call(world, "sandbox", {})
    made: Any = perform(operation, request, body, cause=Cause("request", operation.name), scenario="slow")
    payment_id = made["id"]
    call(world, "PUT", f"{ITEM}/schedule", DAILY, id=payment_id)
    call(world, "GET", f"{ITEM}/review", id=payment_id)
    call(world, "POST", f"{ITEM}/activate", id=payment_id)
    go(world, "2026-01-06T06:00:00Z")
    (transaction,) = call(world, "GET", f"{ITEM}/transactions", id=payment_id)["data"]
    assert origin_of(world, transaction["id"]) == RequestOrigin(json_text(body), "slow")


def test_the_notice_comes_24_hours_before_a_run() -> None:
    """Decision S21."""
    world = fresh()
    payment_id = active(world, WEEKLY)
    go(world, "2026-01-11T05:59:59.999Z")
    assert events(world) == ["activated"]
    go(world, "2026-01-11T06:00:00Z")
    assert events(world) == ["activated", "run_upcoming"]
    (notice,) = objects(world, "recurring_payment.run_upcoming")
    assert notice.pop("run") == {"number": 1, "scheduled_for": "2026-01-12T06:00:00.000Z"}
    assert notice == shown(world, payment_id)
    go(world, "2026-01-19T06:00:00Z")
    assert events(world) == ["activated", "run_upcoming", "run_succeeded", "run_upcoming", "run_succeeded"]


def test_the_notice_comes_at_once_when_the_run_is_nearer_than_24_hours() -> None:
    """Decision S21: after activated and after restarted."""
    world = fresh()
    payment_id = active(world)
    assert events(world) == ["activated", "run_upcoming"]
    call(world, "POST", f"{ITEM}/pause", id=payment_id)
    call(world, "POST", f"{ITEM}/restart", id=payment_id)
    assert events(world) == ["activated", "run_upcoming", "paused", "restarted", "run_upcoming"]


def test_a_day_of_25_hours_puts_the_notice_an_hour_after_the_run() -> None:
    world = fresh("2026-10-23T12:00:00.000Z")
    active(world, DAILY | {"start_date": "2026-10-24", "timezone": "Europe/Berlin"})
    go(world, "2026-10-24T07:00:00Z")  # 09:00 summer time; the next run is at 08:00 UTC
    assert events(world) == ["activated", "run_upcoming", "run_succeeded"]
    go(world, "1h")
    assert events(world)[3:] == ["run_upcoming"]


def test_a_payment_completes_at_the_instant_of_its_last_run() -> None:
    """Decision S19."""
    world = fresh()
    payment_id = active(world, ends(2))
    go(world, "2026-01-07T06:00:00Z")
    assert events(world)[-2:] == ["run_succeeded", "completed"]
    last = shown(world, payment_id)
    assert (last["status"], last["runs_completed"], last["total_runs"], last["next_run_at"]) == (
        "completed",
        2,
        2,
        None,
    )
    assert objects(world, "recurring_payment.completed") == [last]
    go(world, "30d")
    assert events(world)[-1] == "completed"


def test_a_payment_that_ends_on_a_date_completes_with_the_run_of_that_date() -> None:
    world = fresh()
    payment_id = active(world, DAILY | {"end": {"type": "on_date", "date": "2026-01-08"}})
    go(world, "30d")
    assert events(world).count("run_succeeded") == 3
    assert (shown(world, payment_id)["runs_completed"], shown(world, payment_id)["total_runs"]) == (3, 3)


def test_a_failed_run_leaves_nothing_but_its_event() -> None:
    world = fresh()
    payment_id = active(world, WEEKLY)
    set_balance(world, "19.99")
    go(world, "2026-01-12T05:59:59Z")
    before = world.store.tables()
    go(world, "2026-01-12T06:00:00Z")
    after = world.store.tables()
    changed = {name for name in after if after[name] != before.get(name)}
    assert changed == {"sandbox:recurring_payments", "events", "histories", "timers", "sequences", "streams"}
    (told,) = objects(world, "recurring_payment.run_failed")
    run = {"number": 1, "scheduled_for": "2026-01-12T06:00:00.000Z", "failure_code": "insufficient_balance"}
    assert told.pop("run") == run
    assert (told["status"], told["runs_completed"]) == ("active", 0)
    go(world, "1h")
    assert "quote.expired" not in events(world, "")
    assert shown(world, payment_id)["next_run_at"] == "2026-01-19T06:00:00.000Z"


def test_failed_runs_count_as_occurrences_and_take_a_run_number() -> None:
    """Decision S19: `runs_completed` counts those that succeeded."""
    world = fresh()
    payment_id = active(world, ends(2))
    set_balance(world, "0")
    go(world, "2026-01-06T07:00:00Z")
    set_balance(world, "100")
    go(world, "2026-01-07T07:00:00Z")
    last = shown(world, payment_id)
    assert (last["status"], last["runs_completed"]) == ("completed", 1)
    (transaction,) = call(world, "GET", f"{ITEM}/transactions", id=payment_id)["data"]
    assert transaction["reference"] == "rent-2"


def test_three_failures_in_a_row_pause() -> None:
    """Decision S19: pause_reason `repeated_failures`."""
    world = fresh()
    payment_id = active(world)
    set_balance(world, "0")
    go(world, "2026-01-08T06:00:00Z")
    assert events(world)[-2:] == ["run_failed", "paused"]
    paused = shown(world, payment_id)
    assert (paused["status"], paused["pause_reason"], paused["next_run_at"]) == ("paused", "repeated_failures", None)
    assert paused["paused_at"] == "2026-01-08T06:00:00.000Z"
    go(world, "10d")
    assert events(world)[-1] == "paused"


def test_success_and_restart_reset_the_failure_count() -> None:
    """Decision S19: restart resets the failure counter."""
    world = fresh()
    payment_id = active(world)
    set_balance(world, "0")
    go(world, "2026-01-07T07:00:00Z")  # two failures
    set_balance(world, "20")
    go(world, "2026-01-08T07:00:00Z")  # one success
    go(world, "2026-01-10T07:00:00Z")  # two failures
    assert shown(world, payment_id)["status"] == "active"
    go(world, "2026-01-11T07:00:00Z")  # the third
    call(world, "POST", f"{ITEM}/restart", id=payment_id)
    go(world, "2026-01-13T07:00:00Z")  # two more
    assert shown(world, payment_id)["status"] == "active"
    go(world, "2026-01-14T07:00:00Z")
    assert shown(world, payment_id)["status"] == "paused"


def test_the_last_run_completes_even_when_it_is_the_third_failure() -> None:
    """Decision S19."""
    world = fresh()
    payment_id = active(world, ends(3))
    set_balance(world, "0")
    go(world, "30d")
    assert events(world)[-2:] == ["run_failed", "completed"]
    assert shown(world, payment_id)["status"] == "completed"


@pytest.mark.parametrize(
    ("code", "trouble"),
    [
        ("kyc_required", lambda world, _: act(world, ROOMS, "set_kyc", status="rejected")),
        ("internal_error", lambda world, _: act(world, ROOMS, "set_profile", status="suspended")),
        ("network_unavailable", lambda world, _: act(world, ROOMS, "set_network", network="stellar", status="down")),
        ("amount_too_high", lambda world, _: act(world, ROOMS, "set_limits", daily="100")),
        ("amount_too_high", lambda world, _: act(world, ROOMS, "set_limits", per_transaction="100")),
        ("beneficiary_deleted", lambda world, saved: call(world, "DELETE", "/beneficiaries/{id}", id=saved)),
        ("insufficient_balance", lambda world, _: set_balance(world, "1")),
    ],
)
def test_a_failed_run_says_why(code: str, trouble: Any) -> None:
    """Decisions M12 and S4: the failure codes of runs, `insufficient_balance` among them."""
    world = fresh()
    saved = save_beneficiary(world)
    started(world, withdraw_body(saved))
    trouble(world, saved)
    go(world, "2026-01-06T06:00:00Z")
    (told,) = objects(world, "recurring_payment.run_failed")
    assert told["run"]["failure_code"] == code
    assert not any(world.ledger.totals().values())
    assert world.ledger.balance(held(holder("sandbox")), "USDC.stellar") == 0


def test_run_below_a_raised_minimum_is_an_internal_error() -> None:
    world = fresh()
    started(world, send_body())
    limits = {"min_amount": "20.01", "max_amount": "1000"}
    act(world, ROOMS, "set_fee_product", "fee_send_usdc_stellar", limits=limits)
    go(world, "2026-01-06T06:00:00Z")
    (told,) = objects(world, "recurring_payment.run_failed")
    assert told["run"]["failure_code"] == "internal_error"


def test_runs_of_production_move_the_balance_of_production() -> None:
    world = fresh()
    sandbox = available(holder("sandbox"))
    before = world.ledger.balance(sandbox, "USDC.stellar")
    made = call(world, "POST", "/recurring-payments", send_body(), environment="production")
    for method, path, body in (("PUT", "schedule", DAILY), ("GET", "review", None), ("POST", "activate", None)):
        call(world, method, f"{ITEM}/{path}", body, id=made["id"], environment="production")
    go(world, "2026-01-06T06:00:00Z")
    assert world.ledger.balance(sandbox, "USDC.stellar") == before
    assert call(world, "GET", "/transactions", environment="production")["pagination"]["total"] == 1


def test_an_attempt_that_fails_alone_undoes_only_itself() -> None:
    world = fresh()
    table = world.store[TableKey("notes", int)]
    with world.change(Cause("start", "test")):
        table.put("kept", 1)
        try:
            with world.store.attempt():
                table.put("kept", 2)
                table.put("lost", 3)
                raise ApiError("internal_error", "stop")
        except ApiError:
            table.put("after", 4)
    assert dict(table.items()) == {"kept": 1, "after": 4}
    with pytest.raises(RuntimeError), world.store.attempt():
        pass
