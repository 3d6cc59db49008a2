"""PUT /recurring-payments/{id}/schedule: its responses, its counters, and all refusals."""

from __future__ import annotations

from typing import Any

import pytest

from simulator.engine.rows.error import ApiError
from tests.unit.ramp.recurring.world import DAILY, ITEM, WEEKLY, active, call, draft, fresh, go, shown

MONTHLY = {"frequency": "monthly", "day_of_month": 31, "start_date": "2026-01-31", "end": {"type": "never"}}


def put(schedule: dict[str, Any], world: Any = None) -> Any:
    world = world or fresh()
    return call(world, "PUT", f"{ITEM}/schedule", schedule, id=draft(world))


def test_the_schedule_shows_the_request_with_its_defaults() -> None:
    """Decision S19."""
    answer = put(WEEKLY)
    assert answer["status"] == "draft"
    assert answer["next_run_at"] is None
    assert answer["schedule"] == WEEKLY | {"time": "09:00", "timezone": "Africa/Nairobi"}


def test_a_schedule_shows_only_the_fields_of_its_frequency() -> None:
    assert "day_of_week" not in put(MONTHLY | {"day_of_week": "friday"})["schedule"]
    assert "day_of_month" not in put(WEEKLY | {"day_of_month": 3})["schedule"]
    assert set(put(DAILY)["schedule"]) == {"frequency", "start_date", "time", "timezone", "end"}


def test_null_in_an_optional_field_means_absent() -> None:
    assert put(DAILY | {"time": None, "timezone": None, "day_of_month": None})["schedule"]["time"] == "09:00"


@pytest.mark.parametrize(
    ("end", "total"),
    [
        ({"type": "never"}, None),
        ({"type": "on_date", "date": "2026-01-10"}, 5),
        ({"type": "on_date", "date": "2026-01-06"}, 1),
        ({"type": "after_occurrences", "occurrences": 7}, 7),
    ],
)
def test_total_runs_follows_the_end(end: dict[str, Any], total: int | None) -> None:
    """Decision S19: null for never."""
    answer = put(DAILY | {"end": end})
    assert answer["total_runs"] == total
    assert answer["schedule"]["end"] == end


def test_a_date_of_today_whose_time_is_past_is_not_counted() -> None:
    # It is 11:00 in Nairobi.
    end = {"type": "on_date", "date": "2026-01-06"}
    assert put(DAILY | {"start_date": "2026-01-05", "time": "10:59", "end": end})["total_runs"] == 1
    assert put(DAILY | {"start_date": "2026-01-05", "time": "11:00", "end": end})["total_runs"] == 2


@pytest.mark.parametrize(
    ("changes", "code", "param"),
    [
        ({"frequency": None}, "missing_parameter", "frequency"),
        ({"frequency": "weekly"}, "missing_parameter", "day_of_week"),
        ({"frequency": "biweekly", "day_of_week": None}, "missing_parameter", "day_of_week"),
        ({"frequency": "monthly"}, "missing_parameter", "day_of_month"),
        ({"start_date": None}, "missing_parameter", "start_date"),
        ({"end": None}, "missing_parameter", "end"),
        ({"end": {}}, "missing_parameter", "end.type"),
        ({"end": {"type": "on_date"}}, "missing_parameter", "end.date"),
        ({"end": {"type": "on_date", "date": None}}, "missing_parameter", "end.date"),
        ({"end": {"type": "after_occurrences"}}, "missing_parameter", "end.occurrences"),
        ({"end": {"type": "on_date"}, "time": "9:00"}, "missing_parameter", "end.date"),
        ({"frequency": "yearly"}, "invalid_parameter", "frequency"),
        ({"frequency": ["daily"]}, "invalid_parameter", "frequency"),
        ({"frequency": "weekly", "day_of_week": "Monday"}, "invalid_parameter", "day_of_week"),
        ({"frequency": "monthly", "day_of_month": 0}, "invalid_parameter", "day_of_month"),
        ({"frequency": "monthly", "day_of_month": 32}, "invalid_parameter", "day_of_month"),
        ({"frequency": "monthly", "day_of_month": "31"}, "invalid_parameter", "day_of_month"),
        ({"frequency": "monthly", "day_of_month": True}, "invalid_parameter", "day_of_month"),
        ({"start_date": "2026-1-6"}, "invalid_parameter", "start_date"),
        ({"start_date": "2026-02-29"}, "invalid_parameter", "start_date"),
        ({"start_date": "2026-01-06T00:00:00Z"}, "invalid_parameter", "start_date"),
        ({"start_date": "2026-01-04"}, "invalid_parameter", "start_date"),
        ({"time": "24:00"}, "invalid_parameter", "time"),
        ({"time": "9:00"}, "invalid_parameter", "time"),
        ({"time": "09:00:00"}, "invalid_parameter", "time"),
        ({"timezone": "Nairobi"}, "invalid_parameter", "timezone"),
        ({"timezone": "../../etc/passwd"}, "invalid_parameter", "timezone"),
        ({"end": "never"}, "invalid_parameter", "end"),
        ({"end": {"type": "later"}}, "invalid_parameter", "end.type"),
        ({"end": {"type": ["never"]}}, "invalid_parameter", "end.type"),
        ({"end": {"type": "on_date", "date": "2026-02-30"}}, "invalid_parameter", "end.date"),
        ({"end": {"type": "on_date", "date": "2026-01-05"}}, "invalid_parameter", "end.date"),
        ({"end": {"type": "after_occurrences", "occurrences": 0}}, "invalid_parameter", "end.occurrences"),
        ({"end": {"type": "after_occurrences", "occurrences": "3"}}, "invalid_parameter", "end.occurrences"),
    ],
)
def test_a_schedule_is_refused(changes: dict[str, Any], code: str, param: str) -> None:
    with pytest.raises(ApiError) as refused:
        put(DAILY | changes)
    assert (refused.value.code, refused.value.param) == (code, param)


def test_today_is_the_date_in_the_schedules_time_zone() -> None:
    # 22:30 in UTC on the 5th is the 6th in Nairobi and still the 5th in Lagos.
    late = "2026-01-05T22:30:00.000Z"
    with pytest.raises(ApiError):
        put(DAILY | {"start_date": "2026-01-05"}, fresh(late))
    assert put(DAILY | {"start_date": "2026-01-05", "timezone": "UTC"}, fresh(late))["schedule"]


def test_a_schedule_cannot_be_set_while_active_or_completed() -> None:
    world = fresh()
    payment_id = active(world, DAILY | {"end": {"type": "after_occurrences", "occurrences": 1}})
    for status in ("active", "completed"):
        assert shown(world, payment_id)["status"] == status
        with pytest.raises(ApiError, match="invalid_state"):
            call(world, "PUT", f"{ITEM}/schedule", WEEKLY, id=payment_id)
        go(world, "2d")


def test_a_paused_payment_takes_a_new_schedule_and_continues_counting() -> None:
    world = fresh()
    payment_id = active(world)
    go(world, "2026-01-07T07:00:00Z")  # two runs
    call(world, "POST", f"{ITEM}/pause", id=payment_id)
    end = {"type": "after_occurrences", "occurrences": 3}
    answer = call(world, "PUT", f"{ITEM}/schedule", WEEKLY | {"end": end}, id=payment_id)
    assert (answer["status"], answer["total_runs"], answer["runs_completed"]) == ("paused", 3, 2)
    assert call(world, "POST", f"{ITEM}/restart", id=payment_id)["next_run_at"] == "2026-01-12T06:00:00.000Z"
    go(world, "2026-01-12T06:00:00Z")
    assert shown(world, payment_id)["status"] == "completed"


def test_an_unknown_payment_is_not_found() -> None:
    with pytest.raises(ApiError, match="not_found"):
        call(fresh(), "PUT", f"{ITEM}/schedule", DAILY, id="rp_none")
