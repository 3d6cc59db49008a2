"""Requests that a receiver must accept or refuse, by rule.

`rampsim certify` sends these requests. `contracts/webhook-vectors.json` contains them as data for verifiers in any
language.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterator, Mapping

from simulator.engine.rows.signing import Signing
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.webhooks import signed_headers
from simulator.kernel.clock import HOUR_MS, parse_timestamp
from simulator.kernel.copying import replace
from simulator.kernel.dataclass import dataclass

LARGE_BYTES = 200_000
UNICODE = "Zoë Müller, 東京 → Kraków 🙂"

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One request and the verdict that a receiver must reach."""

    rule: str
    what: str
    """A description of the request."""
    headers: Headers
    body: bytes
    genuine: bool
    """Whether a receiver must accept the request."""
    reason: str
    """The reason why a receiver must accept or refuse the request."""


@dataclass(frozen=True)
class Material:
    """The keys, clock and events that are used to build requests."""

    signing: Signing
    key: str
    """The receiver's webhook key."""
    other_key: str
    """The key for the other environment."""
    now_ms: Callable[[], int]
    """The receiver's clock."""
    event: Callable[[], JsonObject]
    """Returns a genuine event."""
    forged: Callable[[], JsonObject]
    """Returns an event about a payment that was never made."""
    altered: str
    """A string field in the objects of events."""
    slack_ms: int = 0
    """The distance between the tested timestamps and the limit of the time window. 0 tests the limit itself."""

    @property
    def timestamp(self) -> str:
        """The name of the timestamp header."""
        return self.signing.signature.timestamp_header

    @property
    def signed(self) -> str:
        """The name of the signature header."""
        return self.signing.signature.signature_header

    @property
    def stranger(self) -> str:
        """The webhook key of another account."""
        return f"{next(iter(self.signing.signature.key_prefixes.values()))}of_somebody_else"

    def genuine(self, rule: str, what: str, body: bytes, reason: str, *, ahead_ms: int = 0) -> Case:
        headers = signed_headers(self.signing.signature, self.key, self.now_ms() + ahead_ms, body)
        return Case(rule, what, headers, body, True, reason)

    def forgery(
        self, rule: str, what: str, reason: str, *, body: bytes | None = None, key: str = "", ahead_ms: int = 0,
        signed: bytes | None = None,
    ) -> Case:  # fmt: skip
        """Return a forged event. `key` and `signed` replace the key and the bytes used for its signature."""
        body = dumps(self.forged()) if body is None else body
        headers = signed_headers(
            self.signing.signature, key or self.key, self.now_ms() + ahead_ms, body if signed is None else signed
        )
        return Case(rule, what, headers, body, False, reason)


def valid_event(material: Material) -> Iterator[Case]:
    body = dumps(material.event())
    yield material.genuine("valid-event", "an event, signed", body, "signed with the key over the bytes of the body")


def unknown_signature(material: Material) -> Iterator[Case]:
    rule = "unknown-signature"
    yield material.forgery(rule, "a forged event, signed with a stranger's key", "another key", key=material.stranger)
    case = material.forgery(rule, "a forged event with the first 8 digits of its signature", "not the whole signature")
    yield with_header(case, material.signed, header_of(case, material.signed)[:8])
    case = material.forgery(rule, "a forged event with 64 zeros as its signature", "not the HMAC of this body")
    yield with_header(case, material.signed, "0" * 64)


def half_signature(material: Material) -> Iterator[Case]:
    rule, reason = "half-signature", "not the whole signature"
    case = material.forgery(rule, "a forged event with only the first half of its signature correct", reason)
    right = header_of(case, material.signed)
    yield with_header(case, material.signed, right[:32] + _other_digits(right[32:]))
    case = material.forgery(rule, "a forged event with only the second half of its signature correct", reason)
    right = header_of(case, material.signed)
    yield with_header(case, material.signed, _other_digits(right[:32]) + right[32:])
    case = material.forgery(rule, "a forged event with a wrong last digit in its signature", reason)
    right = header_of(case, material.signed)
    yield with_header(case, material.signed, right[:-1] + _other_digits(right[-1:]))


def missing_signature(material: Material) -> Iterator[Case]:
    case = material.forgery("missing-signature", "a forged event without X-Signature", "X-Signature is missing")
    yield with_header(case, material.signed, None)
    case = material.forgery("missing-signature", "a forged event with an empty X-Signature", "X-Signature is empty")
    yield with_header(case, material.signed, "")


def stale_timestamp(material: Material) -> Iterator[Case]:
    what = "a recorded event, signed an hour ago and replayed"
    yield material.forgery("stale-timestamp", what, "an hour old", ahead_ms=-HOUR_MS)


def future_timestamp(material: Material) -> Iterator[Case]:
    what = "an event with a timestamp an hour from now"
    yield material.forgery("future-timestamp", what, "an hour ahead of the clock", ahead_ms=HOUR_MS)


def missing_timestamp(material: Material) -> Iterator[Case]:
    rule, reason = "missing-timestamp", "X-Timestamp is missing"
    yield with_header(material.forgery(rule, "an event without X-Timestamp", reason), material.timestamp, None)
    for text in ("", "undefined", "None", "null"):
        # The value that a program gets for a missing header if it does not check for one.
        case = material.forgery(rule, f'an event without X-Timestamp, signed over "{text}.<body>"', reason)
        yield with_header(resigned(case, material, text), material.timestamp, None)
    case = material.forgery(rule, "an event without X-Timestamp, signed over the body alone", reason)
    bare = hmac.digest(material.key.encode(), case.body, "sha256").hex()
    yield with_header(with_header(case, material.signed, bare), material.timestamp, None)


def garbled_timestamp(material: Material) -> Iterator[Case]:
    for text in ("yesterday", "NaN"):
        reason = "X-Timestamp is not a number, so it is not within five minutes"
        case = material.forgery("garbled-timestamp", f'an event with a signed X-Timestamp of "{text}"', reason)
        yield with_header(resigned(case, material, text), material.timestamp, text)


def timestamp_edge(material: Material) -> Iterator[Case]:
    rule = "timestamp-edge"
    tolerance_ms = material.signing.signature.tolerance_ms
    inside, outside = tolerance_ms - material.slack_ms, tolerance_ms + max(material.slack_ms, 1)
    for sign_of, side in ((-1, "old"), (1, "ahead of the clock")):
        what = f"an event {_seconds(inside)} {side}, within the five minutes"
        yield material.genuine(
            rule, what, dumps(material.event()), f"{_seconds(inside)} {side}: not more than five minutes",
            ahead_ms=sign_of * inside,
        )  # fmt: skip
        what = f"an event {_seconds(outside)} {side}, more than five minutes"
        reason = f"{_seconds(outside)} {side}: more than five minutes"
        yield material.forgery(rule, what, reason, ahead_ms=sign_of * outside)


def altered_body(material: Material) -> Iterator[Case]:
    rule, reason = "altered-body", "the body is not the signed one"
    event = material.forged()
    other = with_object(event, **{material.altered: f"9{event['data']['object'][material.altered]}"})
    what = "an event whose amount was changed in transit"
    yield material.forgery(rule, what, reason, body=dumps(other), signed=dumps(event))
    event = material.forged()
    other = {**event, "id": f"{event['id']}x"}
    what = "an event whose id was changed in transit"
    yield material.forgery(rule, what, reason, body=dumps(other), signed=dumps(event))


def reserialised_body(material: Material) -> Iterator[Case]:
    rule, reason = "reserialised-body", "the same JSON, but not the signed bytes"
    event = material.forged()
    spaced, compact = json.dumps(event, ensure_ascii=False).encode(), dumps(event)
    yield material.forgery(rule, "an event with spaces added after signing", reason, body=spaced, signed=compact)
    event = material.forged()
    spaced, compact = json.dumps(event).encode(), dumps(event)
    yield material.forgery(rule, "an event with spaces removed after signing", reason, body=compact, signed=spaced)
    body = json.dumps(material.event(), indent=2, ensure_ascii=False).encode()
    yield material.genuine(rule, "an indented event, signed in this form", body, "signed as it is")


def trimmed_body(material: Material) -> Iterator[Case]:
    rule, reason = "trimmed-body", "the body is not the signed one"
    signed = dumps(material.forged())
    yield material.forgery(
        rule, "an event with a line end added after signing", reason, body=signed + b"\n", signed=signed
    )
    signed = dumps(material.forged())
    yield material.forgery(
        rule, "an event with a space prepended after signing", reason, body=b" " + signed, signed=signed
    )
    body = dumps(material.event()) + b"\n"
    yield material.genuine(rule, "an event with a signed line end after the JSON", body, "signed with its line end")


def unicode_body(material: Material) -> Iterator[Case]:
    rule = "unicode-body"
    body = dumps(with_object(material.event(), sender_name=UNICODE))
    yield material.genuine(rule, "an event with letters of many scripts, in UTF-8", body, "signed as UTF-8 bytes")
    body = json.dumps(with_object(material.event(), sender_name=UNICODE), separators=(",", ":")).encode()
    yield material.genuine(rule, "the same letters as \\u escapes", body, "signed with its escapes")


def large_body(material: Material) -> Iterator[Case]:
    body = dumps(with_object(material.event(), note="x" * LARGE_BYTES))
    yield material.genuine("large-body", f"an event of {len(body) // 1000} kB", body, "any length is valid")


def other_environment_key(material: Material) -> Iterator[Case]:
    event, environment = material.forged(), material.signing.signature.environment_of(material.other_key) or ""
    at_ms, shown = parse_timestamp(event["created_at"]), event["data"]["object"]
    body = material.signing.envelope(event["id"], event["type"], at_ms, environment, shown)
    yield material.forgery(
        "other-environment-key", "an event signed with the key of the other environment",
        "the key of the other environment", body=dumps(body), key=material.other_key,
    )  # fmt: skip


SIGNING: Mapping[str, Callable[[Material], Iterator[Case]]] = {
    "valid-event": valid_event,
    "unknown-signature": unknown_signature,
    "half-signature": half_signature,
    "missing-signature": missing_signature,
    "stale-timestamp": stale_timestamp,
    "future-timestamp": future_timestamp,
    "missing-timestamp": missing_timestamp,
    "garbled-timestamp": garbled_timestamp,
    "timestamp-edge": timestamp_edge,
    "other-environment-key": other_environment_key,
    "altered-body": altered_body,
    "reserialised-body": reserialised_body,
    "trimmed-body": trimmed_body,
    "unicode-body": unicode_body,
    "large-body": large_body,
}
"""The requests for each rule that depends only on the signature check."""


def with_header(case: Case, name: str, value: str | None) -> Case:
    """Return a case with a different value for a header, or without the header if the value is None."""
    headers = [(one, value if one == name else own) for one, own in case.headers]
    return replace(case, headers=tuple((one, own) for one, own in headers if own is not None))


def header_of(case: Case, name: str) -> str:
    return next(value for one, value in case.headers if one == name)


def resigned(case: Case, material: Material, stamp: str) -> Case:
    """Return a case whose signature covers a different timestamp (`stamp`) from the one in its header."""
    return with_header(case, material.signed, material.signing.signature.sign(material.key, stamp, case.body))


def with_object(event: JsonObject, **members: object) -> JsonObject:
    """Return an event whose object has these values in the given fields."""
    return {**event, "data": {"object": {**event["data"]["object"], **members}}}


def _other_digits(digits: str) -> str:
    """Return hexadecimal digits that differ from the given digits in every position."""
    return "".join(f"{15 - int(digit, 16):x}" for digit in digits)


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:g} s" if milliseconds % 1000 == 0 else f"{milliseconds} ms"
