"""Requests that a receiver must accept or refuse, by rule. `contracts/webhook-vectors.json` contains them as data for
verifiers in any language.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from simulator.engine.rows.signing import Signing
from simulator.engine.text.json import JsonObject, dumps
from simulator.engine.webhooks import signed_headers
from simulator.kernel.clock import HOUR_MS, parse_timestamp
from simulator.kernel.dataclass import dataclass, replace

LARGE_BYTES = 200_000
UNICODE = "Zoë Müller, 東京 → Kraków 🙂"

Headers = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One request and the verdict that a receiver must reach."""

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

    def genuine(self, what: str, body: bytes, reason: str, *, ahead_ms: int = 0) -> Case:
        return Case(what, self._headers(self.key, body, ahead_ms), body, True, reason)

    def forgery(
        self, what: str, reason: str, *, body: bytes | None = None, key: str = "", ahead_ms: int = 0,
        signed: bytes | None = None, signature: Callable[[str], str | None] = str,
    ) -> Case:  # fmt: skip
        """Return a forged event. `key` and `signed` replace the key and the bytes used for its signature. `signature`
        returns the header that replaces this signature, or None to remove the header.
        """
        body = dumps(self.forged()) if body is None else body
        headers = self._headers(key or self.key, body if signed is None else signed, ahead_ms)
        case = Case(what, headers, body, False, reason)
        return with_header(case, self.signed, signature(dict(headers)[self.signed]))

    def _headers(self, key: str, signed: bytes, ahead_ms: int) -> Headers:
        return signed_headers(self.signing.signature, key, self.now_ms() + ahead_ms, signed)


def valid_event(material: Material) -> Iterator[Case]:
    yield material.genuine(
        "an event, signed", dumps(material.event()), "signed with the key over the bytes of the body"
    )


def unknown_signature(material: Material) -> Iterator[Case]:
    stranger = f"{next(iter(material.signing.signature.key_prefixes.values()))}of_somebody_else"
    yield material.forgery("a forged event, signed with a stranger's key", "another key", key=stranger)
    what, reason = "a forged event with the first 8 digits of its signature", "not the whole signature"
    yield material.forgery(what, reason, signature=lambda right: right[:8])
    what, reason = "a forged event with 64 zeros as its signature", "not the HMAC of this body"
    yield material.forgery(what, reason, signature=lambda right: "0" * 64)


def half_signature(material: Material) -> Iterator[Case]:
    for right, what in (
        (slice(32), "only the first half of its signature correct"),
        (slice(32, None), "only the second half of its signature correct"),
        (slice(-1), "a wrong last digit in its signature"),
    ):
        signature = partial(_with_only, right)
        yield material.forgery(f"a forged event with {what}", "not the whole signature", signature=signature)


def missing_signature(material: Material) -> Iterator[Case]:
    what = "a forged event without X-Signature"
    yield material.forgery(what, "X-Signature is missing", signature=lambda right: None)
    what = "a forged event with an empty X-Signature"
    yield material.forgery(what, "X-Signature is empty", signature=lambda right: "")


def stale_timestamp(material: Material) -> Iterator[Case]:
    yield material.forgery("a recorded event, signed an hour ago and replayed", "an hour old", ahead_ms=-HOUR_MS)


def future_timestamp(material: Material) -> Iterator[Case]:
    what = "an event with a timestamp an hour from now"
    yield material.forgery(what, "an hour ahead of the clock", ahead_ms=HOUR_MS)


def missing_timestamp(material: Material) -> Iterator[Case]:
    reason = "X-Timestamp is missing"
    yield with_header(material.forgery("an event without X-Timestamp", reason), material.timestamp, None)
    for text in ("", "undefined", "None", "null"):
        # The value that a program gets for a missing header if it does not check for one.
        case = material.forgery(f'an event without X-Timestamp, signed over "{text}.<body>"', reason)
        yield with_header(resigned(case, material, text), material.timestamp, None)
    case = material.forgery("an event without X-Timestamp, signed over the body alone", reason)
    bare = hmac.digest(material.key.encode(), case.body, "sha256").hex()
    yield with_header(with_header(case, material.signed, bare), material.timestamp, None)


def garbled_timestamp(material: Material) -> Iterator[Case]:
    for text in ("yesterday", "NaN"):
        reason = "X-Timestamp is not a number, so it is not within five minutes"
        case = material.forgery(f'an event with a signed X-Timestamp of "{text}"', reason)
        yield with_header(resigned(case, material, text), material.timestamp, text)


def timestamp_edge(material: Material) -> Iterator[Case]:
    tolerance_ms = material.signing.signature.tolerance_ms
    inside, outside = tolerance_ms - material.slack_ms, tolerance_ms + max(material.slack_ms, 1)
    for sign_of, side in ((-1, "old"), (1, "ahead of the clock")):
        at = f"{_seconds(inside)} {side}"
        what, reason = f"an event {at}, within the five minutes", f"{at}: not more than five minutes"
        yield material.genuine(what, dumps(material.event()), reason, ahead_ms=sign_of * inside)
        at = f"{_seconds(outside)} {side}"
        what, reason = f"an event {at}, more than five minutes", f"{at}: more than five minutes"
        yield material.forgery(what, reason, ahead_ms=sign_of * outside)


def other_environment_key(material: Material) -> Iterator[Case]:
    event, environment = material.forged(), material.signing.signature.environment_of(material.other_key) or ""
    at_ms, shown = parse_timestamp(event["created_at"]), event["data"]["object"]
    body = material.signing.envelope(event["id"], event["type"], at_ms, environment, shown)
    what, reason = "an event signed with the key of the other environment", "the key of the other environment"
    yield material.forgery(what, reason, body=dumps(body), key=material.other_key)


def altered_body(material: Material) -> Iterator[Case]:
    reason = "the body is not the signed one"
    event = material.forged()
    other = with_object(event, **{material.altered: f"9{event['data']['object'][material.altered]}"})
    what = "an event whose amount was changed in transit"
    yield material.forgery(what, reason, body=dumps(other), signed=dumps(event))
    event = material.forged()
    other = {**event, "id": f"{event['id']}x"}
    yield material.forgery("an event whose id was changed in transit", reason, body=dumps(other), signed=dumps(event))


def reserialised_body(material: Material) -> Iterator[Case]:
    reason = "the same JSON, but not the signed bytes"
    event = material.forged()
    spaced, compact = json.dumps(event, ensure_ascii=False).encode(), dumps(event)
    yield material.forgery("an event with spaces added after signing", reason, body=spaced, signed=compact)
    event = material.forged()
    spaced, compact = json.dumps(event).encode(), dumps(event)
    yield material.forgery("an event with spaces removed after signing", reason, body=compact, signed=spaced)
    body = json.dumps(material.event(), indent=2, ensure_ascii=False).encode()
    yield material.genuine("an indented event, signed in this form", body, "signed as it is")


def trimmed_body(material: Material) -> Iterator[Case]:
    reason = "the body is not the signed one"
    signed = dumps(material.forged())
    yield material.forgery("an event with a line end added after signing", reason, body=signed + b"\n", signed=signed)
    signed = dumps(material.forged())
    yield material.forgery("an event with a space prepended after signing", reason, body=b" " + signed, signed=signed)
    body = dumps(material.event()) + b"\n"
    yield material.genuine("an event with a signed line end after the JSON", body, "signed with its line end")


def unicode_body(material: Material) -> Iterator[Case]:
    body = dumps(with_object(material.event(), sender_name=UNICODE))
    yield material.genuine("an event with letters of many scripts, in UTF-8", body, "signed as UTF-8 bytes")
    body = json.dumps(with_object(material.event(), sender_name=UNICODE), separators=(",", ":")).encode()
    yield material.genuine("the same letters as \\u escapes", body, "signed with its escapes")


def large_body(material: Material) -> Iterator[Case]:
    body = dumps(with_object(material.event(), note="x" * LARGE_BYTES))
    yield material.genuine(f"an event of {len(body) // 1000} kB", body, "any length is valid")


SIGNING: Mapping[str, Callable[[Material], Iterator[Case]]] = {
    cases.__name__.replace("_", "-"): cases
    for cases in (
        valid_event, unknown_signature, half_signature, missing_signature, stale_timestamp, future_timestamp,
        missing_timestamp, garbled_timestamp, timestamp_edge, other_environment_key, altered_body, reserialised_body,
        trimmed_body, unicode_body, large_body,
    )
}  # fmt: skip
"""The requests for each rule that depends only on the signature check, by the name of the rule."""


def with_header(case: Case, name: str, value: str | None) -> Case:
    """Return a case with a different value for a header, or without the header if the value is None."""
    headers = [(one, value if one == name else own) for one, own in case.headers]
    return replace(case, headers=tuple((one, own) for one, own in headers if own is not None))


def resigned(case: Case, material: Material, stamp: str) -> Case:
    """Return a case whose signature covers a different timestamp (`stamp`) from the one in its header."""
    return with_header(case, material.signed, material.signing.signature.sign(material.key, stamp, case.body))


def with_object(event: JsonObject, **members: object) -> JsonObject:
    """Return an event whose object has these values in the given fields."""
    return {**event, "data": {"object": {**event["data"]["object"], **members}}}


def _with_only(right: slice, signature: str) -> str:
    """Return a signature in which only the digits at `right` are correct."""
    wrong = [f"{15 - int(digit, 16):x}" for digit in signature]
    wrong[right] = signature[right]
    return "".join(wrong)


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:g} s" if milliseconds % 1000 == 0 else f"{milliseconds} ms"
