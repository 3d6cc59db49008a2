"""Review, activate, pause, restart, delete, and the lists of recurring payments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from simulator.engine.rows.error import ApiError
from simulator.engine.rows.operation import Call
from simulator.engine.server.pipeline import perform
from simulator.kernel.journal import Cause
from tests.support import act, find_operation
from tests.unit.ramp.recurring.world import (
    DAILY,
    ITEM,
    ROOMS,
    WEEKLY,
    active,
    call,
    draft,
    events,
    fresh,
    go,
    objects,
    scheduled,
    send_body,
    set_balance,
    shown,
)

Made: TypeAlias = Callable[..., str]


def head(world: Any, path: str, payment_id: str) -> Any:
    """A HEAD request: the GET's action without its trace."""
    operation = find_operation(ROOMS, "GET", path)
    request = Call(world, "sandbox", {"id": payment_id}, trace=False)
    return perform(operation, request, cause=Cause("request", operation.name))


def refused(world: Any, method: str, path: str, payment_id: str, body: dict[str, Any] | None = None) -> tuple[Any, ...]:
    before = world.store.tables()
    with pytest.raises(ApiError) as error:
        call(world, method, path, body, id=payment_id)
    assert world.store.tables() == before
    return error.value.code, error.value.param


def test_a_reviewed_draft_is_activated() -> None:
    world = fresh()
    payment_id = scheduled(world, WEEKLY | {"end": {"type": "after_occurrences", "occurrences": 4}})
    call(world, "GET", f"{ITEM}/review", id=payment_id)
    assert call(world, "POST", f"{ITEM}/activate", id=payment_id) == {
        "id": payment_id,
        "status": "active",
        "next_run_at": "2026-01-12T06:00:00.000Z",
        "runs_completed": 0,
        "total_runs": 4,
        "activated_at": "2026-01-05T08:00:00.000Z",
    }
    assert events(world) == ["activated"]
    assert objects(world, "recurring_payment.activated") == [shown(world, payment_id)]


def test_activation_needs_a_schedule_and_the_review_of_that_schedule() -> None:
    """Decision S20."""
    world = fresh()
    payment_id = draft(world)
    activate = ("POST", f"{ITEM}/activate", payment_id)
    assert refused(world, *activate) == ("invalid_state", None)
    assert refused(world, "GET", f"{ITEM}/review", payment_id) == ("invalid_state", None)
    call(world, "PUT", f"{ITEM}/schedule", DAILY, id=payment_id)
    assert refused(world, *activate) == ("invalid_state", None)
    call(world, "GET", f"{ITEM}/review", id=payment_id)
    call(world, "PUT", f"{ITEM}/schedule", WEEKLY, id=payment_id)
    assert refused(world, *activate) == ("invalid_state", None)
    call(world, "GET", f"{ITEM}/review", id=payment_id)
    assert call(world, *activate[:2], id=payment_id)["status"] == "active"


def test_head_request_does_not_mark_the_review() -> None:
    """Decision S20: HEAD leaves no trace."""
    world = fresh()
    payment_id = scheduled(world)
    assert head(world, f"{ITEM}/review", payment_id)["id"] == payment_id
    assert refused(world, "POST", f"{ITEM}/activate", payment_id) == ("invalid_state", None)


def test_a_schedule_with_no_date_left_is_not_activated() -> None:
    """Decision S19."""
    world = fresh()
    payment_id = scheduled(world, DAILY | {"end": {"type": "on_date", "date": "2026-01-06"}})
    call(world, "GET", f"{ITEM}/review", id=payment_id)
    go(world, "2026-01-06T06:00:00.001Z")
    assert refused(world, "POST", f"{ITEM}/activate", payment_id) == ("invalid_state", None)


ON_DATE = DAILY | {"end": {"type": "on_date", "date": "2026-01-10"}}
"""Five dates from 2026-01-06 on."""


def test_s19_total_runs_counted_again_at_activation() -> None:
    """Decision S19: a draft that is activated late has fewer runs, and completes with all of them."""
    world = fresh()
    payment_id = scheduled(world, ON_DATE)
    assert shown(world, payment_id)["total_runs"] == 5
    go(world, "2026-01-08T07:00:00Z")
    review = call(world, "GET", f"{ITEM}/review", id=payment_id)
    assert (review["total_runs"], len(review["next_runs"])) == (2, 2)
    assert call(world, "POST", f"{ITEM}/activate", id=payment_id)["total_runs"] == 2
    assert shown(world, payment_id)["total_runs"] == 2
    go(world, "5d")
    done = shown(world, payment_id)
    assert (done["status"], done["runs_completed"], done["total_runs"]) == ("completed", 2, 2)
    assert call(world, "GET", f"{ITEM}/review", id=payment_id)["total_runs"] == 2


@pytest.mark.parametrize("start_date", [None, "2026-01-09"])
def test_s19_total_runs_counted_again_at_restart(start_date: str | None) -> None:
    world = fresh()
    payment_id = active(world, ON_DATE)
    go(world, "2026-01-07T07:00:00Z")  # two runs
    call(world, "POST", f"{ITEM}/pause", id=payment_id)
    go(world, "2026-01-08T07:00:00Z")  # one date missed
    body = None if start_date is None else {"start_date": start_date}
    assert call(world, "POST", f"{ITEM}/restart", body, id=payment_id)["total_runs"] == 4
    go(world, "5d")
    done = shown(world, payment_id)
    assert (done["status"], done["runs_completed"], done["total_runs"]) == ("completed", 4, 4)


def test_s19_restart_at_the_instant_of_a_run_counts_it_once() -> None:
    world = fresh()
    payment_id = active(world, ON_DATE)
    go(world, "2026-01-06T06:00:00Z")
    call(world, "POST", f"{ITEM}/pause", id=payment_id)
    assert call(world, "POST", f"{ITEM}/restart", id=payment_id)["total_runs"] == 5
    go(world, "10d")
    assert shown(world, payment_id)["runs_completed"] == 5


def test_s19_failed_runs_count_in_total_runs() -> None:
    """Decision S19: failed runs are executed runs, so three failures and a restart leave the total as it was."""
    world = fresh()
    payment_id = active(world, ON_DATE)
    set_balance(world, "0")
    go(world, "2026-01-08T07:00:00Z")
    assert shown(world, payment_id)["status"] == "paused"
    set_balance(world, "500")
    assert call(world, "POST", f"{ITEM}/restart", id=payment_id)["total_runs"] == 5
    go(world, "5d")
    done = shown(world, payment_id)
    assert (done["status"], done["runs_completed"], done["total_runs"]) == ("completed", 2, 5)


def paused(world: Any, **members: Any) -> str:
    payment_id = active(world, **members)
    call(world, "POST", f"{ITEM}/pause", id=payment_id)
    return payment_id


def reviewed(world: Any, **members: Any) -> str:
    payment_id = scheduled(world, **members)
    call(world, "GET", f"{ITEM}/review", id=payment_id)
    return payment_id


STARTS = pytest.mark.parametrize(("made", "start"), [(reviewed, "activate"), (paused, "restart")])
"""The two calls that set runs going, each with what makes a payment for it."""


@STARTS
def test_s20_start_with_deleted_beneficiary_is_not_found(made: Made, start: str) -> None:
    """Decision S20; the review answers all the same."""
    world = fresh()
    payment_id = made(world)
    beneficiary_id = shown(world, payment_id)["recipient"]["beneficiary_id"]
    call(world, "DELETE", "/beneficiaries/{id}", id=beneficiary_id)
    assert refused(world, "POST", f"{ITEM}/{start}", payment_id) == ("not_found", "beneficiary_id")
    assert call(world, "GET", f"{ITEM}/review", id=payment_id)["id"] == payment_id


@STARTS
@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"min_amount": "20.01", "max_amount": "1000"}, "amount_too_low"),
        ({"min_amount": "1", "max_amount": "19.99"}, "amount_too_high"),
    ],
)
def test_s20_start_outside_product_limits_is_refused(made: Made, start: str, limits: dict[str, str], code: str) -> None:
    world = fresh()
    payment_id = made(world)
    act(world, ROOMS, "set_fee_product", "fee_withdraw_usdc_kes", limits=limits)
    assert refused(world, "POST", f"{ITEM}/{start}", payment_id) == (code, "amount")
    assert call(world, "GET", f"{ITEM}/review", id=payment_id)["id"] == payment_id


@STARTS
def test_s20_start_is_judged_at_the_present_rate(made: Made, start: str) -> None:
    """2,600 KES are 20 USDC at 130, and far below the least amount at 13,000."""
    world = fresh()
    payment_id = made(world, amount="2600", amount_currency="KES")
    act(world, ROOMS, "set_rate", asset="USDC", fiat_currency="KES", rate="13000")
    assert refused(world, "POST", f"{ITEM}/{start}", payment_id) == ("amount_too_low", "amount")
    act(world, ROOMS, "set_rate", asset="USDC", fiat_currency="KES", rate="130")
    assert call(world, "POST", f"{ITEM}/{start}", id=payment_id)["status"] == "active"


@STARTS
def test_s20_start_needs_no_balance_and_no_network(made: Made, start: str) -> None:
    """Both may be there by the time of the run."""
    world = fresh()
    payment_id = made(world)
    set_balance(world, "0")
    act(world, ROOMS, "set_network", network="stellar", status="down")
    assert call(world, "POST", f"{ITEM}/{start}", id=payment_id)["status"] == "active"


@pytest.mark.parametrize("amount", ["0.01", "99999999"])
def test_s20_send_outside_limits_is_not_activated(amount: str) -> None:
    world = fresh()
    payment_id = call(world, "POST", "/recurring-payments", send_body(amount=amount))["id"]
    call(world, "PUT", f"{ITEM}/schedule", DAILY, id=payment_id)
    call(world, "GET", f"{ITEM}/review", id=payment_id)
    code = "amount_too_low" if amount == "0.01" else "amount_too_high"
    assert refused(world, "POST", f"{ITEM}/activate", payment_id) == (code, "amount")


def test_s20_state_is_judged_before_what_can_never_run() -> None:
    """A retry whose first answer was lost learns that the payment is active, whatever has changed since."""
    world = fresh()
    payment_id = active(world)
    call(world, "DELETE", "/beneficiaries/{id}", id=shown(world, payment_id)["recipient"]["beneficiary_id"])
    for start in ("activate", "restart"):
        assert refused(world, "POST", f"{ITEM}/{start}", payment_id) == ("invalid_state", None)


def test_a_start_date_of_today_with_its_time_past_begins_on_the_next_date() -> None:
    """Decision S19."""
    world = fresh()
    payment_id = active(world, DAILY | {"start_date": "2026-01-05"})
    assert shown(world, payment_id)["next_run_at"] == "2026-01-06T06:00:00.000Z"


def test_a_run_at_this_very_instant_is_not_past() -> None:
    world = fresh()
    payment_id = active(world, DAILY | {"start_date": "2026-01-05", "time": "11:00"})
    assert events(world) == ["activated", "run_upcoming", "run_succeeded", "run_upcoming"]
    assert shown(world, payment_id)["runs_completed"] == 1


def test_pausing_stops_the_runs_and_says_why() -> None:
    world = fresh()
    payment_id = active(world, WEEKLY)
    go(world, "1h")
    assert call(world, "POST", f"{ITEM}/pause", {"reason": "moving house"}, id=payment_id) == {
        "id": payment_id,
        "status": "paused",
        "paused_at": "2026-01-05T09:00:00.000Z",
        "pause_reason": "moving house",
        "next_run_at": None,
        "runs_completed": 0,
        "total_runs": None,
    }
    go(world, "30d")
    assert events(world) == ["activated", "paused"]
    assert len(world.agenda) == 0


def test_pausing_needs_no_reason() -> None:
    world = fresh()
    assert call(world, "POST", f"{ITEM}/pause", id=active(world))["pause_reason"] is None


def test_restarting_skips_what_was_missed_and_keeps_the_phase() -> None:
    """Decision S19: skipped runs count neither as occurrences nor as numbers, and no new review is needed."""
    world = fresh()
    end = {"type": "after_occurrences", "occurrences": 2}
    biweekly = WEEKLY | {"frequency": "biweekly", "end": end}  # 12 January, 26 January, 9 February …
    payment_id = active(world, biweekly)
    call(world, "POST", f"{ITEM}/pause", id=payment_id)
    go(world, "2026-01-28T00:00:00Z")
    answer = call(world, "POST", f"{ITEM}/restart", id=payment_id)
    assert answer == shown(world, payment_id)
    assert (answer["status"], answer["next_run_at"]) == ("active", "2026-02-09T06:00:00.000Z")
    assert (answer["paused_at"], answer["pause_reason"], answer["total_runs"]) == (None, None, 2)
    assert answer["activated_at"] == "2026-01-05T08:00:00.000Z"
    go(world, "2026-03-01T00:00:00Z")
    runs = objects(world, "recurring_payment.run_succeeded")
    assert [run["run"]["number"] for run in runs] == [1, 2]
    assert shown(world, payment_id)["status"] == "completed"


def test_restarting_may_use_a_new_start_date() -> None:
    """Decision S19: start_date re-anchors the phase."""
    world = fresh()
    payment_id = active(world, WEEKLY | {"frequency": "biweekly"})
    call(world, "POST", f"{ITEM}/pause", id=payment_id)
    answer = call(world, "POST", f"{ITEM}/restart", {"start_date": "2026-01-14"}, id=payment_id)
    assert answer["schedule"]["start_date"] == "2026-01-14"
    assert answer["next_run_at"] == "2026-01-19T06:00:00.000Z"


def test_a_run_that_was_executed_is_not_repeated_by_restarting_at_its_instant() -> None:
    world = fresh()
    payment_id = active(world)
    go(world, "2026-01-06T06:00:00Z")
    call(world, "POST", f"{ITEM}/pause", id=payment_id)
    assert call(world, "POST", f"{ITEM}/restart", id=payment_id)["next_run_at"] == "2026-01-07T06:00:00.000Z"


def test_restarting_is_refused_when_no_date_is_left() -> None:
    """Decision S19."""
    world = fresh()
    payment_id = active(world, DAILY | {"end": {"type": "on_date", "date": "2026-01-08"}})
    call(world, "POST", f"{ITEM}/pause", id=payment_id)
    late = {"start_date": "2026-01-09"}
    assert refused(world, "POST", f"{ITEM}/restart", payment_id, late) == ("invalid_state", None)
    go(world, "5d")
    assert refused(world, "POST", f"{ITEM}/restart", payment_id) == ("invalid_state", None)


@pytest.mark.parametrize("start_date", ["2026-01-04", "soon", "2026-02-30", 5])
def test_restarting_refuses_a_malformed_or_past_start_date(start_date: Any) -> None:
    world = fresh()
    payment_id = active(world)
    call(world, "POST", f"{ITEM}/pause", id=payment_id)
    body = {"start_date": start_date}
    assert refused(world, "POST", f"{ITEM}/restart", payment_id, body) == ("invalid_parameter", "start_date")


@pytest.mark.parametrize(
    ("operation", "statuses"),
    [
        ("activate", ("active", "paused", "completed")),
        ("pause", ("draft", "paused", "completed")),
        ("restart", ("draft", "active", "completed")),
    ],
)
def test_an_operation_in_the_wrong_status_is_refused(operation: str, statuses: tuple[str, ...]) -> None:
    """Decision S20: 409 `invalid_state`."""
    for status in statuses:
        world = fresh()
        once = DAILY | {"end": {"type": "after_occurrences", "occurrences": 1}}
        payment_id = draft(world) if status == "draft" else active(world, once)
        if status == "paused":
            call(world, "POST", f"{ITEM}/pause", id=payment_id)
        if status == "completed":
            go(world, "2d")
        assert shown(world, payment_id)["status"] == status
        assert refused(world, "POST", f"{ITEM}/{operation}", payment_id) == ("invalid_state", None)


@pytest.mark.parametrize("status", ["draft", "active", "paused", "completed"])
def test_deleting_ends_everything(status: str) -> None:
    """Decisions L6 and S20: gone from the list, 404 from then on."""
    world = fresh()
    once = DAILY | {"end": {"type": "after_occurrences", "occurrences": 1}}
    payment_id = draft(world) if status == "draft" else active(world, once)
    if status == "paused":
        call(world, "POST", f"{ITEM}/pause", id=payment_id)
    if status == "completed":
        go(world, "2026-01-06T06:00:00Z")
    assert call(world, "DELETE", ITEM, id=payment_id) is None
    (last,) = objects(world, "recurring_payment.deleted")
    assert (last["id"], last["status"], last["next_run_at"]) == (payment_id, "deleted", None)
    before = events(world)
    go(world, "10d")
    assert events(world) == before
    for method, path in (("GET", ITEM), ("DELETE", ITEM), ("GET", f"{ITEM}/transactions"), ("POST", f"{ITEM}/pause")):
        assert refused(world, method, path, payment_id)[0] == "not_found"
    assert call(world, "GET", "/recurring-payments")["data"] == []


def test_transactions_of_a_deleted_payment_remain() -> None:
    world = fresh()
    payment_id = active(world)
    go(world, "2026-01-06T06:00:00Z")
    call(world, "DELETE", ITEM, id=payment_id)
    kept = call(world, "GET", "/transactions", query={"recurring_payment_id": payment_id})["data"]
    assert [transaction["reference"] for transaction in kept] == ["rent-1"]


def test_the_list_filters_searches_and_sorts() -> None:
    """Decisions L1 and L4: searched by name and reference, not sorted by name."""
    world = fresh()
    first = draft(world, name="Office rent", reference="OFF-1", amount="30")
    second = str(call(world, "POST", "/recurring-payments", send_body(name="Savings"))["id"])
    third = active(world, name="Salary", reference="pay")

    def ids(**query: str) -> list[str]:
        return [row["id"] for row in call(world, "GET", "/recurring-payments", query=query)["data"]]

    assert ids() == [third, second, first]
    assert ids(type="send") == [second]
    assert ids(type="send,withdraw", sort_order="asc") == [first, second, third]
    assert ids(status="draft") == [second, first]
    assert ids(status="active,paused") == [third]
    assert ids(status="deleted") == []
    assert ids(search="off-1") == [first]
    assert ids(search="SAV") == [second]
    assert ids(sort_by="amount")[0] == first
    assert ids(sort_by="updated_at", sort_order="asc") == [first, second, third]
    assert ids(size="1", page="2") == [second]
    for query in ({"type": "swap"}, {"status": "done"}, {"sort_by": "name"}):
        with pytest.raises(ApiError, match="invalid_parameter"):
            ids(**query)


def test_the_transactions_of_one_payment_are_listed_apart() -> None:
    world = fresh()
    rent, salary = active(world), active(world, DAILY | {"time": "10:00"}, reference="salary")
    go(world, "2026-01-07T08:00:00Z")
    path = f"{ITEM}/transactions"
    answer = call(world, "GET", path, id=rent)
    assert [row["reference"] for row in answer["data"]] == ["rent-2", "rent-1"]
    assert answer["pagination"] == {"page": 1, "size": 20, "total": 2, "total_pages": 1}
    found = call(world, "GET", path, query={"search": "SALARY-1", "status": "processing"}, id=salary)["data"]
    assert [row["reference"] for row in found] == ["salary-1"]
    assert call(world, "GET", path, query={"status": "failed"}, id=salary)["pagination"]["total_pages"] == 0


def test_the_environments_do_not_mix() -> None:
    world = fresh()
    payment_id = draft(world)
    with pytest.raises(ApiError, match="not_found"):
        call(world, "GET", ITEM, id=payment_id, environment="production")
    assert call(world, "GET", "/recurring-payments", environment="production")["data"] == []


def test_no_third_party_action_applies_to_recurring_payments() -> None:
    world = fresh()
    payment_id = active(world)
    with pytest.raises(Exception, match="cannot be performed on a recurring_payment"):
        act(world, ROOMS, "complete", payment_id)
