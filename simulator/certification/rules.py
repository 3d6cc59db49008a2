"""The rules of `rampsim certify`, in the order in which they are examined."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from simulator.certification import playing
from simulator.certification.examining import QUICK_SECONDS, Exam
from simulator.certification.signing import LARGE_BYTES, SIGNING
from simulator.kernel.dataclass import dataclass

_SIGNATURE = "Events: Delivery and signature"
_RULES = "Events: Delivery rules"
_ACCEPT, _REFUSE = "2xx", "4xx, for example 401"


@dataclass(frozen=True)
class Rule:
    """One thing a receiver has to do.

    `clause`: the heading of the specification that it rests on, and the decision where that is silent. `wanted`: the
    right answer. `advice`: how to mend it. `needs`: rules without which this one would say nothing. `booked`: where
    books are given they judge it too; `by_books`: only they do.
    """

    name: str
    title: str
    clause: str
    wanted: str
    advice: str
    play: Callable[[Exam], None]
    needs: Sequence[str] = ()
    by_books: bool = False
    booked: bool = False


def _signed(name: str, title: str, clause: str, wanted: str, advice: str, *needs: str) -> Rule:
    """A rule whose requests are those of `signing`."""
    return Rule(name, title, clause, wanted, advice, lambda exam: exam.judge(SIGNING[name](exam.material)), needs)


RULES: tuple[Rule, ...] = (
    Rule(
        "quick-acknowledgement",
        f"It answers within {QUICK_SECONDS:g} s",
        f"{_RULES}, 1; Limits: webhook acknowledgement",
        f"an answer within {QUICK_SECONDS:g} s: the service waits 10, and a receiver that needs half of them "
        "while nothing else is going on will miss them under load",
        "Store the event, answer, and work on it afterwards: `inbox.add(event)`, then `return 200`, and a worker does "
        "the rest.",
        playing.quick_acknowledgement,
    ),
    Rule(
        "no-redirect",
        "It answers where it is called, without a redirect",
        f"Events: Registration; {_RULES}, 1",
        "2xx, or 4xx; no 3xx",
        "The service follows no redirect. Register the address that answers itself: mind http and https, `www`, and "
        "the slash at the end (Django's APPEND_SLASH and Flask's `/webhooks/` redirect without it).",
        playing.no_redirect,
        ("quick-acknowledgement",),
    ),
    _signed(
        "valid-event", "It accepts an event that is signed with its key", _SIGNATURE, _ACCEPT,
        "Check that the receiver has the key shown above, and that it signs `<X-Timestamp>.<body>` with the bytes of "
        "the body as they came: `hmac.new(key, timestamp + b\".\" + body, sha256).hexdigest()`. X-Timestamp is in "
        "milliseconds.",
        "no-redirect",
    ),
    Rule(
        "registration-200",
        "It answers the test request of a registration with exactly 200",
        "Events: Registration; W4",
        "exactly 200",
        "Answer every event with 200. With 201, 202 or 204 the address cannot be registered. At the real service the "
        "key is shown only after this request: a receiver that has no key yet has to answer it with 200 unverified.",
        playing.registration_200,
        ("valid-event",),
    ),
    _signed(
        "unknown-signature", "It refuses an event that somebody else signed", _SIGNATURE, _REFUSE,
        "Compare the whole signature, in constant time, before anything else is read: `if not "
        "hmac.compare_digest(expected, given): return 401`.",
        "valid-event",
    ),
    _signed(
        "half-signature", "It refuses a signature that is right only in part", _SIGNATURE, _REFUSE,
        "Compare all 64 digits in one step: `hmac.compare_digest(expected, given)`. A signature that is cut, or "
        "compared up to some length, takes a forger far fewer tries to guess.",
        "unknown-signature",
    ),
    _signed(
        "missing-signature", "It refuses an event without X-Signature", _SIGNATURE, _REFUSE,
        "A header that is missing is a refusal, not a reason to skip the check: `headers.get(\"X-Signature\", \"\")` "
        "compared as always refuses by itself.",
        "unknown-signature",
    ),
    _signed(
        "stale-timestamp", "It refuses an event that was signed an hour ago", f"{_SIGNATURE}; Limits: 5 minutes",
        _REFUSE,
        "Compare X-Timestamp, which is in milliseconds, with the clock: `if abs(now_ms - int(timestamp)) > 300_000: "
        "return 401`. Without this whoever records one request can send it again for ever.",
        "unknown-signature",
    ),
    _signed(
        "future-timestamp", "It refuses an event with a timestamp an hour ahead", f"{_SIGNATURE}; Limits: 5 minutes",
        _REFUSE,
        "The difference counts in both directions: `abs(now_ms - int(timestamp)) > 300_000`.",
        "stale-timestamp",
    ),
    _signed(
        "missing-timestamp", "It refuses an event without X-Timestamp", _SIGNATURE, _REFUSE,
        "Refuse before anything is computed: `if not timestamp.isdigit(): return 401`. In JavaScript a missing header "
        "is signed over as \"undefined\", and every comparison with NaN is false: the check of the clock lets it pass.",
        "unknown-signature", "stale-timestamp",
    ),
    Rule(
        "garbled-timestamp", "It does not accept an X-Timestamp that is no number", _SIGNATURE,
        "4xx, for example 401; no 2xx in any case",
        "Refuse what is not all digits before it is made a number: `if not timestamp.isdigit(): return 401`. In "
        "JavaScript every comparison with NaN is false: the check of the clock lets it pass.",
        playing.garbled_timestamp,
        ("unknown-signature", "stale-timestamp", "missing-timestamp"),
    ),
    _signed(
        "timestamp-edge", "It accepts within five minutes of its clock, and refuses beyond them",
        f"{_SIGNATURE}; Limits: 5 minutes", f"{_ACCEPT} at 290 s, {_REFUSE} at 310 s, before and after",
        "The window is 300,000 ms to each side: `abs(now_ms - int(timestamp)) > 300_000`. Ten seconds to each side of "
        "the edge are left for the way and for clocks that differ; if the receiver's clock is wrong by more, mend that "
        "(NTP).",
        "unknown-signature", "stale-timestamp", "future-timestamp",
    ),
    _signed(
        "other-environment-key", "It refuses an event signed with the key of the other environment",
        "Events; What the service does: General conventions, 4", _REFUSE,
        "Sandbox and production have webhook keys of their own, and each its own address. Give a receiver the one key "
        "of its environment, and do not try others in turn.",
        "unknown-signature",
    ),
    _signed(
        "altered-body", "It refuses a body that is not the one that was signed", _SIGNATURE, _REFUSE,
        "Sign over the whole body, byte for byte, not over some members of it: `timestamp + b\".\" + body`.",
        "unknown-signature",
    ),
    _signed(
        "reserialised-body", "It verifies the bytes that came, not JSON written anew",
        f"{_SIGNATURE} (exactly as received, no re-serialization); W7", f"{_REFUSE}; {_ACCEPT} where the bytes are the "
        "signed ones",
        "Take the raw body before any parser does: `request.get_data()` in Flask, `await request.body()` in Starlette, "
        "`express.raw({type: \"application/json\"})`, `file_get_contents(\"php://input\")`. What a parser gives, "
        "written again, are other bytes.",
        "unknown-signature",
    ),
    _signed(
        "trimmed-body", "It verifies the whole body, including blanks and line ends around the JSON",
        f"{_SIGNATURE} (exactly as received, no re-serialization); W7", f"{_REFUSE}; {_ACCEPT} if the signature "
        "covers the line end",
        "Pass the body to the HMAC unchanged: no `body.strip()`, no `.trim()`, no reader that drops the last line end. "
        "A single byte more or less is another body.",
        "altered-body", "reserialised-body",
    ),
    Rule(
        "unknown-type", "It acknowledges events of a type it does not know",
        f"{_RULES}, 1 and 3; Events: Event types", _ACCEPT,
        "New types come without notice, and one that is refused is sent again for three days, after which the endpoint "
        "is disabled and gets nothing any more. Acknowledge and pass it over: `case _: return 200`.",
        playing.unknown_type, ("valid-event",),
    ),
    Rule(
        "unknown-enum", "It acknowledges events with values it does not know",
        f"{_RULES}, 1 and 3; Versioning", _ACCEPT,
        "New statuses, types and assets come without notice. Store the event, acknowledge it, and let a value that is "
        "unknown be seen by a person: it must not raise in the receiver.",
        playing.unknown_enum, ("valid-event",),
    ),
    Rule(
        "extra-field", "It acknowledges events with members it does not know",
        f"{_RULES}, 1 and 3; Versioning", _ACCEPT,
        "Read the members you need and leave the others alone: no `additionalProperties: false`, no "
        "`extra=\"forbid\"`.",
        playing.extra_field, ("valid-event",),
    ),
    _signed(
        "unicode-body", "It verifies a body with letters outside ASCII", _SIGNATURE, _ACCEPT,
        "Compute the HMAC over bytes, not over a decoded text: decoding with another character set than UTF-8 and "
        "encoding again gives other bytes.",
        "valid-event", "reserialised-body", "extra-field",
    ),
    _signed(
        "large-body", f"It accepts a body of {LARGE_BYTES // 1000} kB", _SIGNATURE, _ACCEPT,
        "No length is promised. Let the server take at least 1 MB at this address: `express.raw({limit: \"1mb\"})`, "
        "nginx's `client_max_body_size 1m`.",
        "valid-event", "extra-field",
    ),
    Rule(
        "booked-once", "What was delivered is in the books, once and in full", f"{_RULES}, 4", "the books say so",
        "`amount` is what the customer received: `destination_amount`, after fees, as decimal text and not as float.",
        playing.booked_once, ("valid-event",), by_books=True, booked=True,
    ),
    Rule(
        "refund-not-booked", "What was refunded is not in the books as delivered", "Events: Event types",
        "the books say 0",
        "Take back what was booked when transaction.failed or transaction.refunded comes, also after `completed`: "
        "what was delivered can still be taken back.",
        playing.refund_not_booked, ("booked-once",), by_books=True, booked=True,
    ),
    Rule(
        "forged-not-booked", "What only forged events tell of is not in the books", _SIGNATURE, "the books say 0",
        "Verify before anything is stored or done, and stop there: a refusal that comes after the work is no refusal.",
        playing.forged_not_booked, ("booked-once",), by_books=True, booked=True,
    ),
    Rule(
        "duplicate-event", "An event that comes again is acknowledged, and counts once",
        f"{_RULES}, 4; W7", f"{_ACCEPT}, and nothing booked twice",
        "Answer 200 to an event that you have, too: anything else has it sent again for three days. Keep the ids: "
        "`INSERT INTO inbox (event_id, ...) ON CONFLICT DO NOTHING`, and work only on a row that is new.",
        playing.duplicate_event, ("valid-event", "booked-once"), booked=True,
    ),
    Rule(
        "same-type-again", "Two events of one object and type both count", f"{_RULES}, 4; Events: Event types",
        f"{_ACCEPT}, and both runs in the books where the books list the recurring payment",
        "Recognise a repeated event by its `id` alone. Two events with the same object and type can be two facts: "
        "every run of a recurring payment sends a `recurring_payment.run_succeeded` of its own, and a unique key on "
        "(object id, type) drops every run but the first.",
        playing.same_type_again, ("valid-event", "unknown-type", "unknown-enum", "duplicate-event"), booked=True,
    ),
    Rule(
        "late-after-final", "A late event changes nothing about what is final",
        f"{_RULES}, 4; States and transitions: Ramp transaction", f"{_ACCEPT}, and the payment still booked, once",
        "Read the transaction anew, `GET /transactions/{id}`, before its state is changed, or let a state only move "
        "forward: completed does not go back to processing. And book when the state changes, not for every event that "
        "finds it completed: `UPDATE orders SET state = 'completed' WHERE id = ? AND state <> 'completed'`.",
        playing.late_after_final, ("valid-event", "booked-once", "duplicate-event"), booked=True,
    ),
    Rule(
        "out-of-order", "Events that come out of order are acknowledged, and lead to the same books",
        f"{_RULES}, 4", f"{_ACCEPT}, and the payment booked once",
        "Do not wait for transaction.created: make the order when its first event comes, whichever that is, or keep "
        "the event until the order is there. An event that is acknowledged and passed over does not come again.",
        playing.out_of_order, ("valid-event", "booked-once", "duplicate-event", "late-after-final"), booked=True,
    ),
    Rule(
        "two-at-once", "Deliveries that come at the same moment are acknowledged, and count once",
        f"{_RULES}, 4", f"{_ACCEPT}, and the payment booked once",
        "To look whether an event is known and to note it down must be one step: a unique key in the database, and "
        "whoever fails to insert it has nothing to do. Wait for a lock instead of failing.",
        playing.two_at_once, ("valid-event", "booked-once", "duplicate-event", "late-after-final"), booked=True,
    ),
    Rule(
        "retry-after-failure", "An event that could not be handled at first is not lost",
        f"{_RULES}, 1 and 2; W5", "2xx when it comes again at the latest, and the payment booked",
        "Note an event down as done after it is done: whoever does so before, and then fails, passes over the retry. "
        "Whoever answers 200 at once has to repeat what failed by himself.",
        playing.retry_after_failure, ("valid-event", "booked-once", "duplicate-event"), booked=True,
    ),
    Rule(
        "calls-back-before-answering", "It answers in time even while the interface is slow",
        f"{_RULES}, 1 and 2; Limits: webhook acknowledgement",
        "an answer within the 10 s that the service waits: 2xx, or a refusal and then 2xx when the event comes again",
        "The receiver calls the interface before it answers and waits as long as that takes, so the service gives up "
        "first and sends every event again. Store the event, answer 200, and read the object afterwards. If the call "
        "has to come first, give it up after a few seconds: then answer 503, so that the event comes again, or 200 if "
        "the event is stored and you repeat the call yourself.",
        playing.calls_back_before_answering, ("valid-event",),
    ),
)  # fmt: skip

NAMES: tuple[str, ...] = tuple(rule.name for rule in RULES)
