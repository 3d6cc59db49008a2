"""Simulated time: an integer number of milliseconds since 1970-01-01T00:00:00Z.

The clock of a world is set explicitly and never read from the machine. Timestamps follow decision H10. Durations have
the format of the parameter `by` of the control API.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import ROUND_DOWN, Context, Decimal
from functools import lru_cache

from simulator.kernel.patterns import compile_late

SECOND_MS = 1_000
MINUTE_MS = 60 * SECOND_MS
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
MS_NS = 1_000_000
"""Nanoseconds in a millisecond."""

MODES = ("real", "manual", "scaled")
SLOWEST, FASTEST = Decimal("0.001"), Decimal(1_000_000)
"""The minimum and maximum rate of a scaled clock."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIMESTAMP = compile_late(
    r"(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-]\d{2}:?\d{2})", re.ASCII
)
_DATE = compile_late(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_SUM = compile_late(r"(?:\d+(?:ms|s|m|h|d))+", re.ASCII)
_PART = compile_late(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)", re.ASCII)
_ISO_DURATION = compile_late(
    r"P(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.ASCII
)
# A number that is too large becomes infinite, which `parse_duration` refuses. Values are never rounded up.
_CUT = Context(prec=40, rounding=ROUND_DOWN, traps=[])
_UNIT_MS = {"ms": 1, "s": SECOND_MS, "m": MINUTE_MS, "h": HOUR_MS, "d": DAY_MS}


class Clock:
    """The clock of one world. It never runs backwards."""

    __slots__ = ("mode", "now_ms", "rate")

    def __init__(self, now_ms: int, mode: str = "manual", rate: Decimal = Decimal(1)) -> None:
        self.now_ms = now_ms
        self.mode = mode
        self.rate = rate

    def move_to(self, at_ms: int) -> None:
        """Set the time. Raise `ValueError` if `at_ms` is earlier than the current time."""
        if at_ms < self.now_ms:
            raise ValueError("the clock never moves back")
        self.now_ms = at_ms


def to_ms(moment: datetime) -> int:
    """Return an aware datetime as milliseconds since the epoch, rounded down."""
    return (moment - _EPOCH) // timedelta(milliseconds=1)


def to_datetime(at_ms: int) -> datetime:
    """Return a time in milliseconds as an aware UTC datetime."""
    return _EPOCH + timedelta(milliseconds=at_ms)


LAST_MS = to_ms(datetime(9999, 1, 1, tzinfo=UTC)) - 1
"""The latest time that a clock may reach: the end of the year 9998."""


@lru_cache(maxsize=4096)
def format_timestamp(at_ms: int) -> str:
    """Return a time in milliseconds as `YYYY-MM-DDTHH:MM:SS.mmmZ` (decision H10)."""
    return to_datetime(at_ms).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def format_moment(at_ms: int | None) -> str | None:
    """Like `format_timestamp`, but return None for None."""
    return None if at_ms is None else format_timestamp(at_ms)


def parse_timestamp(text: str) -> int:
    """Parse an ISO 8601 timestamp with a time zone to milliseconds, truncated. Raise `ValueError` if it is invalid."""
    return parse_nanoseconds(text) // MS_NS


def parse_nanoseconds(text: str) -> int:
    """Parse an ISO 8601 timestamp with a time zone into exact nanoseconds. Raise `ValueError` if it is invalid."""
    match = _TIMESTAMP.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not an ISO 8601 timestamp with a time zone, such as 2026-01-05T08:00:00Z")
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    moment = datetime(int(year), int(month), int(day), int(hour), int(minute), int(second or 0), tzinfo=UTC)
    at_ms = to_ms(moment)
    if zone not in "Zz":
        digits = zone[1:].replace(":", "")
        hours, minutes = int(digits[:2]), int(digits[2:])
        if hours > 23 or minutes > 59:
            raise ValueError(f"not a zone offset: {zone!r}")
        offset_ms = hours * HOUR_MS + minutes * MINUTE_MS
        at_ms += -offset_ms if zone[0] == "+" else offset_ms
    return at_ms * MS_NS + int((fraction or "0").ljust(9, "0"))


def parse_date(text: str) -> int:
    """Return the start of a UTC day, given as YYYY-MM-DD, in milliseconds. Raise `ValueError` if it is invalid."""
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not a date; write YYYY-MM-DD")
    year, month, day = map(int, match.groups())
    return to_ms(datetime(year, month, day, tzinfo=UTC))


def parse_duration(value: object) -> int:
    """Parse a duration. Return milliseconds, truncated. Raise `ValueError` if it is invalid or negative.

    A duration is `500ms`, `20s`, `10m`, `2h30m`, `3d` or a sum of these, an ISO 8601 duration with days as the largest
    unit, or a number of seconds.
    """
    total = _duration(value)
    if total is None or not total.is_finite() or total < 0 or total > LAST_MS:
        raise ValueError(
            f"{str(value)[:40]!r} is not a duration; write it with units, such as 20s, 2h30m or PT90S, "
            "or as a JSON number of seconds"
        )
    return int(total)


def _duration(value: object) -> Decimal | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float | Decimal):
        return _CUT.multiply(Decimal(str(value)), SECOND_MS)
    if not isinstance(value, str) or not value:
        return None
    if _SUM.fullmatch(value):
        return _sum((number, _UNIT_MS[unit]) for number, unit in _PART.findall(value))
    match = _ISO_DURATION.fullmatch(value)
    if match is None or value.endswith(("P", "T")):
        return None
    scales = (DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS)
    return _sum((part, scale) for part, scale in zip(match.groups(), scales, strict=True) if part)


def _sum(parts: Iterable[tuple[str, int]]) -> Decimal:
    total = Decimal(0)
    for number, unit_ms in parts:
        total = _CUT.add(total, _CUT.multiply(Decimal(number), unit_ms))
    return total


def format_duration(span_ms: int) -> str:
    """Return a duration as the shortest sum of units: 9000 → `9s`, 5400000 → `1h30m`."""
    parts = []
    for unit in ("d", "h", "m", "s", "ms"):
        count, span_ms = divmod(span_ms, _UNIT_MS[unit])
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"
