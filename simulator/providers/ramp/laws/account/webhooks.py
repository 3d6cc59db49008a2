"""Webhooks: registration, signatures, retries, and what an endpoint gets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from simulator.conformance.bench import Bench
from simulator.conformance.laws import guess, promise
from simulator.conformance.service import Answer
from simulator.conformance.world import Delivery
from simulator.providers.ramp.laws import stock
from simulator.providers.ramp.laws.money.quotes import instant

MAKE, SHOWN, CHANGE = "POST /webhooks", "GET /webhooks/{id}", "PATCH /webhooks/{id}"
DELIVERY = "Events: Delivery and signature"
RULES = "Events: Delivery rules"
TOLERANCE_MS = 5 * 60 * 1000
RETRIES = [timedelta(minutes=1), timedelta(minutes=5), timedelta(minutes=30), timedelta(hours=2), timedelta(hours=6)]


class Receiver:
    """An endpoint of the account with the inbox that it points to."""

    def __init__(self, bench: Bench, events: tuple[str, ...]) -> None:
        self.bench, self.name = bench, bench.fresh("inbox")
        self.url = bench.world.inbox(self.name)
        self.made = bench.done(MAKE, {"url": self.url, "events": [*events]})
        self.id = self.made.text("id")

    def got(self, kind: str | None = None) -> list[Delivery]:
        """What came, the test at registration left out."""
        rows = self.bench.world.received(self.name)[1:]
        return [row for row in rows if kind in (None, row.type)]

    def answers(self, *statuses: int) -> None:
        self.bench.world.inbox_answers(self.name, *statuses)


@contextmanager
def receiving(bench: Bench, *events: str) -> Iterator[Receiver]:
    """An endpoint for the length of a block; it is deleted at the end."""
    receiver = Receiver(bench, events or ("*",))
    try:
        yield receiver
    finally:
        bench.call("DELETE /webhooks/{id}", id=receiver.id)


@promise("webhook.endpoint", "Webhook endpoint", "writes", "hook")
def endpoint(bench: Bench) -> None:
    """An endpoint is enabled from its registration, with the URL, the events and the description it was given."""
    body = {"url": bench.hook, "events": ["transaction.completed"], "description": "books"}
    made = bench.done(MAKE, body)
    bench.equal(made, "status", "enabled")
    for shown in (made, bench.done(SHOWN, id=made.text("id"))):
        for name, value in body.items():
            bench.equal(shown, name, value)
    tested = bench.call("POST /webhooks/{id}/test", {}, id=made.text("id"))
    bench.accepted(tested, after=(made,))
    bench.done("DELETE /webhooks/{id}", id=made.text("id"))


@promise("webhook.patched", "PATCH /webhooks/{id}", "writes", "hook")
def patched(bench: Bench) -> None:
    """PATCH changes events, description and status, and they stay changed."""
    made = bench.done(MAKE, {"url": bench.hook, "events": ["*"]})
    change = {"events": ["deposit.confirmed"], "description": "other", "status": "disabled"}
    answer = bench.done(CHANGE, change, id=made.text("id"))
    for shown in (answer, bench.done(SHOWN, id=made.text("id"))):
        for name, value in change.items():
            bench.equal(shown, name, value)
        bench.equal(shown, "url", bench.hook)
    bench.accepted(bench.call("GET /webhooks/{id}/deliveries", id=made.text("id")), 200)
    bench.done("DELETE /webhooks/{id}", id=made.text("id"))


@promise("webhook.registration", "Webhooks: must answer exactly HTTP 200", "writes", "control")
def registration(bench: Bench) -> None:
    """A URL is taken only when it answers exactly 200; otherwise 422 invalid_webhook_url, and nothing is stored."""
    before = bench.total("GET /webhooks")
    for status in (201, 204, 302, 500):
        name = bench.fresh("inbox")
        bench.world.inbox_answers(name, status)
        answer = bench.call(MAKE, {"url": bench.world.inbox(name), "events": ["*"]})
        bench.refused(answer, 422, "invalid_webhook_url")
        bench.holds(bench.total("GET /webhooks") == before, answer, "an endpoint was stored", "data")


@promise("errors.invalid_webhook_url", "Errors: invalid_webhook_url", "writes")
def invalid_urls(bench: Bench) -> None:
    """A URL that is no public HTTPS address is refused with 422 invalid_webhook_url."""
    for url in ("http://example.com/hook", "ftp://example.com/hook", "hook", "https://10.0.0.1/hook"):
        bench.refuses(422, "invalid_webhook_url", MAKE, {"url": url, "events": ["*"]})


@promise("errors.unsupported_event", "Errors: unsupported_event", "writes")
def unsupported_events(bench: Bench) -> None:
    """An event that there is not is refused with 422 unsupported_event."""
    bench.refuses(
        422, "unsupported_event", MAKE, {"url": "https://example.com/hook", "events": ["transaction.imagined"]}
    )


@promise("webhook.test", "POST /webhooks/{id}/test", "writes", "control")
def test_call(bench: Bench) -> None:
    """The test call sends a webhook.test event to the endpoint."""
    with receiving(bench) as receiver:
        answer = bench.done("POST /webhooks/{id}/test", {}, id=receiver.id)
        got = receiver.got("webhook.test")
        bench.holds(len(got) == 1, answer, f"{len(got)} events webhook.test came", "data", after=(receiver.made,))


def _some(bench: Bench, receiver: Receiver) -> list[Delivery]:
    """Deliveries of a few events."""
    stock.onramp(bench)
    stock.beneficiary(bench)
    return receiver.got()


@promise("webhook.signature", DELIVERY, "writes", "control")
def signature(bench: Bench) -> None:
    """X-Signature is the HMAC-SHA256 of X-Timestamp, a dot and the raw body under the webhook key, in hex."""
    with receiving(bench) as receiver:
        for got in _some(bench, receiver):
            held = got.signed_with(bench.world.webhook_key)
            bench.holds(
                held, receiver.made, f"{got.type} is not signed so: {got.headers.get('x-signature')}", "X-Signature"
            )


@promise("webhook.outside_ascii", DELIVERY, "writes", "control")
def outside_ascii(bench: Bench) -> None:
    """An event with letters outside ASCII is signed over the very bytes that are sent, and has them as they were."""
    with receiving(bench, "beneficiary.created") as receiver:
        receiver.answers(500, 200)
        stock.beneficiary(bench, {**stock.BENEFICIARY, "name": stock.OUTSIDE_ASCII})
        bench.world.advance("2m")
        got = receiver.got()
        bench.holds(len(got) == 2, receiver.made, f"{len(got)} attempts, not 2", "deliveries")
        for one in got:
            held = one.signed_with(bench.world.webhook_key)
            words = f"not signed over what was sent: {one.headers.get('x-signature')}"
            bench.holds(held, receiver.made, words, "X-Signature")
            name = one.object.get("name")
            words = f"the name is {name!r}, not {stock.OUTSIDE_ASCII!r}"
            bench.holds(name == stock.OUTSIDE_ASCII, receiver.made, words, "data.object.name")


@promise("webhook.timestamp", DELIVERY, "writes", "control")
def timestamp(bench: Bench) -> None:
    """X-Timestamp is Unix time in milliseconds, within five minutes of the receiver's clock."""
    with receiving(bench) as receiver:
        for got in _some(bench, receiver):
            text = got.headers.get("x-timestamp", "")
            # The wall clock: a receiver compares with its own.
            held = text.isdecimal() and abs(int(text) - time.time() * 1000) < TOLERANCE_MS
            bench.holds(held, receiver.made, f"{got.type} carries X-Timestamp {text!r}", "X-Timestamp")


@promise("webhook.subscribed", "POST /webhooks: events", "writes", "control")
def subscribed(bench: Bench) -> None:
    """An endpoint gets the events it subscribes to and no others."""
    with receiving(bench, "beneficiary.created", "transaction.created") as receiver:
        kinds = sorted({got.type for got in _some(bench, receiver)})
        held = kinds == ["beneficiary.created", "transaction.created"]
        bench.holds(held, receiver.made, f"it got {', '.join(kinds) or 'nothing'}", "events")


@guess("webhook.disabled", "W9", "writes", "control")
def disabled(bench: Bench) -> None:
    """A disabled endpoint gets nothing, and new events once it is enabled again."""
    with receiving(bench, "beneficiary.created") as receiver:
        off = bench.done(CHANGE, {"status": "disabled"}, id=receiver.id)
        stock.beneficiary(bench)
        bench.holds(receiver.got() == [], off, "a disabled endpoint got events", "status", after=(receiver.made,))
        on = bench.done(CHANGE, {"status": "enabled"}, id=receiver.id)
        stock.beneficiary(bench)
        count = len(receiver.got())
        bench.holds(count == 1, on, f"enabled again it got {count} events, not 1", "status", after=(receiver.made,))


def _failing(bench: Bench, receiver: Receiver, *statuses: int) -> None:
    """One event whose first attempts fail."""
    receiver.answers(*statuses)
    stock.beneficiary(bench, {**stock.BENEFICIARY, "name": stock.OUTSIDE_ASCII})
    bench.world.settle()


@promise("webhook.retry", RULES, "writes", "control")
def retry(bench: Bench) -> None:
    """A delivery that failed is tried again after about a minute, and no more once it was taken."""
    with receiving(bench, "beneficiary.created") as receiver:
        _failing(bench, receiver, 500, 200)
        bench.holds(len(receiver.got()) == 1, receiver.made, "the first attempt is not one", "deliveries")
        bench.world.advance("2m")
        bench.holds(len(receiver.got()) == 2, receiver.made, "no second attempt after two minutes", "deliveries")
        bench.world.advance("12h")
        count = len(receiver.got())
        bench.holds(count == 2, receiver.made, f"{count} attempts after it was taken", "deliveries")


@promise("webhook.acknowledged", RULES, "writes", "control")
def acknowledged(bench: Bench) -> None:
    """Any 2xx takes a delivery, not 200 alone."""
    with receiving(bench, "beneficiary.created") as receiver:
        _failing(bench, receiver, 204)
        bench.world.advance("2m")
        count = len(receiver.got())
        bench.holds(count == 1, receiver.made, f"{count} attempts although the first was answered 204", "deliveries")


@promise("webhook.retry_schedule", RULES, "writes", "control")
def retry_schedule(bench: Bench) -> None:
    """Retries come about 1 minute, 5 minutes, 30 minutes, 2 hours and 6 hours after the attempt before."""
    with receiving(bench, "beneficiary.created") as receiver:
        _failing(bench, receiver, 500)
        attempts = 1
        for pause in RETRIES:
            bench.world.advance(f"{int(pause.total_seconds() * 0.85)}s")
            early = len(receiver.got())
            bench.holds(early == attempts, receiver.made, f"attempt {early} comes before {pause * 0.85}", "deliveries")
            bench.world.advance(f"{int(pause.total_seconds() * 0.3)}s")
            attempts += 1
            late = len(receiver.got())
            words = f"{late} attempts, {attempts} are due {pause} after the last"
            if not bench.holds(late == attempts, receiver.made, words, "deliveries"):
                return
            # Wait no longer than the next pause allows: its 85 per cent start at the attempt itself.
            if pause is not RETRIES[-1]:
                bench.world.advance("1s")


@promise("webhook.same_event", "Events: deduplicate on the event id", "writes", "control")
def same_event(bench: Bench) -> None:
    """Every attempt of an event has the same id and object."""
    with receiving(bench, "beneficiary.created") as receiver:
        _failing(bench, receiver, 500, 500, 200)
        bench.world.advance("10m")
        got = receiver.got()
        bench.holds(len(got) == 3, receiver.made, f"{len(got)} attempts, not 3", "deliveries")
        for other in got[1:]:
            held = other.id == got[0].id and other.object == got[0].object
            bench.holds(held, receiver.made, "an attempt has another id or object", "id")


@guess("webhook.same_bytes", "W7", "writes", "control")
def same_bytes(bench: Bench) -> None:
    """Every attempt of an event has the same bytes, validly signed with a timestamp of its own."""
    with receiving(bench, "beneficiary.created") as receiver:
        _failing(bench, receiver, 500, 500, 200)
        bench.world.advance("10m")
        got = receiver.got()
        for other in got:
            held = other.raw == got[0].raw and other.signed_with(bench.world.webhook_key)
            bench.holds(held, receiver.made, "an attempt has other bytes, or is not signed", "body")


@promise("webhook.retry_timestamp", DELIVERY, "writes", "control")
def retry_timestamp(bench: Bench) -> None:
    """Each attempt carries the X-Timestamp of its own sending, later than that of the one before by the pause."""
    with bench.world.settings(webhook_timestamp="simulated"), receiving(bench, "beneficiary.created") as receiver:
        _failing(bench, receiver, 500, 500, 500, 200)
        bench.world.advance("45m")
        stamps = [int(got.headers["x-timestamp"]) for got in receiver.got()]
        bench.holds(len(stamps) == 4, receiver.made, f"{len(stamps)} attempts, not 4", "deliveries")
        for earlier, later, pause in zip(stamps, stamps[1:], RETRIES, strict=False):
            apart = timedelta(milliseconds=later - earlier)
            held = pause * 0.85 <= apart <= pause * 1.15
            words = f"two attempts that lie about {pause} apart carry stamps {apart} apart"
            bench.holds(held, receiver.made, words, "X-Timestamp")


@promise("webhook.gives_up", RULES, "writes", "control")
def gives_up(bench: Bench) -> None:
    """An endpoint that fails for three days is disabled, and PATCH enables it again."""
    with receiving(bench, "beneficiary.created") as receiver:
        _failing(bench, receiver, 500)
        bench.equal(bench.done(SHOWN, id=receiver.id), "status", "enabled", after=(receiver.made,))
        bench.world.advance("76h")
        shown = bench.done(SHOWN, id=receiver.id)
        bench.equal(shown, "status", "disabled", after=(receiver.made,))
        receiver.answers(200)
        bench.equal(bench.done(CHANGE, {"status": "enabled"}, id=receiver.id), "status", "enabled")


@guess("webhook.attempts", "W5", "writes", "control")
def attempts(bench: Bench) -> None:
    """An event that is never taken has eleven attempts, the last after 68 hours and 36 minutes."""
    with receiving(bench, "beneficiary.created") as receiver:
        _failing(bench, receiver, 500)
        bench.world.advance("68h35m59s")
        count = len(receiver.got())
        bench.holds(count == 10, receiver.made, f"{count} attempts before 68h36m, not 10", "deliveries")
        bench.world.advance("5h")
        count = len(receiver.got())
        bench.holds(count == 11, receiver.made, f"{count} attempts in all, not 11", "deliveries")


@promise("webhook.deliveries", "GET /webhooks/{id}/deliveries", "writes", "control")
def deliveries(bench: Bench) -> None:
    """The deliveries of an endpoint tell each attempt with the status that came back."""
    with receiving(bench, "beneficiary.created") as receiver:
        _failing(bench, receiver, 500, 200)
        bench.world.advance("2m")
        receiver.got()
        page = bench.done("GET /webhooks/{id}/deliveries", id=receiver.id)
        told = sorted(str(row.get("response_status")) for row in page.items)
        bench.holds(told == ["200", "500"], page, f"statuses are {told}", "data", after=(receiver.made,))


@guess("webhook.one_after_another", "W6", "writes", "control")
def one_after_another(bench: Bench) -> None:
    """First attempts come in the order of their events."""
    with receiving(bench) as receiver:
        for _ in range(3):
            stock.onramp(bench)
            stock.beneficiary(bench)
        times = [instant(str(got.event["created_at"])) for got in receiver.got()]
        bench.holds(times == sorted(times), receiver.made, "events come out of order", "created_at")


def shown_of(bench: Bench, got: Delivery) -> Answer | None:
    """The resource of an event as GET shows it now; None where nothing shows it."""
    name, kind = str(got.object.get("id") or ""), got.type.partition(".")[0]
    reading = {
        "transaction": "GET /transactions/{id}", "beneficiary": "GET /beneficiaries/{id}", "quote": "GET /quotes/{id}",
        "recurring_payment": "GET /recurring-payments/{id}", "kyc": "GET /profile/kyc",
    }.get(kind)  # fmt: skip
    if kind == "quote" and not name.startswith("qt_"):
        return None
    if got.type == "wallet.created" and name.startswith("wal_"):
        reading = "GET /wallets/{id}"
    return bench.call(reading, id=name) if reading else None


LAWS = (
    endpoint, patched, registration, invalid_urls, unsupported_events, test_call, signature, outside_ascii,
    timestamp, subscribed, disabled, retry, acknowledged, retry_schedule, same_event, same_bytes, retry_timestamp,
    gives_up, attempts, deliveries, one_after_another,
)  # fmt: skip
