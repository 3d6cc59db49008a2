"""Pseudonyms: values that replace recorded values and have the same format. Within a recording, equal values get equal
pseudonyms.

Pseudonyms are derived from a secret key that is never saved. Without the key, nobody can test a guess by computing its
pseudonym.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import string
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from itertools import count
from typing import Any, TypeVar

from simulator.evidence.corpus.known import known
from simulator.kernel.clock import format_timestamp
from simulator.service import TOOLING

T = TypeVar("T")
REMOVED = "removed"
"""The replacement for secrets, which get no pseudonym."""
_SECRET = re.compile(r"((?:sk|pk|tok|whk)_(?:test_|live_)?).*", re.DOTALL)
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:([Tt ])(\d\d):(\d\d)(?::(\d\d)([.,]\d{1,9})?)?(Z|z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", re.ASCII)
_ADDRESS_OR_NUMBER = re.compile(r"\+?[A-Za-z0-9]{7,100}", re.ASCII)
_EMAIL = re.compile(r"([^@\s]+)@([^@\s]+\.[^@\s.]+)")
_URL = re.compile(r"(https?://)(.+)", re.DOTALL)
_HEX = re.compile(r"(0[xX])?([0-9a-f-]{8,}|[0-9A-F-]{8,})")
_KEPT_MARKS = frozenset(" .,:;/@+-_()&='\"\n\r\t\0")
_CLASSES = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_MEMBERS = {one: (members * 26)[:256] for members in _CLASSES for one in members}
"""For each letter and digit, a table that maps a byte to a character of the same class."""
_HEX_MEMBERS = {one: (members[:6] * 43)[:256] for members in _CLASSES for one in members} | {
    one: _MEMBERS[one] for one in string.digits
}
_REMEMBERED = 20_000
"""The number of cached pseudonyms. A recording repeats ids and messages."""
_LONGEST_REMEMBERED = 200
_WEEK_MS = 7 * 24 * 3_600_000
_EPOCH_MS = 978_307_200_000
"""2001-01-01, a Monday. Recordings start in this week."""


class Pseudonyms:
    """Creates the pseudonyms in one recording, and counts repeated attempts of a call. The default key is random."""

    def __init__(self, key: bytes = b"", *, hide_amounts: bool = False) -> None:
        self._key = key or secrets.token_bytes(32)
        self.hides_amounts = hide_amounts
        self.start_ms: int | None = None
        """The time of the first exchange."""
        self._attempts: Counter[str] = Counter()
        self._shown: dict[tuple[str, ...], Any] = {}

    def once(self, show: Callable[..., T], *given: str) -> T:
        """Call `show` with the strings in `given`, and return its result. The result is cached, because strings such as
        headers occur many times in a recording.
        """
        key = (show.__name__, *given)
        if (found := self._shown.get(key)) is not None:
            shown: T = found
            return shown
        shown = show(*given, self)
        if sum(map(len, given)) <= _LONGEST_REMEMBERED:
            if len(self._shown) >= _REMEMBERED:
                self._shown.clear()
            self._shown[key] = shown
        return shown

    def begin(self, at_ms: int) -> None:
        """Set the start time of the recording, unless it is already set."""
        if self.start_ms is None:
            self.start_ms = at_ms

    @property
    def _shift_ms(self) -> int:
        """The number of milliseconds by which times are shifted, a multiple of one week. A shift by whole weeks
        preserves weekdays and times of day, on which limits and schedules depend.
        """
        return ((self.start_ms or 0) - _EPOCH_MS) // _WEEK_MS * _WEEK_MS

    def moment(self, at_ms: int) -> str:
        return format_timestamp(at_ms - self._shift_ms)

    @classmethod
    def moving(cls, by_ms: int) -> Pseudonyms:
        """Return an object that only shifts times. The shift is `by_ms`, rounded down to whole weeks."""
        made = cls(b"")
        made.begin(_EPOCH_MS - by_ms // _WEEK_MS * _WEEK_MS)
        return made

    def moved(self, text: str) -> str:
        """If the string is a time or a date, return it shifted. Return any other string unchanged."""
        return self._time(text) or text

    def attempt(self, key: str) -> int:
        self._attempts[key] += 1
        return self._attempts[key]

    def text(self, text: str) -> str:
        """Return the pseudonym of a string. The format determines the pseudonym: a timestamp, an id, an address, a
        phone number, an e-mail address, a URL, a hash, or other text.
        """
        return self.once(_pseudonym, text)

    def _time(self, text: str) -> str | None:
        if found := _TIME.fullmatch(text):
            year, month, day, mark, hour, minute, second, fraction, zone = found.groups()
            with suppress(ValueError, OverflowError):
                moment = datetime(*map(int, (year, month, day, hour or 0, minute or 0, second or 0)))  # type: ignore[arg-type]  # noqa: DTZ001
                moved = moment - timedelta(milliseconds=self._shift_ms)
                date = f"{moved.year:04}-{moved.month:02}-{moved.day:02}"
                clock = "" if mark is None else f"{mark}{hour}:{minute}{f':{second}' if second else ''}"
                return date + clock + (fraction or "") + (zone or "")
        if _HTTP_DATE.fullmatch(text):
            with suppress(ValueError, OverflowError):
                moved = parsedate_to_datetime(text) - timedelta(milliseconds=self._shift_ms)
                return format_datetime(moved.astimezone(UTC), usegmt=True)
        return None

    def _of_form(self, text: str) -> str:
        if _ADDRESS_OR_NUMBER.fullmatch(text):
            counts = count(1)  # each draw returns other bytes
            special = TOOLING.samples().disguised(text, lambda length: self._bytes(f"{next(counts)}\0{text}", length))
            if special is not None:
                return special
        if found := _URL.fullmatch(text):
            return f"{found[1]}{self._scrambled(found[2])[:8].strip('.:/')}.example.com/{self._bytes(text, 6).hex()}"
        if found := _EMAIL.fullmatch(text):
            return f"{self._scrambled(found[1])}.{self._bytes(text, 3).hex()}@example.com"
        prefix = known().prefix_of(text)
        return prefix + self._scrambled(text[len(prefix) :])

    def _bytes(self, text: str, length: int) -> bytes:
        """Return bytes that depend only on the key and the string."""
        return hashlib.shake_256(self._key + text.encode("utf-8", "surrogatepass")).digest(length)

    def _scrambled(self, text: str) -> str:
        """Replace each letter with another letter, each digit with another digit, and unusual punctuation with
        asterisks.
        """
        found = _HEX.fullmatch(text)
        start, members = (found[1] or "", _HEX_MEMBERS) if found else ("", _MEMBERS)
        rest = text[len(start) :]
        return start + "".join(
            [
                choices[drawn] if (choices := members.get(one)) else _of_no_class(one)
                for one, drawn in zip(rest, self._bytes(text, len(rest)), strict=True)
            ]
        )

    def digits(self, text: str) -> str:
        """Return the pseudonym of a number, in the same format. Zero, leading zeros and the exponent are preserved."""
        mantissa, mark, exponent = text.upper().partition("E")
        rest = mantissa.lstrip("-+0.")
        if not rest:
            return text
        drawn = self._bytes(text, len(rest))
        shown = str(1 + drawn[0] % 9) + "".join(
            [str(byte % 10) if one.isdecimal() else one for one, byte in zip(rest[1:], drawn[1:], strict=True)]
        )
        return mantissa[: len(mantissa) - len(rest)] + shown + mark + exponent


def _pseudonym(text: str, pseudonyms: Pseudonyms) -> str:
    found = _SECRET.fullmatch(text)
    return found[1] + REMOVED if found else pseudonyms._time(text) or pseudonyms._of_form(text)


def _of_no_class(one: str) -> str:
    if one in _KEPT_MARKS:
        return one
    return "é" if one.isalpha() else "*"


def key_of(raw: bytes) -> bytes:
    """Return the key for the pseudonyms of an existing recording, such as a HAR file. The key is derived from the
    content, so the same file always gets the same pseudonyms.
    """
    return hashlib.sha256(b"corpus\0" + raw).digest()
