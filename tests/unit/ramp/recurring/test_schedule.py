"""Run times compared with handwritten dates: ends of months, leap years, both clock changes in Berlin, phases, ends."""

from __future__ import annotations

from datetime import date
from itertools import count
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simulator.engine.records.records import present
from simulator.kernel.clock import format_timestamp, parse_timestamp
from simulator.providers.ramp.recurring.schedule import Frequency, Schedule, today, zone, zone_names


def plan(frequency: Frequency, start_date: str, **members: Any) -> Schedule:
    return Schedule(
        frequency=frequency,
        start_date=start_date,
        **{"time": "09:00", "timezone": "Africa/Nairobi", "end": "never"} | members,
    )


def dates(schedule: Schedule, number: int, since: str = "2020-01-01T00:00:00Z") -> list[str]:
    first = schedule.first_index(parse_timestamp(since))
    return [str(schedule.date_at(first + offset)) for offset in range(number)]


def moments(schedule: Schedule, since: str, number: int) -> list[str]:
    return [format_timestamp(moment)[:16] for moment in schedule.moments(parse_timestamp(since), number)]


def test_monthly_on_day_31_runs_on_the_last_day_of_every_shorter_month() -> None:
    assert dates(plan("monthly", "2026-01-15", day_of_month=31), 13) == [
        "2026-01-31",
        "2026-02-28",
        "2026-03-31",
        "2026-04-30",
        "2026-05-31",
        "2026-06-30",
        "2026-07-31",
        "2026-08-31",
        "2026-09-30",
        "2026-10-31",
        "2026-11-30",
        "2026-12-31",
        "2027-01-31",
    ]


@pytest.mark.parametrize(("year", "last"), [("2027", "28"), ("2028", "29"), ("2100", "28"), ("2000", "29")])
@pytest.mark.parametrize("day", [29, 30, 31])
def test_february_run_respects_leap_years(year: str, last: str, day: int) -> None:
    days = dates(plan("monthly", f"{year}-02-01", day_of_month=day), 2, since=f"{year}-01-01T00:00:00Z")
    assert days == [f"{year}-02-{last}", f"{year}-03-{day}"]


def test_a_monthly_day_before_the_start_date_begins_next_month() -> None:
    assert dates(plan("monthly", "2026-12-16", day_of_month=15), 2) == ["2027-01-15", "2027-02-15"]
    assert dates(plan("monthly", "2026-12-15", day_of_month=15), 1) == ["2026-12-15"]


def test_a_month_whose_last_day_is_the_start_date_counts() -> None:
    assert dates(plan("monthly", "2026-02-28", day_of_month=31), 2) == ["2026-02-28", "2026-03-31"]


def test_weekly_begins_on_the_first_such_weekday_from_the_start_date_on() -> None:
    # 2026-01-05 is a Monday.
    assert dates(plan("weekly", "2026-01-05", day_of_week="monday"), 2) == ["2026-01-05", "2026-01-12"]
    assert dates(plan("weekly", "2026-01-06", day_of_week="monday"), 2) == ["2026-01-12", "2026-01-19"]
    assert dates(plan("weekly", "2026-01-05", day_of_week="sunday"), 2) == ["2026-01-11", "2026-01-18"]


def test_biweekly_keeps_its_phase_at_any_later_time() -> None:
    schedule = plan("biweekly", "2026-01-06", day_of_week="friday")
    assert dates(schedule, 3) == ["2026-01-09", "2026-01-23", "2026-02-06"]
    assert dates(schedule, 1, since="2026-01-10T00:00:00Z") == ["2026-01-23"]
    assert dates(schedule, 1, since="2026-02-06T06:00:00Z") == ["2026-02-06"]
    assert dates(schedule, 1, since="2026-02-06T06:00:01Z") == ["2026-02-20"]
    assert dates(schedule, 1, since="2031-01-01T00:00:00Z") == ["2031-01-03"]


def test_daily_in_berlin_moves_a_missing_time_forward_by_the_gap() -> None:
    """Decision S19."""
    schedule = plan("daily", "2026-03-28", time="02:30", timezone="Europe/Berlin")
    assert moments(schedule, "2026-03-28T00:00:00Z", 3) == [
        "2026-03-28T01:30",  # 02:30 winter time
        "2026-03-29T01:30",  # does not exist: 03:30 summer time
        "2026-03-30T00:30",  # 02:30 summer time
    ]


def test_daily_in_berlin_takes_the_first_of_a_time_that_occurs_twice() -> None:
    """Decision S19."""
    schedule = plan("daily", "2026-10-24", time="02:30", timezone="Europe/Berlin")
    assert moments(schedule, "2026-10-24T00:00:00Z", 3) == [
        "2026-10-24T00:30",  # summer time
        "2026-10-25T00:30",  # the first 02:30, still summer time
        "2026-10-26T01:30",  # winter time
    ]


def test_weekly_in_berlin_keeps_local_time_across_both_changes() -> None:
    schedule = plan("weekly", "2026-03-22", day_of_week="sunday", time="09:00", timezone="Europe/Berlin")
    assert moments(schedule, "2026-03-20T00:00:00Z", 3) == ["2026-03-22T08:00", "2026-03-29T07:00", "2026-04-05T07:00"]
    assert moments(schedule, "2026-10-17T00:00:00Z", 3) == ["2026-10-18T07:00", "2026-10-25T08:00", "2026-11-01T08:00"]


def test_the_gap_and_the_overlap_of_half_an_hour_on_lord_howe() -> None:
    gap = plan("daily", "2026-10-04", time="02:15", timezone="Australia/Lord_Howe")
    assert moments(gap, "2026-10-03T00:00:00Z", 1) == ["2026-10-03T15:45"]  # 02:45 at +11
    twice = plan("daily", "2026-04-05", time="01:45", timezone="Australia/Lord_Howe")
    assert moments(twice, "2026-04-04T00:00:00Z", 1) == ["2026-04-04T14:45"]  # +11, before the change


def test_the_instant_of_a_run_itself_is_not_past() -> None:
    schedule = plan("daily", "2026-01-05")
    assert moments(schedule, "2026-01-05T06:00:00.000Z", 1) == ["2026-01-05T06:00"]
    assert moments(schedule, "2026-01-05T06:00:00.001Z", 1) == ["2026-01-06T06:00"]


@given(
    schedule=st.builds(
        Schedule,
        frequency=st.sampled_from(["daily", "weekly", "biweekly", "monthly"]),
        start_date=st.dates(date(2011, 11, 1), date(2012, 4, 30)).map(str),
        time=st.sampled_from(["00:00", "00:30", "02:30", "09:00", "23:59"]),
        timezone=st.sampled_from(["Africa/Nairobi", "Europe/Berlin", "Pacific/Apia", "Australia/Lord_Howe"]),
        end=st.just("never"),
        day_of_week=st.sampled_from(["monday", "friday", "sunday"]),
        day_of_month=st.sampled_from([1, 30, 31]),
    ),
    at_ms=st.integers(parse_timestamp("2011-11-01T00:00:00Z"), parse_timestamp("2012-06-30T00:00:00Z")),
)
@example(plan("daily", "2011-12-01", timezone="Pacific/Apia"), parse_timestamp("2011-12-30T19:00:00Z"))
def test_first_date_equals_exhaustive_search(schedule: Schedule, at_ms: int) -> None:
    """Apia left out a whole day, 2011-12-30: its runs are at the moments of the next day's."""
    searched = next(index for index in count() if present(schedule.moment_at(index)) >= at_ms)
    assert schedule.first_index(at_ms) == searched


def test_on_date_includes_its_date_and_ends_there() -> None:
    schedule = plan("daily", "2026-01-05", end="on_date", end_date="2026-01-07")
    assert moments(schedule, "2026-01-01T00:00:00Z", 5) == ["2026-01-05T06:00", "2026-01-06T06:00", "2026-01-07T06:00"]
    assert schedule.count_from(parse_timestamp("2026-01-01T00:00:00Z")) == 3
    assert schedule.count_from(parse_timestamp("2026-01-05T06:00:00.001Z")) == 2
    assert schedule.count_from(parse_timestamp("2026-01-08T00:00:00Z")) == 0


@pytest.mark.parametrize(
    ("schedule", "count"),
    [
        (plan("weekly", "2026-01-05", day_of_week="monday", end="on_date", end_date="2026-01-26"), 4),
        (plan("weekly", "2026-01-05", day_of_week="tuesday", end="on_date", end_date="2026-01-26"), 3),
        (plan("biweekly", "2026-01-05", day_of_week="monday", end="on_date", end_date="2026-02-01"), 2),
        (plan("monthly", "2026-01-31", day_of_month=31, end="on_date", end_date="2026-12-31"), 12),
        (plan("monthly", "2026-01-20", day_of_month=15, end="on_date", end_date="2026-02-14"), 0),
        (plan("monthly", "2026-01-20", day_of_month=15, end="on_date", end_date="2026-02-15"), 1),
        (plan("daily", "2026-01-01", end="on_date", end_date="9999-12-31"), 2_912_078),
        (plan("daily", "2026-01-01"), 0),
    ],
)
def test_the_number_of_dates_up_to_the_end_date(schedule: Schedule, count: int) -> None:
    assert schedule.count_from(parse_timestamp("2026-01-01T00:00:00Z")) == count


def test_nothing_runs_beyond_the_calendar() -> None:
    assert plan("daily", "9999-01-01").moment_at(0) is None
    assert plan("monthly", "9999-12-31", day_of_month=1).moment_at(0) is None
    assert plan("weekly", "9999-12-31", day_of_week="monday").moments(parse_timestamp("2026-01-01T00:00:00Z"), 3) == ()
    assert plan("monthly", "9998-12-01", day_of_month=31).date_at(1) is None


def test_today_is_the_local_date() -> None:
    at = parse_timestamp("2026-01-05T22:30:00Z")
    assert str(today("Africa/Nairobi", at)) == "2026-01-06"
    assert str(today("UTC", at)) == "2026-01-05"


def test_time_zones_have_iana_names() -> None:
    assert {"Africa/Nairobi", "Europe/Berlin", "UTC", "America/Argentina/Ushuaia"} <= zone_names()
    assert zone("Africa/Lagos").key == "Africa/Lagos"
    for name in ("Nairobi", "africa/nairobi", "", "../UTC", "Africa", "EAT"):
        with pytest.raises(KeyError):
            zone(name)


@pytest.mark.parametrize(
    ("schedule", "sentence"),
    [
        (plan("daily", "2026-01-05"), "Every day at 09:00 (Africa/Nairobi), starting 2026-01-05, with no end."),
        (
            plan("weekly", "2026-01-05", day_of_week="friday", end="after_occurrences", occurrences=1),
            "Every Friday at 09:00 (Africa/Nairobi), starting 2026-01-05, once.",
        ),
        (
            plan("biweekly", "2026-01-05", day_of_week="friday", end="after_occurrences", occurrences=6),
            "Every second Friday at 09:00 (Africa/Nairobi), starting 2026-01-05, 6 times.",
        ),
        (
            plan("monthly", "2026-01-05", day_of_month=31, end="on_date", end_date="2026-12-31"),
            "Every month on day 31 (the last day in shorter months) at 09:00 (Africa/Nairobi), "
            "starting 2026-01-05, until 2026-12-31.",
        ),
        (
            plan("monthly", "2026-01-05", day_of_month=1),
            "Every month on day 1 at 09:00 (Africa/Nairobi), starting 2026-01-05, with no end.",
        ),
    ],
)
def test_schedule_summary_is_a_sentence(schedule: Schedule, sentence: str) -> None:
    assert schedule.summary() == sentence
