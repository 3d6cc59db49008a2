"""Schedules of recurring payments: dates from calendar arithmetic, times from pinned time zone tables (section
"Recurring payments"; decision S19).

Dates are numbered from 0. Each date, and the number of dates before a day, is calculated without a search. Time zones
come from the `tzdata` package and not from the machine, so every installation calculates the same times.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from importlib import resources
from typing import Literal, get_args
from zoneinfo import ZoneInfo

from simulator.kernel.clock import to_datetime, to_ms
from simulator.kernel.dataclass import dataclass

Frequency = Literal["daily", "weekly", "biweekly", "monthly"]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
EndType = Literal["never", "on_date", "after_occurrences"]

FREQUENCY_MEANINGS = {
    "daily": "Every day.",
    "weekly": "Every week, on `day_of_week`.",
    "biweekly": "Every second week, on `day_of_week`.",
    "monthly": "Every month, on `day_of_month`.",
}
END_MEANINGS = {
    "never": "The runs continue until the payment is paused or deleted.",
    "on_date": "The last run is on or before `date`.",
    "after_occurrences": "The runs end after `occurrences` runs.",
}
WEEKDAY_MEANINGS = {day: f"Every {day.capitalize()}." for day in get_args(Weekday)}

WEEKDAYS: tuple[str, ...] = get_args(Weekday)
DEFAULT_TIME = "09:00"
DEFAULT_TIMEZONE = "Africa/Nairobi"

_STEP_DAYS = {"daily": 1, "weekly": 7, "biweekly": 14}
_LAST_YEAR = 9998


@dataclass(frozen=True, slots=True)
class Schedule:
    """The schedule of a recurring payment, with its default values filled in."""

    frequency: Frequency
    start_date: str
    """A local date, YYYY-MM-DD."""
    time: str
    """A local time, HH:MM."""
    timezone: str
    end: EndType
    day_of_week: Weekday | None = None
    day_of_month: int | None = None
    end_date: str | None = None
    """A local date, YYYY-MM-DD. Set if the end is on_date."""
    occurrences: int | None = None
    """The number of runs. Set if the end is after_occurrences."""

    def date_at(self, index: int) -> date | None:
        """Return the date of the run with this index, or None after the end date or the last supported year."""
        start = date.fromisoformat(self.start_date)
        try:
            found = self._monthly(start, index) if self.frequency == "monthly" else self._by_days(start, index)
        except (OverflowError, ValueError):
            return None
        if found.year > _LAST_YEAR or (self.end_date is not None and found.isoformat() > self.end_date):
            return None
        return found

    def _by_days(self, start: date, index: int) -> date:
        return start + timedelta(days=self._lead_days(start) + _STEP_DAYS[self.frequency] * index)

    def _lead_days(self, start: date) -> int:
        """Return the number of days from the start date to the first run, if the runs are days or weeks apart."""
        return 0 if self.frequency == "daily" else (WEEKDAYS.index(self.day_of_week or "") - start.weekday()) % 7

    def _monthly(self, start: date, index: int) -> date:
        # Always calculated from the start month. If a month were added to the previous date, the 31st would become the
        # 28th for good.
        first = start.year * 12 + start.month - 1
        if _day_in_month(first, self.day_of_month or 1) < start:
            first += 1
        return _day_in_month(first + index, self.day_of_month or 1)

    def moment_at(self, index: int) -> int | None:
        """Return the UTC time, in milliseconds, of the date with this number, or None if there is no such date."""
        found = self.date_at(index)
        return None if found is None else local_ms(found, self.time, self.timezone)

    def first_index(self, at_ms: int) -> int:
        """Return the number of the first date at or after `at_ms`. The end of the schedule is ignored."""
        # The estimate starts one or two dates too early, because a local time that does not exist can move to the next
        # day. The loop below therefore needs only a few steps.
        day = today(self.timezone, at_ms)
        start = date.fromisoformat(self.start_date)
        if self.frequency == "monthly":
            index = (day.year - start.year) * 12 + day.month - start.month - 2
        else:
            index = ((day - start).days - self._lead_days(start)) // _STEP_DAYS[self.frequency] - 1
        index = max(index, 0)
        while (moment := self.moment_at(index)) is not None and moment < at_ms:
            index += 1
        return index

    @lru_cache(maxsize=1024)  # noqa: B019  (a schedule is a value, and payments with the same schedule are common)
    def moments(self, at_ms: int, count: int) -> tuple[int, ...]:
        """Return the UTC times of up to `count` runs at or after `at_ms`, in milliseconds, ignoring `occurrences`."""
        first = self.first_index(at_ms)
        found = (self.moment_at(first + offset) for offset in range(count))
        return tuple(moment for moment in found if moment is not None)

    def count_from(self, at_ms: int) -> int:
        """Return the number of dates that remain at or after a time. The schedule must have an end date."""
        first = self.first_index(at_ms)
        if self.end_date is None or self.date_at(first) is None:
            return 0
        end = date.fromisoformat(min(self.end_date, f"{_LAST_YEAR}-12-31"))
        start = date.fromisoformat(self.start_date)
        if self.frequency == "monthly":
            last = (end.year - start.year) * 12 + end.month - start.month
        else:
            last = (end - start).days // _STEP_DAYS[self.frequency]
        while last >= first and self.date_at(last) is None:
            last -= 1
        return last - first + 1

    def summary(self) -> str:
        """Return the schedule as a sentence, such as `Every month on day 31 (or the last day) at 09:00 …`."""
        return f"{self._rhythm()} at {self.time} ({self.timezone}), starting {self.start_date}, {self._ending()}."

    def _rhythm(self) -> str:
        weekday = (self.day_of_week or "").capitalize()
        if self.frequency == "daily":
            return "Every day"
        if self.frequency == "weekly":
            return f"Every {weekday}"
        if self.frequency == "biweekly":
            return f"Every second {weekday}"
        day = self.day_of_month or 1
        return f"Every month on day {day}" + (" (the last day in shorter months)" if day > 28 else "")

    def _ending(self) -> str:
        if self.end == "on_date":
            return f"until {self.end_date}"
        if self.end == "after_occurrences":
            return "once" if self.occurrences == 1 else f"{self.occurrences} times"
        return "with no end"


def _day_in_month(month: int, day: int) -> date:
    """Return the date of a day, or the last day, in a month with the number year * 12 + (month - 1)."""
    year, month_index = divmod(month, 12)
    return date(year, month_index + 1, min(day, monthrange(year, month_index + 1)[1]))


@lru_cache(maxsize=4096)  # many runs have the same time of day: 0.2 µs with this cache, 3 µs without
def local_ms(day: date, clock_time: str, timezone: str) -> int:
    """Return the UTC time of a local date and time (HH:MM), in milliseconds.

    A local time that does not exist is moved forward by the length of the gap. If a local time occurs twice, the first
    occurrence is used. Both follow from using the UTC offset before the clock change (fold 0).
    """
    local = datetime.combine(day, time.fromisoformat(clock_time), tzinfo=zone(timezone))
    return to_ms(local.astimezone(UTC))


def today(timezone: str, now_ms: int) -> date:
    """Return the local date in a time zone at the given time."""
    return to_datetime(now_ms).astimezone(zone(timezone)).date()


@lru_cache(maxsize=1)
def zone_names() -> frozenset[str]:
    """Return the IANA names of all time zones."""
    return frozenset(resources.files("tzdata").joinpath("zones").read_text("ascii").split())


@lru_cache(maxsize=64)
def zone(name: str) -> ZoneInfo:
    """Return the time zone with the given IANA name. Raise `KeyError` if the name is unknown."""
    if name not in zone_names():
        raise KeyError(name)
    with resources.files("tzdata").joinpath("zoneinfo", *name.split("/")).open("rb") as data:
        return ZoneInfo.from_file(data, key=name)
