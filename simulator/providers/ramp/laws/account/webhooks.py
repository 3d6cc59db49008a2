"""Webhooks: registration, signatures, retries, and the events that an endpoint receives."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from simulator.conformance.bench import Bench
from simulator.conformance.laws import Refusal, guess, promise, refusals
from simulator.conformance.service import Answer
from simulator.conformance.world import Delivery
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.money.quotes import instant

CREATE, SHOWN, CHANGE = "POST /webhooks", "GET /webhooks/{id}", "PATCH /webhooks/{id}"
DELIVERY = "Events: Delivery and signature"
RULES = "Events: Delivery rules"
TOLERANCE_MS = 5 * 60 * 1000
RETRIES = [timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2), timedelta(hours=6)]


class Receiver:
    """A webhook endpoint for the account, and the inbox at the endpoint's URL."""

    def __init__(self, bench: Bench, events: tuple[str, ...]) -> None:
        self.bench, self.name = bench, bench.fresh("inbox")
        self.made = bench.done(CREATE, {"url": bench.world.inbox(self.name), "events": [*events]})
        self.id = self.made.text("id")

    def got(self, kind: str | None = None) -> list[Delivery]:
        """Return the deliveries after the test request at registration, either all or those of one event type."""
        rows = self.bench.world.received(self.name)[1:]
        return [row for row in rows if kind in (None, row.type)]

    def holds(self, held: bool, message: str, place: str) -> bool:
        return self.bench.holds(held, self.made, message, place)

    def counts(self, due: int, when: str, advance: str = "") -> bool:
        """Advance the clock, then check the number of deliveries so far. `when` is part of the failure message."""
        if advance:
            self.bench.world.advance(advance)
        count = len(self.got())
        return self.holds(count == due, f"{count} deliveries {when}, not {due}", "deliveries")

    def came(self, name: str, group: str, *words: str) -> None:
        """For each word, check that an event `group.word` about the resource with the id `name` was delivered."""
        types = [row.type for row in self.got() if row.object.get("id") == name]
        for kind in (f"{group}.{word}" for word in words):
            message = f"no {kind} for {name} was delivered; delivered: {', '.join(types) or 'nothing'}"
            self.holds(kind in types, message, kind)


@contextmanager
def receiving(bench: Bench, *events: str) -> Iterator[Receiver]:
    """Create a webhook endpoint, and delete it at the end of the `with` block."""
    receiver = Receiver(bench, events or ("*",))
    try:
        yield receiver
    finally:
        bench.call("DELETE /webhooks/{id}", id=receiver.id)


@contextmanager
def failing(bench: Bench, *statuses: int) -> Iterator[Receiver]:
    """Create an endpoint and one event. The endpoint returns these statuses in turn, and then repeats the last one."""
    with receiving(bench, "beneficiary.created") as receiver:
        bench.world.inbox_answers(receiver.name, *statuses)
        stock.beneficiary(bench, {**stock.BENEFICIARY, "name": stock.OUTSIDE_ASCII})
        bench.world.settle()
        yield receiver


@promise("webhook.endpoint", "Webhook endpoint", "writes", "hook")
def endpoint(bench: Bench) -> None:
    """A new endpoint is enabled and contains the URL, events and description that were sent."""
    body = {"url": bench.hook, "events": ["transaction.completed"], "description": "books"}
    made = bench.done(CREATE, body)
    bench.equal(made, "status", "enabled")
    for shown in (made, bench.done(SHOWN, id=made.text("id"))):
        bench.echoes(shown, body)
    tested = bench.call("POST /webhooks/{id}/test", {}, id=made.text("id"))
    bench.accepted(tested, after=(made,))
    bench.done("DELETE /webhooks/{id}", id=made.text("id"))


@promise("webhook.patched", "PATCH /webhooks/{id}", "writes", "hook")
def patched(bench: Bench) -> None:
    """PATCH /webhooks/{id} permanently changes events, description and status."""
    made = bench.done(CREATE, {"url": bench.hook, "events": ["*"]})
    change = {"events": ["deposit.confirmed"], "description": "other", "status": "disabled"}
    answer = bench.done(CHANGE, change, id=made.text("id"))
    for shown in (answer, bench.done(SHOWN, id=made.text("id"))):
        bench.echoes(shown, {**change, "url": bench.hook})
    bench.accepted(bench.call("GET /webhooks/{id}/deliveries", id=made.text("id")), 200)
    bench.done("DELETE /webhooks/{id}", id=made.text("id"))


@promise("webhook.registration", "Webhooks: must answer exactly HTTP 200", "writes", "control")
def registration(bench: Bench) -> None:
    """A URL that does not return exactly 200 is refused with 422 invalid_webhook_url, and no endpoint is created."""
    before = bench.total("GET /webhooks")
    for status in (201, 204, 302, 500):
        name = bench.fresh("inbox")
        bench.world.inbox_answers(name, status)
        answer = bench.call(CREATE, {"url": bench.world.inbox(name), "events": ["*"]})
        bench.refused(answer, 422, "invalid_webhook_url")
        bench.holds(bench.total("GET /webhooks") == before, answer, "an endpoint was created", "data")


@promise("webhook.test", "POST /webhooks/{id}/test", "writes", "control")
def test_call(bench: Bench) -> None:
    """The test operation sends a webhook.test event to the endpoint."""
    with receiving(bench) as receiver:
        answer = bench.done("POST /webhooks/{id}/test", {}, id=receiver.id)
        got = receiver.got("webhook.test")
        bench.holds(len(got) == 1, answer, f"{len(got)} webhook.test events, not 1", "data", after=(receiver.made,))


def _some(bench: Bench, receiver: Receiver) -> list[Delivery]:
    """Cause several events and return their deliveries."""
    stock.onramp(bench)
    stock.beneficiary(bench)
    return receiver.got()


@promise("webhook.signature", DELIVERY, "writes", "control")
def signature(bench: Bench) -> None:
    """X-Signature is the hex HMAC-SHA256 of X-Timestamp, a dot and the raw body, using the webhook key."""
    with receiving(bench) as receiver:
        for got in _some(bench, receiver):
            is_signed, given = got.signed_with(bench.world.webhook_key), got.headers.get("x-signature")
            receiver.holds(is_signed, f"{got.type} has a wrong signature: {given}", "X-Signature")


@promise("webhook.outside_ascii", DELIVERY, "writes", "control")
def outside_ascii(bench: Bench) -> None:
    """Non-ASCII letters in an event are unchanged, and the signature covers the bytes that are sent."""
    with failing(bench, 500, 200) as receiver:
        receiver.counts(2, "after two minutes", "2m")
        for one in receiver.got():
            name, sent, signature = one.object.get("name"), stock.OUTSIDE_ASCII, one.headers.get("x-signature")
            words = f"the signature does not match the sent bytes: {signature}"
            receiver.holds(one.signed_with(bench.world.webhook_key), words, "X-Signature")
            receiver.holds(name == sent, f"the name is {name!r}, not {sent!r}", "data.object.name")


@promise("webhook.timestamp", DELIVERY, "writes", "control")
def timestamp(bench: Bench) -> None:
    """X-Timestamp is the Unix time in milliseconds. It differs from the receiver's clock by at most five minutes."""
    with receiving(bench) as receiver:
        for got in _some(bench, receiver):
            text = got.headers.get("x-timestamp", "")
            # Use the wall clock, because a receiver compares with its own clock.
            held = text.isdecimal() and abs(int(text) - time.time() * 1000) < TOLERANCE_MS
            receiver.holds(held, f"X-Timestamp of {got.type} is {text!r}", "X-Timestamp")


@promise("webhook.subscribed", "POST /webhooks: events", "writes", "control")
def subscribed(bench: Bench) -> None:
    """An endpoint receives only the events that it subscribes to."""
    with receiving(bench, "beneficiary.created", "transaction.created") as receiver:
        kinds = sorted({got.type for got in _some(bench, receiver)})
        held = kinds == ["beneficiary.created", "transaction.created"]
        receiver.holds(held, f"it received {', '.join(kinds) or 'nothing'}", "events")


@guess("webhook.disabled", "W9", "writes", "control")
def disabled(bench: Bench) -> None:
    """A disabled endpoint receives nothing. After it is enabled again, it receives new events."""
    with receiving(bench, "beneficiary.created") as receiver:
        for status, due in (("disabled", 0), ("enabled", 1)):
            changed = bench.done(CHANGE, {"status": status}, id=receiver.id)
            stock.beneficiary(bench)
            count, after = len(receiver.got()), (receiver.made,)
            bench.holds(
                count == due, changed, f"{status}, it received {count} events, not {due}", "status", after=after
            )


@promise("webhook.retry", RULES, "writes", "control")
def retry(bench: Bench) -> None:
    """A failed delivery is retried after about a minute. After it is accepted, the event is not sent again."""
    with failing(bench, 500, 200) as receiver:
        receiver.counts(1, "at first")
        receiver.counts(2, "after two minutes", "2m")
        receiver.counts(2, "long after one was accepted", "12h")


@promise("webhook.acknowledged", RULES, "writes", "control")
def acknowledged(bench: Bench) -> None:
    """Any 2xx status accepts a delivery, not only 200."""
    with failing(bench, 204) as receiver:
        receiver.counts(1, "although the first was accepted with 204", "2m")


@promise("webhook.retry_schedule", RULES, "writes", "control")
def retry_schedule(bench: Bench) -> None:
    """Retries follow about 1 minute, 5 minutes, 30 minutes, 2 hours and 6 hours after the previous attempt."""
    with failing(bench, 500) as receiver:
        for attempt, pause in enumerate(RETRIES, 1):
            early, more = (f"{int(pause.total_seconds() * part)}s" for part in (0.85, 0.3))
            receiver.counts(attempt, f"{pause * 0.85} after the previous attempt", early)
            if not receiver.counts(attempt + 1, f"{pause} after the previous attempt", more):
                return
            # Do not wait longer than the next retry interval allows. The interval is at least 85 percent of its
            # nominal length and starts at the attempt itself.
            if pause is not RETRIES[-1]:
                bench.world.advance("1s")


@promise("webhook.same_event", "Events: deduplicate on the event id", "writes", "control")
def same_event(bench: Bench) -> None:
    """Every attempt to deliver an event sends the same event id and object."""
    with failing(bench, 500, 500, 200) as receiver:
        receiver.counts(3, "after ten minutes", "10m")
        first, *others = receiver.got()
        for other in others:
            held = other.id == first.id and other.object == first.object
            receiver.holds(held, "an attempt has another id or object", "id")


@guess("webhook.same_bytes", "W7", "writes", "control")
def same_bytes(bench: Bench) -> None:
    """All attempts to deliver an event send the same body bytes. Each attempt is signed with its own timestamp."""
    with failing(bench, 500, 500, 200) as receiver:
        bench.world.advance("10m")
        got = receiver.got()
        for other in got:
            held = other.raw == got[0].raw and other.signed_with(bench.world.webhook_key)
            receiver.holds(held, "an attempt has other bytes or a wrong signature", "body")


@promise("webhook.retry_timestamp", DELIVERY, "writes", "control")
def retry_timestamp(bench: Bench) -> None:
    """The X-Timestamp of each attempt is the time at which this attempt was sent."""
    with bench.world.settings(webhook_timestamp="simulated"), failing(bench, 500, 500, 500, 200) as receiver:
        receiver.counts(4, "after 45 minutes", "45m")
        stamps = [int(got.headers["x-timestamp"]) for got in receiver.got()]
        for earlier, later, pause in zip(stamps, stamps[1:], RETRIES, strict=False):
            apart = timedelta(milliseconds=later - earlier)
            held = pause * 0.85 <= apart <= pause * 1.15
            receiver.holds(held, f"two attempts {pause} apart have timestamps {apart} apart", "X-Timestamp")


@promise("webhook.gives_up", RULES, "writes", "control")
def gives_up(bench: Bench) -> None:
    """An endpoint that fails for three days is disabled. PATCH /webhooks/{id} can enable it again."""
    with failing(bench, 500) as receiver:
        bench.equal(bench.done(SHOWN, id=receiver.id), "status", "enabled", after=(receiver.made,))
        bench.world.advance("76h")
        bench.equal(bench.done(SHOWN, id=receiver.id), "status", "disabled", after=(receiver.made,))
        bench.world.inbox_answers(receiver.name, 200)
        bench.equal(bench.done(CHANGE, {"status": "enabled"}, id=receiver.id), "status", "enabled")


@guess("webhook.attempts", "W5", "writes", "control")
def attempts(bench: Bench) -> None:
    """For an event that is never accepted, there are eleven attempts, the last after 68 hours and 36 minutes."""
    with failing(bench, 500) as receiver:
        receiver.counts(10, "before 68h36m", "68h35m59s")
        receiver.counts(11, "in all", "5h")


@promise("webhook.deliveries", "GET /webhooks/{id}/deliveries", "writes", "control")
def deliveries(bench: Bench) -> None:
    """An endpoint's list of deliveries contains each attempt with the status that the receiver returned."""
    with failing(bench, 500, 200) as receiver:
        bench.world.advance("2m")
        receiver.got()
        page = bench.done("GET /webhooks/{id}/deliveries", id=receiver.id)
        statuses = sorted(str(row.get("response_status")) for row in page.items)
        bench.holds(statuses == ["200", "500"], page, f"statuses are {statuses}", "data", after=(receiver.made,))


@guess("webhook.one_after_another", "W6", "writes", "control")
def one_after_another(bench: Bench) -> None:
    """The first delivery attempts for several events arrive in the order in which the events were created."""
    with receiving(bench) as receiver:
        for _ in range(3):
            stock.onramp(bench)
            stock.beneficiary(bench)
        times = [instant(str(got.event["created_at"])) for got in receiver.got()]
        receiver.holds(times == sorted(times), "events are out of order", "created_at")


def shown_of(bench: Bench, got: Delivery) -> Answer | None:
    """Return the current GET response for an event's resource, or None if no operation reads this kind of resource."""
    name = str(got.object.get("id") or "")
    for kind, prefix, reading in (
        ("transaction.", "", "GET /transactions/{id}"), ("beneficiary.", "", "GET /beneficiaries/{id}"),
        ("quote.", "qt_", "GET /quotes/{id}"), ("wallet.created", "wal_", "GET /wallets/{id}"),
        ("recurring_payment.", "", "GET /recurring-payments/{id}"), ("kyc.", "", "GET /profile/kyc"),
    ):  # fmt: skip
        if got.type.startswith(kind) and name.startswith(prefix):
            return bench.call(reading, id=name)
    return None


invalid_webhook_url = refusals(
    "errors.invalid_webhook_url", "Errors: invalid_webhook_url",
    "A URL that is not a public HTTPS address is refused with 422 invalid_webhook_url.",
    *(Refusal("422 invalid_webhook_url", CREATE, {"url": url, "events": ["*"]})
      for url in ("http://example.com/hook", "ftp://example.com/hook", "hook", "https://10.0.0.1/hook")),
)  # fmt: skip
unsupported_event = refusals(
    "errors.unsupported_event", "Errors: unsupported_event", "An unknown event is refused with 422 unsupported_event.",
    Refusal("422 unsupported_event", CREATE, {"url": "https://example.com/hook", "events": ["transaction.imagined"]}),
)  # fmt: skip
