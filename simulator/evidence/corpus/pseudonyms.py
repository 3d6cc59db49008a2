"""Pseudonyms: replacements of the same form, equal for equal values within a recording.

They derive from a key that is never written, so nobody can compute them from a guessed value.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import string
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime

from simulator.evidence.corpus.known import known
from simulator.kernel.clock import format_timestamp
from simulator.service import TOOLING

REMOVED = "removed"
"""Replaces secrets, which have no pseudonym."""
_SECRET = re.compile(r"((?:sk|pk|tok|whk)_(?:test_|live_)?).*", re.DOTALL)
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:([Tt ])(\d\d):(\d\d)(?::(\d\d)([.,]\d{1,9})?)?(Z|z|[+-]\d\d:?\d\d)?)?", re.ASCII
)
_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT", re.ASCII)
_EMAIL = re.compile(r"([^@\s]+)@([^@\s]+\.[^@\s.]+)")
_URL = re.compile(r"(https?://)(.+)", re.DOTALL)
_HEX = re.compile(r"(0[xX])?([0-9a-f-]{8,}|[0-9A-F-]{8,})")
_KEPT_MARKS = frozenset(" .,:;/@+-_()&='\"\n\r\t\0")
_CLASSES = (string.digits, string.ascii_lowercase, string.ascii_uppercase)
_WEEK_MS = 7 * 24 * 3_600_000
_EPOCH_MS = 978_307_200_000
"""2001-01-01, a Monday. Recordings begin in this week."""


class Pseudonyms:
    """The pseudonyms and counters of one recording."""

    def __init__(self, key: bytes, *, hide_amounts: bool = False) -> None:
        self._key = key
        self.hides_amounts = hide_amounts
        self.start_ms: int | None = None
        """The time of the first exchange."""
        self._attempts: Counter[str] = Counter()

    def begin(self, at_ms: int) -> None:
        """Fix the start of the recording at its first exchange."""
        if self.start_ms is None:
            self.start_ms = at_ms

    @property
    def _shift_ms(self) -> int:
        """Whole weeks, so that weekdays and times of day stay: limits and schedules depend on them."""
        return ((self.start_ms or 0) - _EPOCH_MS) // _WEEK_MS * _WEEK_MS

    def moment(self, at_ms: int) -> str:
        return format_timestamp(at_ms - self._shift_ms)

    @classmethod
    def moving(cls, by_ms: int) -> Pseudonyms:
        """Return pseudonyms whose times are later by whole weeks, as many as a duration has."""
        made = cls(b"")
        made.begin(_EPOCH_MS - by_ms // _WEEK_MS * _WEEK_MS)
        return made

    def moved(self, text: str) -> str:
        """Return a time or a date in shifted time; any other text as it is."""
        return self._time(text) or text

    def attempt(self, key: str) -> int:
        self._attempts[key] += 1
        return self._attempts[key]

    def text(self, text: str) -> str:
        """Return the pseudonym of a string: a timestamp, an id, an address, a phone number, an e-mail address, a URL,
        a hash or any other text, each by its form.
        """
        if not text:
            return text
        if found := _SECRET.fullmatch(text):
            return found[1] + REMOVED
        return self._time(text) or self._of_form(text)

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
        drawn = self._drawing(text)
        if (special := TOOLING.samples().disguised(text, drawn)) is not None:
            return special
        if found := _URL.fullmatch(text):
            return f"{found[1]}{self._scrambled(found[2])[:8].strip('.:/')}.example.com/{drawn(6).hex()}"
        if found := _EMAIL.fullmatch(text):
            return f"{self._scrambled(found[1])}.{drawn(3).hex()}@example.com"
        prefix = next((one for one in known().prefixes if text.startswith(one)), "")
        return prefix + self._scrambled(text[len(prefix) :])

    def _drawing(self, text: str) -> Callable[[int], bytes]:
        """Return an endless source of bytes that only the key and the text decide."""
        count = 0

        def draw(length: int) -> bytes:
            nonlocal count
            drawn = b""
            while len(drawn) < length:
                count += 1
                drawn += hmac.digest(self._key, f"{count}\0".encode() + text.encode("utf-8", "surrogatepass"), "sha256")
            return drawn[:length]

        return draw

    def _scrambled(self, text: str) -> str:
        """Replace each letter and digit by another of its class, and unusual marks by asterisks."""
        found = _HEX.fullmatch(text)
        classes = (string.digits, "abcdef", "ABCDEF") if found else _CLASSES
        kept = len(found[1] or "") if found else 0
        stream = self._drawing(text)(2 * len(text))
        return text[:kept] + "".join(
            _replaced(one, stream[2 * at] << 8 | stream[2 * at + 1], classes)
            for at, one in enumerate(text[kept:], kept)
        )  # fmt: skip

    def digits(self, text: str) -> str:
        """Return a number of the same form. Zero and a leading zero stay."""
        stream = self._drawing(text)(len(text))
        first = next((at for at, one in enumerate(text) if one in "123456789"), -1)
        return "".join(
            one if not one.isdecimal() or (one == "0" and at < first) or first < 0
            else str(1 + stream[at] % 9) if at == first
            else str(stream[at] % 10)
            for at, one in enumerate(text)
        )  # fmt: skip


def _replaced(one: str, drawn: int, classes: tuple[str, ...]) -> str:
    for members, fallback in zip(classes, _CLASSES, strict=True):
        if one in fallback:
            return members[drawn % len(members)]
    if one.isalpha():
        return "é"
    return one if one in _KEPT_MARKS else "*"


def key_of(raw: bytes) -> bytes:
    """Return the key for a recording that is only read, so that reading it again gives the same pseudonyms."""
    return hashlib.sha256(b"corpus\0" + raw).digest()
