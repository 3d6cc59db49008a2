"""Wrong receivers: the reference receiver with one function changed.

Each has a description of the mistake, and the rule that must find it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from simulator.certification.receiver import WINDOW_MS, Handler, Service, Shop, is_genuine

Kinds = tuple[type[Handler], type[Shop]]


@dataclass(frozen=True)
class Wrong:
    """A wrong receiver."""

    name: str
    wrong: str
    """The mistake."""
    rule: str
    kinds: Callable[[], Kinds]
    quick_seconds: float | None
    """The limit of a response, for receivers that are too slow."""
    books: bool
    """Whether the mistake is found only in the books."""


WRONG: list[Wrong] = []


def caught_by(
    rule: str, *, quick_seconds: float | None = None, books: bool = False
) -> Callable[[Callable[[], Kinds]], Callable[[], Kinds]]:
    def enter(kinds: Callable[[], Kinds]) -> Callable[[], Kinds]:
        WRONG.append(Wrong(kinds.__name__, str(kinds.__doc__), rule, kinds, quick_seconds, books))
        return kinds

    return enter


def header(handler: Handler, name: str) -> str:
    return handler.headers.get(name) or ""


def signed(key: str, raw: bytes) -> str:
    return hmac.new(key.encode(), raw, hashlib.sha256).hexdigest()


def verified_by(verify: Callable[[Any, bytes], bool]) -> Kinds:
    """Return the reference receiver with another verifier."""
    return type("Verifying", (Handler,), {"verify": verify}), Shop


def answering(receive: Callable[[Any, bytes], int]) -> Kinds:
    """Return the reference receiver with another response."""
    return type("Answering", (Handler,), {"receive": receive}), Shop


def after_verifying(take: Callable[[Handler, Any], int | None]) -> Kinds:
    """Return the reference receiver with another status for genuine events. None keeps the status."""

    def receive(self: Handler, body: bytes) -> int:
        if not self.verify(body):
            return 401
        status = take(self, json.loads(body))
        return Handler.receive(self, body) if status is None else status

    return answering(receive)


def now_ms() -> int:
    return int(time.time() * 1000)


# Responses


@caught_by("no-redirect")
def slash_at_the_end() -> Kinds:
    """It redirects to a URL with a trailing slash."""

    class Redirecting(Handler):
        def do_POST(self) -> None:  # noqa: N802
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(308)
            self.send_header("Location", f"{self.path}/")
            self.send_header("Content-Length", "0")
            self.end_headers()

    return Redirecting, Shop


@caught_by("quick-acknowledgement", quick_seconds=0.3)
def works_before_it_answers() -> Kinds:
    """It sends a mail about a completed payment before it responds."""

    def take(self: Handler, event: Any) -> None:
        if event["type"] == "transaction.completed":
            self.shop.closing.wait(0.5)  # type: ignore[attr-defined]  # conftest.py sets it

    return after_verifying(take)


@caught_by("quick-acknowledgement", quick_seconds=0.3)
def never_answers() -> Kinds:
    """It hangs."""
    return after_verifying(lambda self, event: 200 if self.shop.closing.wait() else 500)  # type: ignore[attr-defined]  # conftest.py sets it


@caught_by("registration-200")
def accepted_202() -> Kinds:
    """It returns 202."""

    def receive(self: Handler, body: bytes) -> int:
        status = Handler.receive(self, body)
        return 202 if status == 200 else status

    return answering(receive)


@caught_by("registration-200")
def test_event_unknown() -> Kinds:
    """It returns 204 to webhook.test."""
    return after_verifying(lambda self, event: 204 if event["type"] == "webhook.test" else None)


@caught_by("unknown-type")
def types_listed() -> Kinds:
    """It refuses unknown types."""
    listed = ("created", "awaiting_payment", "processing", "completed", "failed", "refunded")
    known = ["webhook.test", *(f"transaction.{name}" for name in listed)]
    return after_verifying(lambda self, event: None if event["type"] in known else 400)


@caught_by("unknown-enum")
def statuses_listed() -> Kinds:
    """It fails on an unknown status."""
    known = (None, "awaiting_payment", "processing", "completed", "failed", "refunded", "enabled", "active")
    return after_verifying(lambda self, event: None if event["data"]["object"].get("status") in known else 500)


@caught_by("extra-field")
def members_closed() -> Kinds:
    """It refuses unknown fields."""
    known = {"id", "type", "created_at", "livemode", "data"}
    return after_verifying(lambda self, event: 422 if set(event) - known else None)


@caught_by("large-body")
def small_limit() -> Kinds:
    """It accepts at most 100 kB, the default of many frameworks."""
    return answering(lambda self, body: 413 if len(body) > 100_000 else Handler.receive(self, body))


@caught_by("duplicate-event")
def conflict_409() -> Kinds:
    """It returns 409 to a known event."""
    seen: set[str] = set()

    def take(self: Handler, event: Any) -> int | None:
        if event["id"] in seen:
            return 409
        seen.add(event["id"])
        return None

    return after_verifying(take)


@caught_by("out-of-order")
def order_unknown_404() -> Kinds:
    """It returns 404 to an event of a transaction without an earlier transaction.created."""
    known: set[str] = set()

    def take(self: Handler, event: Any) -> int | None:
        if event["type"] == "transaction.created":
            known.add(event["data"]["object"]["id"])
        about = event["type"].startswith("transaction.")
        return 404 if about and event["data"]["object"]["id"] not in known else None

    return after_verifying(take)


@caught_by("calls-back-before-answering", quick_seconds=1.0)
def reads_before_it_answers() -> Kinds:
    """It reads the transaction, without a timeout, before it responds."""

    def take(self: Handler, event: Any) -> None:
        with suppress(OSError):
            self.shop.service.transaction(str(event["data"]["object"]["id"]))

    return after_verifying(take)


# Verification


@caught_by("valid-event")
def timestamp_not_signed() -> Kinds:
    """It signs only the body."""
    return verified_by(lambda self, body: hmac.compare_digest(signed(self.key, body), header(self, "X-Signature")))


@caught_by("valid-event")
def seconds() -> Kinds:
    """It reads X-Timestamp as seconds."""
    return verified_by(
        lambda self, body: (
            Handler.verify(self, body) and abs(time.time() - int(header(self, "X-Timestamp"))) < WINDOW_MS / 1000
        )
    )


@caught_by("unknown-signature")
def nothing_verified() -> Kinds:
    """It verifies nothing."""
    return verified_by(lambda self, body: True)


@caught_by("unknown-signature")
def prefix_compared() -> Kinds:
    """It compares only the digits that were sent."""

    def verify(self: Handler, body: bytes) -> bool:
        timestamp = header(self, "X-Timestamp")
        expected = signed(self.key, timestamp.encode() + b"." + body)
        recent = timestamp.isdigit() and abs(now_ms() - int(timestamp)) <= WINDOW_MS
        return recent and expected.startswith(header(self, "X-Signature"))

    return verified_by(verify)


@caught_by("half-signature")
def half_compared() -> Kinds:
    """It compares the first half of the signature."""

    def verify(self: Handler, body: bytes) -> bool:
        timestamp = header(self, "X-Timestamp")
        expected = signed(self.key, timestamp.encode() + b"." + body)
        recent = timestamp.isdigit() and abs(now_ms() - int(timestamp)) <= WINDOW_MS
        return recent and hmac.compare_digest(expected[:32], header(self, "X-Signature")[:32])

    return verified_by(verify)


@caught_by("unknown-signature")
def breaks_over_forgeries() -> Kinds:
    """It fails on a forged request."""
    return answering(lambda self, body: Handler.receive(self, body) if self.verify(body) else 500)


@caught_by("missing-signature")
def verified_where_signed() -> Kinds:
    """It verifies only requests with a signature."""
    return verified_by(lambda self, body: not header(self, "X-Signature") or Handler.verify(self, body))


@caught_by("stale-timestamp")
def no_clock() -> Kinds:
    """It ignores the clock."""

    def verify(self: Handler, body: bytes) -> bool:
        timestamp = header(self, "X-Timestamp")
        return hmac.compare_digest(signed(self.key, timestamp.encode() + b"." + body), header(self, "X-Signature"))

    return verified_by(verify)


def _by_clock(clock: Callable[[str], bool]) -> Kinds:
    """Return a receiver that verifies the signature and checks the clock in another way."""

    def verify(self: Handler, body: bytes) -> bool:
        timestamp = header(self, "X-Timestamp")
        expected = signed(self.key, timestamp.encode() + b"." + body)
        return clock(timestamp) and hmac.compare_digest(expected, header(self, "X-Signature"))

    return verified_by(verify)


@caught_by("future-timestamp")
def age_only() -> Kinds:
    """It checks only the age of the timestamp, not whether it is in the future."""
    return _by_clock(lambda text: text.isdigit() and now_ms() - int(text) <= WINDOW_MS)


@caught_by("timestamp-edge")
def ten_minutes() -> Kinds:
    """It accepts timestamps within ten minutes."""
    return _by_clock(lambda text: text.isdigit() and abs(now_ms() - int(text)) <= 2 * WINDOW_MS)


@caught_by("timestamp-edge")
def one_minute() -> Kinds:
    """It accepts timestamps only within one minute."""
    return _by_clock(lambda text: text.isdigit() and abs(now_ms() - int(text)) <= WINDOW_MS / 5)


@caught_by("missing-timestamp")
def clock_where_stamped() -> Kinds:
    """It checks the clock only if there is a timestamp."""
    return _by_clock(lambda text: not text or (text.isdigit() and abs(now_ms() - int(text)) <= WINDOW_MS))


@caught_by("missing-timestamp")
def body_where_not_stamped() -> Kinds:
    """Without a timestamp it signs only the body."""

    def verify(self: Handler, body: bytes) -> bool:
        if header(self, "X-Timestamp"):
            return Handler.verify(self, body)
        return hmac.compare_digest(signed(self.key, body), header(self, "X-Signature"))

    return verified_by(verify)


@caught_by("garbled-timestamp")
def not_a_number() -> Kinds:
    """It refuses numbers that are too far from the clock, which does not include NaN."""
    return _by_clock(lambda text: text not in ("", "yesterday") and not abs(now_ms() - float(text)) > WINDOW_MS)


@caught_by("other-environment-key")
def keys_in_turn() -> Kinds:
    """It tries the keys of both environments."""

    class Trying(Handler):
        def verify(self, body: bytes) -> bool:
            keys = (self.key, self.shop.other_key)  # type: ignore[attr-defined]  # conftest.py sets it
            return any(is_genuine(key, dict(self.headers.items()), body) for key in keys)

    return Trying, Shop


@caught_by("altered-body")
def known_signatures() -> Kinds:
    """It verifies only the type of the event and the status of the object."""

    class Remembering(Handler):
        def verify(self, body: bytes) -> bool:
            if super().verify(body):
                return True
            # Like a proxy that has verified the original body and passes on another one.
            told = json.loads(body)
            told["id"] = told["id"].removesuffix("x")
            amount = told["data"]["object"].get("destination_amount", "").removeprefix("9")
            told["data"]["object"]["destination_amount"] = amount
            true = json.dumps(told, separators=(",", ":")).encode()
            return body.count(b", ") == true.count(b", ") and super().verify(true)

    return Remembering, Shop


@caught_by("reserialised-body")
def json_written_anew() -> Kinds:
    """It verifies reserialized JSON."""

    def verify(self: Handler, body: bytes) -> bool:
        again = json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()
        return Handler.verify(self, again)

    return verified_by(verify)


@caught_by("trimmed-body")
def body_trimmed() -> Kinds:
    """It verifies the body without surrounding whitespace."""
    return verified_by(lambda self, body: Handler.verify(self, body.strip()))


@caught_by("unicode-body")
def latin_1() -> Kinds:
    """It decodes the body as Latin-1 and signs the string."""
    return verified_by(lambda self, body: Handler.verify(self, body.decode("latin-1").encode()))


# Booking


class Trusting(Shop):
    """Books from events, and lets a state only move forward. It passes all rules."""

    ranks = ("awaiting_payment", "processing", "completed", "failed", "refunded")

    def book(self, number: int, body: bytes) -> None:
        event = json.loads(body)
        thing = event["data"]["object"]
        with self.lock, self.rows:
            self.rows.execute("UPDATE inbox SET done = 1 WHERE number = ?", (number,))
            if event["type"].startswith("transaction.") and thing.get("status") in self.ranks:
                self.enter(thing)

    def enter(self, thing: Any) -> None:
        found = self.rows.execute("SELECT state FROM orders WHERE name = ?", (thing["reference"],)).fetchone()
        if found is None or self.moves(found[0], thing["status"]):
            self.put(thing, self.amount(thing))

    def moves(self, old: str, new: str) -> bool:
        return self.ranks.index(new) > self.ranks.index(old)

    def amount(self, thing: Any) -> str:
        return str(thing["destination_amount"]) if thing["status"] == "completed" else "0"

    def put(self, thing: Any, amount: str) -> None:
        row = (thing["reference"], thing["status"], amount, thing["asset"])
        self.rows.execute("INSERT OR REPLACE INTO orders VALUES (?, ?, ?, ?)", row)


class Unhurried(Handler):
    """Responds when the work is done, or after half a second."""

    def receive(self, body: bytes) -> int:
        status = super().receive(body)
        if status == 200:
            self.shop.idle.wait(0.5)  # type: ignore[attr-defined]  # of a Watched
        return status


class Watched(Shop):
    """Signals when its inbox is empty."""

    def __init__(self, file: str, service: Service) -> None:
        super().__init__(file, service)
        self.idle = threading.Event()

    def store(self, event_id: str, body: bytes) -> None:
        self.idle.clear()
        super().store(event_id, body)
        self.look()

    def work_on(self, number: int, body: bytes) -> None:
        """Do the work of `book`."""
        super().book(number, body)

    def book(self, number: int, body: bytes) -> None:
        self.work_on(number, body)
        self.look()

    def look(self) -> None:
        with self.lock:
            if not self.rows.execute("SELECT count(*) FROM inbox WHERE NOT done").fetchone()[0]:
                self.idle.set()


class Adding(Watched):
    """Adds to the books for each event of a completed transaction."""

    def work_on(self, number: int, body: bytes) -> None:
        event = json.loads(body)
        found = None
        if event["type"].startswith("transaction."):
            found = self.service.transaction(event["data"]["object"]["id"])
        with self.lock, self.rows:
            self.rows.execute("UPDATE inbox SET done = 1 WHERE number = ?", (number,))
            if found is not None and found["status"] == "completed":
                self.add(found)
            if found is not None and found["status"] == "refunded":
                values = (found["reference"], "refunded", "0", found["asset"])
                self.rows.execute("INSERT OR REPLACE INTO orders VALUES (?, ?, ?, ?)", values)

    def add(self, thing: Any) -> None:
        name = thing["reference"]
        row = self.rows.execute("SELECT amount FROM orders WHERE name = ?", (name,)).fetchone()
        cents = round(float(row[0] if row else 0) * 1_000_000) + round(float(thing["destination_amount"]) * 1_000_000)
        values = (name, "completed", f"{cents / 1_000_000:.6f}", thing["asset"])
        self.rows.execute("INSERT OR REPLACE INTO orders VALUES (?, ?, ?, ?)", values)


@caught_by("booked-once", books=True)
def before_fees() -> Kinds:
    """It books the amount before fees."""

    class Gross(Trusting):
        def amount(self, thing: Any) -> str:
            return str(thing["source_amount"]) if thing["status"] == "completed" else "0"

    return Handler, Gross


@caught_by("booked-once", books=True)
def answered_and_lost() -> Kinds:
    """It books at transaction.processing and ignores transaction.completed."""

    class Forgetful(Trusting):
        def amount(self, thing: Any) -> str:
            return "0"

    return Handler, Forgetful


@caught_by("refund-not-booked", books=True)
def paid_is_final() -> Kinds:
    """It books a payment when it arrives, and ignores refunds."""

    class Early(Trusting):
        def enter(self, thing: Any) -> None:
            if thing["status"] in ("processing", "completed"):
                self.put({**thing, "status": "completed"}, str(thing["destination_amount"]))

    return Handler, Early


@caught_by("refund-not-booked", books=True)
def completed_is_final() -> Kinds:
    """It books completed payments, and ignores later refunds."""

    class Final(Trusting):
        def moves(self, old: str, new: str) -> bool:
            return old != "completed" and super().moves(old, new)

    return Handler, Final


@caught_by("forged-not-booked", books=True)
def stored_before_verified() -> Kinds:
    """It stores an event before it verifies it."""

    def receive(self: Handler, body: bytes) -> int:
        self.shop.store(json.loads(body)["id"], body)
        return 200 if self.verify(body) else 401

    return type("Storing", (Handler,), {"receive": receive}), Trusting


@caught_by("duplicate-event", books=True)
def no_deduplication() -> Kinds:
    """It saves no event ids, and adds the amount of each transaction.completed."""

    class Doubling(Adding):
        def store(self, event_id: str, body: bytes) -> None:
            kind = json.loads(body)["type"]
            with self.lock:
                number = self.rows.execute("SELECT count(*) FROM inbox").fetchone()[0]
            name = f"{event_id}-{number}" if kind == "transaction.completed" else event_id
            super().store(name, body)

    return Unhurried, Doubling


def by_object_and_type() -> Kinds:
    """It recognises a repeated event by its object and type."""

    class Merging(Shop):
        def store(self, event_id: str, body: bytes) -> None:
            event = json.loads(body)
            super().store(f"{event['data']['object']['id']} {event['type']}", body)

    return Handler, Merging


@caught_by("same-type-again", books=True)
def runs_merged_in_the_books() -> Kinds:
    """It recognises a repeated event by its object and type, and its books lack the second run."""
    return by_object_and_type()


@caught_by("same-type-again")
def runs_merged_unread() -> Kinds:
    """It recognises a repeated event by its object and type, and reads nothing after the second run."""
    return by_object_and_type()


@caught_by("late-after-final", books=True)
def ids_alone() -> Kinds:
    """It recognises a repeated event by its id, and books for each event of a completed transaction."""
    return Unhurried, Adding


@caught_by("out-of-order", books=True)
def acknowledged_and_gone() -> Kinds:
    """It acknowledges and ignores an event of an unknown order."""

    class Waiting(Trusting):
        def enter(self, thing: Any) -> None:
            known = self.rows.execute("SELECT 1 FROM orders WHERE name = ?", (thing["reference"],)).fetchone()
            if known or thing["status"] == "awaiting_payment":
                super().enter(thing)

    return Handler, Waiting


@caught_by("late-after-final", books=True)
def last_one_wins() -> Kinds:
    """It takes the state of the last event."""

    class Last(Trusting):
        def moves(self, old: str, new: str) -> bool:
            return True

    return Handler, Last


@caught_by("two-at-once", books=True)
def looks_then_adds() -> Kinds:
    """It checks for an event, and saves it a moment later."""
    together = threading.Barrier(2)

    class Racing(Trusting):
        def store(self, event_id: str, body: bytes) -> None:
            event = json.loads(body)
            thing = event["data"]["object"]
            with self.lock:
                known = self.rows.execute("SELECT 1 FROM inbox WHERE event_id = ?", (event_id,)).fetchone()
            if event["type"] == "transaction.completed" and str(thing["reference"]).endswith("two-at-once"):
                together.wait(5)
            super().store(event_id, body)
            if event["type"] == "transaction.completed" and not known:
                with self.lock, self.rows:
                    Adding.add(self, thing)  # type: ignore[arg-type]  # it has what Adding.add asks of one

        def enter(self, thing: Any) -> None:
            """Do nothing: completed transactions are already booked."""
            if thing["status"] == "refunded":
                self.put(thing, "0")

    return Handler, Racing


@caught_by("retry-after-failure", books=True)
def done_before_it_is() -> Kinds:
    """It marks an event as done, fails to process it, and ignores the retry."""

    def receive(self: Handler, body: bytes) -> int:
        if not self.verify(body):
            return 401
        with self.shop.lock, self.shop.rows:
            values = (json.loads(body)["id"], body)
            row = self.shop.rows.execute("INSERT OR IGNORE INTO inbox (event_id, body, done) VALUES (?, ?, 1)", values)
            if not row.rowcount:
                return 200
            number = int(row.lastrowid or 0)
        failures: list[OSError] = []

        def work() -> None:
            try:
                self.shop.book(number, body)
            except OSError as error:
                failures.append(error)

        worker = threading.Thread(target=work)
        worker.start()
        worker.join(0.5)
        return 500 if failures else 200

    return answering(receive)


@caught_by("retry-after-failure", books=True)
def failure_swallowed() -> Kinds:
    """It acknowledges an event, fails to process it, and loses it."""

    class Swallowing(Watched):
        def work_on(self, number: int, body: bytes) -> None:
            try:
                super().work_on(number, body)
            except OSError:
                with self.lock, self.rows:
                    self.rows.execute("UPDATE inbox SET done = 1 WHERE number = ?", (number,))

    return Unhurried, Swallowing
