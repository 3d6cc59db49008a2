"""Webhook signatures, for senders and receivers. Tools use them without a provider: this imports only the kernel."""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Mapping

from simulator.kernel.clock import format_duration
from simulator.kernel.dataclass import dataclass
from simulator.kernel.patterns import compile_late

_MILLISECONDS = compile_late(r"[0-9]{1,15}", re.ASCII)


@dataclass(frozen=True)
class Signature:
    """The webhook signature scheme of a service: header names, key prefixes, signed bytes and time tolerance."""

    timestamp_header: str
    """The header that contains the sending time, in milliseconds since 1970."""
    signature_header: str
    """The header that contains the signature."""
    signed_string: Callable[[str, bytes], bytes]
    """Returns the bytes to sign, given the value of the timestamp header and the raw body."""
    key_prefixes: Mapping[str, str]
    """The prefix of the webhook key, by environment."""
    tolerance_ms: int
    """The maximum difference between the timestamp and the receiver's clock."""

    def environment_of(self, key: str) -> str | None:
        """Return the environment that a webhook key belongs to, or None if its prefix is unknown."""
        return next((name for name, prefix in self.key_prefixes.items() if key.startswith(prefix)), None)

    def sign(self, key: str, timestamp: str, raw: bytes) -> str:
        """Return the HMAC-SHA256 of a timestamp and a raw body, computed with a webhook key, in hexadecimal."""
        return hmac.digest(key.encode(), self.signed_string(timestamp, raw), "sha256").hex()

    def headers(self, key: str, timestamp_ms: int, raw: bytes) -> tuple[tuple[str, str], ...]:
        """Return the timestamp header and the signature header for a request that is sent at `timestamp_ms`."""
        stamp = str(timestamp_ms)
        return (self.timestamp_header, stamp), (self.signature_header, self.sign(key, stamp, raw))

    def problem(self, headers: Mapping[str, str], raw: bytes, keys: Iterable[str], now_ms: float) -> str:
        """Return why a receiver must refuse a request at `now_ms`, or "". Header names must be in lower case."""
        stamp = headers.get(self.timestamp_header.lower(), "")
        signature = headers.get(self.signature_header.lower(), "")
        if not _MILLISECONDS.fullmatch(stamp) or not signature:
            return f"{self.timestamp_header} or {self.signature_header} is missing or malformed"
        expected = [self.sign(key, stamp, raw).encode() for key in keys]
        if not any(hmac.compare_digest(one, signature.encode()) for one in expected):
            signed = self.signed_string(f"<{self.timestamp_header}>", b"<raw body>").decode()
            return f"{self.signature_header} is not the HMAC-SHA256 of `{signed}` under the webhook key"
        if abs(now_ms - int(stamp)) > self.tolerance_ms:
            return (
                f"{self.timestamp_header} is more than {format_duration(self.tolerance_ms)} before or "
                "after the time of receipt"
            )
        return ""
