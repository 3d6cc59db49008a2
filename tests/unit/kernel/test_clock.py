"""Simulated time: instants, timestamps, dates and durations (decision H10)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simulator.kernel.clock import (
    DAY_MS,
    HOUR_MS,
    LAST_MS,
    MINUTE_MS,
    MODES,
    SECOND_MS,
    Clock,
    format_duration,
    format_timestamp,
    parse_date,
    parse_duration,
    parse_timestamp,
    to_datetime,
    to_ms,
)

YEAR_1_MS = to_ms(datetime(1, 1, 1, tzinfo=UTC))
moments = st.integers(YEAR_1_MS, LAST_MS)


def test_clock_has_the_given_time_mode_and_rate() -> None:
    clock = Clock(5)
    assert (clock.now_ms, clock.mode, clock.rate) == (5, "manual", Decimal(1))
    assert Clock(5, "scaled", Decimal(60)).rate == 60
    assert MODES == ("real", "manual", "scaled")


def test_a_clock_moves_ahead_or_stays() -> None:
    clock = Clock(1_000)
    clock.move_to(1_000)
    clock.move_to(1_001)
    assert clock.now_ms == 1_001


def test_a_clock_never_moves_back() -> None:
    clock = Clock(1_000)
    with pytest.raises(ValueError, match="never moves back"):
        clock.move_to(999)
    assert clock.now_ms == 1_000


def test_the_units_are_milliseconds() -> None:
    assert (SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS) == (1_000, 60_000, 3_600_000, 86_400_000)


def test_a_moment_below_a_millisecond_is_rounded_down() -> None:
    assert to_ms(datetime(1970, 1, 1, 0, 0, 0, 1_999, tzinfo=UTC)) == 1
    assert to_ms(datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)) == -1


@given(moments)
@example(YEAR_1_MS)
@example(LAST_MS)
@example(-1)
@example(0)
def test_a_timestamp_reads_back_as_the_moment_it_was_made_of(at_ms: int) -> None:
    text = format_timestamp(at_ms)
    assert len(text) == len("YYYY-MM-DDTHH:MM:SS.mmmZ")
    assert parse_timestamp(text) == at_ms
    assert to_ms(to_datetime(at_ms)) == at_ms
    assert datetime.fromisoformat(text) == to_datetime(at_ms)


@pytest.mark.parametrize(
    ("at_ms", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (7, "1970-01-01T00:00:00.007Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (1_767_600_000_000, "2026-01-05T08:00:00.000Z"),
        (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"),
        (YEAR_1_MS, "0001-01-01T00:00:00.000Z"),
        (LAST_MS, "9998-12-31T23:59:59.999Z"),
    ],
)
def test_timestamps_are_written_with_milliseconds_and_z(at_ms: int, text: str) -> None:
    """Decision H10."""
    assert format_timestamp(at_ms) == text


@pytest.mark.parametrize(
    ("text", "same_as"),
    [
        ("2026-01-05t08:00:00z", "2026-01-05T08:00:00.000Z"),
        ("2026-01-05T08:00Z", "2026-01-05T08:00:00.000Z"),
        ("2026-01-05T08:00:00.1Z", "2026-01-05T08:00:00.100Z"),
        ("2026-01-05T08:00:00.123456789Z", "2026-01-05T08:00:00.123Z"),
        ("2026-01-05T08:00:00.9999Z", "2026-01-05T08:00:00.999Z"),
        ("2026-01-05T08:00:00+03:00", "2026-01-05T05:00:00.000Z"),
        ("2026-01-05T08:00:00-0530", "2026-01-05T13:30:00.000Z"),
        ("2026-01-05T08:00:00+23:59", "2026-01-04T08:01:00.000Z"),
        ("2024-02-29T23:59:59.999-00:00", "2024-02-29T23:59:59.999Z"),
    ],
)
def test_other_spellings_of_a_timestamp_are_read(text: str, same_as: str) -> None:
    assert format_timestamp(parse_timestamp(text)) == same_as


@given(moments.filter(lambda at_ms: abs(at_ms) < LAST_MS - DAY_MS), st.integers(-1439, 1439))
def test_a_zone_is_only_another_way_to_write_the_same_moment(at_ms: int, offset_minutes: int) -> None:
    sign, away = ("-", -offset_minutes) if offset_minutes < 0 else ("+", offset_minutes)
    local = format_timestamp(max(at_ms, YEAR_1_MS + DAY_MS))
    text = local.removesuffix("Z") + f"{sign}{away // 60:02d}:{away % 60:02d}"
    assert parse_timestamp(text) == parse_timestamp(local) - offset_minutes * MINUTE_MS


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-05",
        "2026-01-05T08:00:00",
        "2026-01-05 08:00:00Z",
        "2026-01-05T08Z",
        "2026-01-05T08:00:00.Z",
        "2026-01-05T08:00:00.1234567890Z",
        "2026-01-05T24:00:00Z",
        "2026-01-05T08:60:00Z",
        "2026-01-05T08:00:60Z",
        "2026-13-01T08:00:00Z",
        "2026-00-01T08:00:00Z",
        "2026-02-29T08:00:00Z",
        "1900-02-29T08:00:00Z",
        "0000-01-01T00:00:00Z",
        "02026-01-05T08:00:00Z",
        "2026-01-05T08:00:00+24:00",
        "2026-01-05T08:00:00+03:60",
        "2026-01-05T08:00:00+3:00",
        "2026-01-05T08:00:00 Z",
        " 2026-01-05T08:00:00Z",
        "2026-01-05T08:00:00Z\n",
        "٢٠٢٦-01-05T08:00:00Z",
    ],
)
def test_other_strings_are_not_timestamps(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_timestamp(text)


@given(st.dates(max_value=datetime(9998, 12, 31).date()))  # noqa: DTZ001 - a bare date has no zone
def test_a_date_is_the_start_of_its_utc_day(day: Any) -> None:
    assert to_datetime(parse_date(day.isoformat())) == datetime(day.year, day.month, day.day, tzinfo=UTC)


@pytest.mark.parametrize("text", ["", "2026-1-5", "2026-02-29", "2026-02-30", "0000-01-01", "2026-01-05T", "20260105"])
def test_a_nonexistent_day_is_not_a_date(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_date(text)


def test_leap_days_exist_in_leap_years_only() -> None:
    assert parse_date("2024-02-29") + DAY_MS == parse_date("2024-03-01")
    assert parse_date("2000-02-29") + DAY_MS == parse_date("2000-03-01")
    assert parse_date("2023-02-28") + DAY_MS == parse_date("2023-03-01")


@pytest.mark.parametrize(
    ("value", "span_ms"),
    [
        ("500ms", 500),
        ("20s", 20_000),
        ("10m", 600_000),
        ("2h30m", 9_000_000),
        ("3d", 259_200_000),
        ("1d1h1m1s1ms", 90_061_001),
        ("30m2h", 9_000_000),
        ("1m1m", 120_000),
        ("0s", 0),
        ("PT90S", 90_000),
        ("PT1.5S", 1_500),
        ("PT2H30M", 9_000_000),
        ("PT1M", 60_000),
        ("P3D", 259_200_000),
        ("P1DT1H1M1S", 90_061_000),
        ("P0.5D", 43_200_000),
        (0, 0),
        (9, 9_000),
        (1.5, 1_500),
        (0.0019, 1),
        (Decimal("0.25"), 250),
        (LAST_MS / 1000, LAST_MS),
        (f"{LAST_MS}ms", LAST_MS),
    ],
)
def test_durations_are_sums_of_units_iso_8601_or_seconds(value: object, span_ms: int) -> None:
    assert parse_duration(value) == span_ms


@pytest.mark.parametrize(
    "value",
    [
        "",
        " ",
        "5",
        "s",
        "-5s",
        "+5s",
        "5 s",
        " 5s",
        "5s ",
        "5s\n",
        "5S",
        "1.5s",
        "0.5ms0.5ms",
        "5w",
        "5y",
        "1..5s",
        ".5s",
        "5.s",
        "1e3s",
        "infs",
        "P",
        "PT",
        "P1DT",
        "P1M",
        "P1Y",
        "P1W",
        "-PT5S",
        "PT-5S",
        "PT5",
        "pt5s",
        "PT5H5H",
        "٥s",
        -1,
        -0.001,
        Decimal(-1),
        float("nan"),
        float("inf"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("Infinity"),
        Decimal("1e999999"),
        1e308,
        pytest.param(10**5000, id="a whole number of 5001 digits"),
        f"{LAST_MS + 1}ms",
        pytest.param("9" * 1_048_000 + "s", id="a million digits"),
        pytest.param("P" + "9" * 1_048_000 + "D", id="a million digits, ISO 8601"),
        True,
        False,
        None,
        [],
        {},
        b"5s",
    ],
)
def test_other_strings_are_not_durations(value: object) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        parse_duration(value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("span_ms", "text"),
    [(0, "0s"), (9_000, "9s"), (5_400_000, "1h30m"), (90_061_001, "1d1h1m1s1ms"), (DAY_MS * 40, "40d"), (999, "999ms")],
)
def test_a_span_is_shown_as_the_shortest_sum_of_units(span_ms: int, text: str) -> None:
    assert format_duration(span_ms) == text


@given(st.integers(0, LAST_MS))
def test_a_shown_span_reads_back(span_ms: int) -> None:
    assert parse_duration(format_duration(span_ms)) == span_ms


@given(st.timedeltas(timedelta(0), timedelta(days=10_000)))
def test_iso_8601_spans_read_as_their_length(span: timedelta) -> None:
    text = (
        f"P{span.days}DT{span.seconds // 3600}H{span.seconds // 60 % 60}M{span.seconds % 60}.{span.microseconds:06d}S"
    )
    assert parse_duration(text) == span // timedelta(milliseconds=1)
