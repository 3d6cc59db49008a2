"""The rules of `rampsim certify`, in the order in which they are checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simulator.certification import playing
from simulator.certification.session import QUICK_SECONDS, Session
from simulator.certification.signing import LARGE_BYTES, SIGNING
from simulator.kernel.dataclass import dataclass

_SIGNATURE = "Events: Delivery and signature"
_RULES = "Events: Delivery rules"
_ACCEPT, _REFUSE = "2xx", "4xx, for example 401"


@dataclass(frozen=True)
class Rule:
    """One requirement for receivers."""

    name: str
    title: str
    clause: str
    """Headings in the specification, and ids of decisions where the specification is silent."""
    wanted: str
    """The correct response."""
    advice: str
    """The usual fix for a receiver that breaks the rule."""
    play: Callable[[Session], None]
    needs: Sequence[str] = ()
    """Rules that must pass before this rule can be checked."""
    by_books: bool = False
    """Whether only the application's records decide the result."""
    booked: bool = False
    """Whether the application's records, if available, also affect the result."""


def _signed(name: str, title: str, clause: str, wanted: str, advice: str, *needs: str) -> Rule:
    """Return a rule that is checked with requests from the module `signing`."""
    return Rule(
        name, title, clause, wanted, advice, lambda session: session.judge(SIGNING[name](session.material)), needs
    )


RULES: tuple[Rule, ...] = (
    Rule("quick-acknowledgement", f"Responds within {QUICK_SECONDS:g} s",
         f"{_RULES}, 1; Limits: webhook acknowledgement",
         f"a response within {QUICK_SECONDS:g} s. The service waits 10 s. A receiver that needs half of that without "
         "load will exceed the limit under load",
         "Store the event, respond, and process it afterwards: `inbox.add(event)`, then `return 200`, and a worker "
         "does the rest.", playing.quick_acknowledgement),
    Rule("no-redirect", "Responds without a redirect", f"Events: Registration; {_RULES}, 1", "2xx or 4xx, not 3xx",
         "The service does not follow redirects. Register the final URL. Check http or https, `www`, and the trailing "
         "slash (Django's APPEND_SLASH and Flask's `/webhooks/` redirect a URL without it).", playing.no_redirect,
         ("quick-acknowledgement",)),
    _signed("valid-event", "Accepts an event that is signed with its key", _SIGNATURE, _ACCEPT,
            "Check that the receiver has the key shown above, and that it signs `<X-Timestamp>.<body>` with the body's "
            "bytes as received: `hmac.new(key, timestamp + b\".\" + body, sha256).hexdigest()`. X-Timestamp is in "
            "milliseconds.", "no-redirect"),
    Rule("registration-200", "Returns exactly 200 to the test request sent at registration", "Events: Registration; W4",
         "exactly 200",
         "Return 200 for every event. With 201, 202 or 204 the URL cannot be registered. The real service shows the "
         "key only after this request, so a receiver without a key must return 200 without verifying it.",
         playing.registration_200, ("valid-event",)),
    _signed("unknown-signature", "Refuses an event with a forged signature", _SIGNATURE, _REFUSE,
            "Compare the whole signature in constant time, before you read anything else: `if not "
            "hmac.compare_digest(expected, given): return 401`.", "valid-event"),
    _signed("half-signature", "Refuses a partly correct signature", _SIGNATURE, _REFUSE,
            "Compare all 64 digits in one step: `hmac.compare_digest(expected, given)`. A signature that is truncated, "
            "or compared up to some length, is much easier to guess.", "unknown-signature"),
    _signed("missing-signature", "Refuses an event without X-Signature", _SIGNATURE, _REFUSE,
            "Do not skip the check if the header is missing. Comparing `headers.get(\"X-Signature\", \"\")` as usual "
            "refuses such a request.", "unknown-signature"),
    _signed("stale-timestamp", "Refuses an event that was signed an hour ago", f"{_SIGNATURE}; Limits: 5 minutes",
            _REFUSE,
            "Compare X-Timestamp, which is in milliseconds, with the clock: `if abs(now_ms - int(timestamp)) > "
            "300_000: return 401`. Otherwise an attacker who records one request can replay it forever.",
            "unknown-signature"),
    _signed("future-timestamp", "Refuses an event with a timestamp an hour ahead", f"{_SIGNATURE}; Limits: 5 minutes",
            _REFUSE, "Check the difference in both directions: `abs(now_ms - int(timestamp)) > 300_000`.",
            "stale-timestamp"),
    _signed("missing-timestamp", "Refuses an event without X-Timestamp", _SIGNATURE, _REFUSE,
            "Refuse it before you compute anything: `if not timestamp.isdigit(): return 401`. In JavaScript, a missing "
            "header is signed as \"undefined\", and every comparison with NaN is false, so the check of the clock "
            "passes.", "unknown-signature", "stale-timestamp"),
    Rule("garbled-timestamp", "Does not accept an X-Timestamp that is not a number", _SIGNATURE,
         "4xx, for example 401; never 2xx",
         "Refuse a value with other characters than digits before you convert it: `if not timestamp.isdigit(): return "
         "401`. In JavaScript, every comparison with NaN is false, so the check of the clock passes.",
         playing.garbled_timestamp, ("unknown-signature", "stale-timestamp", "missing-timestamp")),
    _signed("timestamp-edge", "Accepts timestamps within five minutes of its clock, and refuses others",
            f"{_SIGNATURE}; Limits: 5 minutes", f"{_ACCEPT} at 290 s, {_REFUSE} at 310 s, before and after",
            "The window is 300,000 ms to each side: `abs(now_ms - int(timestamp)) > 300_000`. The rule leaves ten "
            "seconds on each side of the limit for transport and clock differences. If the receiver's clock is off by "
            "more, fix the clock (NTP).", "unknown-signature", "stale-timestamp", "future-timestamp"),
    _signed("other-environment-key", "Refuses an event signed with the key of the other environment",
            "Events; What the service does: General conventions, 4", _REFUSE,
            "Sandbox and production have different webhook keys and different endpoints. Give a receiver only the key "
            "of its environment. Do not try several keys.", "unknown-signature"),
    _signed("altered-body", "Refuses a body that differs from the signed one", _SIGNATURE, _REFUSE,
            "Sign the whole body, byte for byte, not only some fields: `timestamp + b\".\" + body`.",
            "unknown-signature"),
    _signed("reserialised-body", "Verifies the received bytes, not reserialized JSON",
            f"{_SIGNATURE} (exactly as received, no re-serialization); W7",
            f"{_REFUSE}; {_ACCEPT} if the bytes are the signed ones",
            "Read the raw body before any parser does: `request.get_data()` in Flask, `await request.body()` in "
            "Starlette, `express.raw({type: \"application/json\"})`, `file_get_contents(\"php://input\")`. Parsed JSON "
            "that is serialized again has other bytes.", "unknown-signature"),
    _signed("trimmed-body", "Verifies the whole body, including whitespace around the JSON",
            f"{_SIGNATURE} (exactly as received, no re-serialization); W7",
            f"{_REFUSE}; {_ACCEPT} if the signature covers the line end",
            "Pass the body to the HMAC unchanged, without `body.strip()`, `.trim()` or a reader that drops the last "
            "line end. One byte more or less is another body.", "altered-body", "reserialised-body"),
    Rule("unknown-type", "Acknowledges events of an unknown type", f"{_RULES}, 1 and 3; Events: Event types", _ACCEPT,
         "New types come without notice. If you refuse one, it is retried for three days. Then the endpoint is "
         "disabled and receives nothing. Acknowledge and ignore it: `case _: return 200`.", playing.unknown_type,
         ("valid-event",)),
    Rule("unknown-enum", "Acknowledges events with unknown values", f"{_RULES}, 1 and 3; Versioning", _ACCEPT,
         "New statuses, types and assets come without notice. Store and acknowledge the event, and report the unknown "
         "value to a person. It must not raise in the receiver.", playing.unknown_enum, ("valid-event",)),
    Rule("extra-field", "Acknowledges events with unknown fields", f"{_RULES}, 1 and 3; Versioning", _ACCEPT,
         "Read the fields you need and ignore others. Do not use `additionalProperties: false` or `extra=\"forbid\"`.",
         playing.extra_field, ("valid-event",)),
    _signed("unicode-body", "Verifies a body with non-ASCII letters", _SIGNATURE, _ACCEPT,
            "Compute the HMAC of bytes, not of a decoded string. Decoding with another character set than UTF-8 and "
            "encoding again gives other bytes.", "valid-event", "reserialised-body", "extra-field"),
    _signed("large-body", f"Accepts a body of {LARGE_BYTES // 1000} kB", _SIGNATURE, _ACCEPT,
            "The specification does not limit the size. Allow at least 1 MB at this URL: `express.raw({limit: "
            "\"1mb\"})`, nginx's `client_max_body_size 1m`.", "valid-event", "extra-field"),
    Rule("booked-once", "Books a delivered payment once and in full", f"{_RULES}, 4", "the payment is in the books",
         "`amount` is what the customer received: `destination_amount`, after fees, as a decimal string and not as a "
         "float.", playing.booked_once, ("valid-event",), by_books=True, booked=True),
    Rule("refund-not-booked", "Does not book a refunded payment as delivered", "Events: Event types",
         "the books have 0",
         "Reverse the booking when transaction.failed or transaction.refunded comes, even after `completed`: a "
         "delivered payment can still be reversed.", playing.refund_not_booked, ("booked-once",), by_books=True,
         booked=True),
    Rule("forged-not-booked", "Does not book a payment from forged events", _SIGNATURE, "the books have 0",
         "Verify before you store or do anything, and stop if the event is forged. A refusal after the work is done "
         "comes too late.", playing.forged_not_booked, ("booked-once",), by_books=True, booked=True),
    Rule("duplicate-event", "Acknowledges a repeated event and counts it once", f"{_RULES}, 4; W7",
         f"{_ACCEPT}, and nothing is booked twice",
         "Return 200 for a known event, too. Otherwise it is retried for three days. Save the ids: `INSERT INTO inbox "
         "(event_id, ...) ON CONFLICT DO NOTHING`, and process only new rows.", playing.duplicate_event,
         ("valid-event", "booked-once"), booked=True),
    Rule("same-type-again", "Treats two events of the same object and type as two", f"{_RULES}, 4; Events: Event types",
         f"{_ACCEPT}, and both runs are in the books if the books list the recurring payment",
         "Recognise a repeated event only by its `id`. Two events with the same object and type can be two facts: "
         "every run of a recurring payment sends its own `recurring_payment.run_succeeded`. A unique key on (object "
         "id, type) drops every run but the first.", playing.same_type_again,
         ("valid-event", "unknown-type", "unknown-enum", "duplicate-event"), booked=True),
    Rule("late-after-final", "Keeps a final state when an earlier event arrives late",
         f"{_RULES}, 4; States and transitions: Ramp transaction", f"{_ACCEPT}, and the payment is still booked once",
         "Read the transaction again, `GET /transactions/{id}`, before you change its state, or let states only move "
         "forward: completed does not go back to processing. Book when the state changes, not for every event of a "
         "completed transaction: `UPDATE orders SET state = 'completed' WHERE id = ? AND state <> 'completed'`.",
         playing.late_after_final, ("valid-event", "booked-once", "duplicate-event"), booked=True),
    Rule("out-of-order", "Acknowledges events that arrive out of order, and ends with the same books", f"{_RULES}, 4",
         f"{_ACCEPT}, and the payment is booked once",
         "Do not wait for transaction.created. Create the order when its first event comes, whichever that is, or save "
         "the event until the order exists. An event that you acknowledge and ignore is not sent again.",
         playing.out_of_order, ("valid-event", "booked-once", "duplicate-event", "late-after-final"), booked=True),
    Rule("two-at-once", "Acknowledges concurrent deliveries and counts them once", f"{_RULES}, 4",
         f"{_ACCEPT}, and the payment is booked once",
         "Check and insert the event id in one step, with a unique key in the database. If the insert fails, there is "
         "nothing to do. Wait for a lock instead of failing.", playing.two_at_once,
         ("valid-event", "booked-once", "duplicate-event", "late-after-final"), booked=True),
    Rule("retry-after-failure", "Does not lose an event that it could not process at first", f"{_RULES}, 1 and 2; W5",
         "2xx at the latest when it is retried, and the payment is booked",
         "Mark an event as done after it is done. A receiver that marks it first and then fails ignores the retry. A "
         "receiver that returns 200 immediately must retry failed work itself.", playing.retry_after_failure,
         ("valid-event", "booked-once", "duplicate-event"), booked=True),
    Rule("calls-back-before-answering", "Responds in time while the API is slow",
         f"{_RULES}, 1 and 2; Limits: webhook acknowledgement",
         "a response within the 10 s that the service waits: 2xx, or a refusal and then 2xx when the event is retried",
         "The receiver calls the API before it responds and waits without a limit. The service gives up first and "
         "sends every event again. Store the event, return 200, and read the object afterwards. If the call must come "
         "first, give it a timeout of a few seconds. Then return 503, so that the event is retried, or 200 if you have "
         "stored the event and repeat the call yourself.", playing.calls_back_before_answering, ("valid-event",)),
)  # fmt: skip

NAMES: tuple[str, ...] = tuple(rule.name for rule in RULES)
