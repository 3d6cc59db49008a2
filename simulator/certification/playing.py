"""Checks of rules that need more than one request: unknown events, the sequence of deliveries, outages."""

from __future__ import annotations

from collections.abc import Iterator

from simulator.certification import signing
from simulator.certification.session import Broken, Exchange, Session
from simulator.certification.signing import SIGNING, with_object
from simulator.certification.stage import Order, Unplayed
from simulator.engine.text.json import JsonObject
from simulator.kernel.clock import format_timestamp

_AGAIN = 10
"""The factor for the second wait, so that a busy receiver is not mistaken for one that ignores the event."""


def quick_acknowledgement(session: Session) -> None:
    order = session.order()
    for exchange in _history(session, order):
        if exchange.milliseconds > session.quick_seconds * 1000 or "timeout" in str(exchange.error):
            raise Broken.by(exchange)


def no_redirect(session: Session) -> None:
    for sent, event in (("an event", session.event()), ("the test request sent at registration", _test_event(session))):
        exchange = session.send(sent, event)
        if exchange.status is None or 300 <= exchange.status < 400:
            raise Broken.by(exchange)


def registration_200(session: Session) -> None:
    exchange = session.send("the signed webhook.test event sent at registration", _test_event(session))
    if exchange.status != 200:
        raise Broken.by(exchange)


def garbled_timestamp(session: Session) -> None:
    for case in signing.garbled_timestamp(session.material):
        exchange = session.transmit(case)
        # The service never sends this. If a receiver fails with 5xx, it has not accepted the request either.
        if exchange.ok:
            raise Broken.by(exchange)


def unknown_type(session: Session) -> None:
    # The receiver knows the transaction of both events. Only their types are new.
    for kind in ("transaction.held_for_review", "compliance.review_opened"):
        session.accepted(session.send(f"{kind}, about a transaction", {**session.event(), "type": kind}))


def unknown_enum(session: Session) -> None:
    for sent, fields in (
        ("a transaction with the status under_review", {"status": "under_review"}),
        ("a transaction of a new type, asset and network", {"network": "solana", "asset": "EURC", "type": "topup"}),
    ):
        session.accepted(session.send(sent, with_object(session.event(), **fields)))


def extra_field(session: Session) -> None:
    event = session.event()
    more = {**with_object(event, risk={"score": 12, "labels": ["new"]}, memo=None), "api_version": "2027-01-01"}
    session.accepted(session.send("an event with new fields, in the envelope and in its object", more))


def booked_once(session: Session) -> None:
    order = session.order()
    session.accepted(*_history(session, order))
    session.claim(order, "it was paid and delivered, and each event arrived once and in order")


def refund_not_booked(session: Session) -> None:
    refund, completed = session.playbook.refund, session.history[-1].event
    if not refund:
        raise Unplayed("the service does not refund orders")
    order = session.order()
    session.accepted(*_history(session, order, -1))
    order.live(*refund)
    for step in refund:
        session.accepted(session.send(step.event, order.event(step.event)))
    session.claim(order, "it failed after it was paid, and the payer was refunded", paid_out=False)
    order = session.order("-after-completed")
    session.accepted(*_history(session, order))
    order.live(refund[-1])
    session.accepted(session.send(f"{refund[-1].event}, after {completed}", order.event(refund[-1].event)))
    session.claim(order, "it was completed, and then the payer was refunded", paid_out=False)


def forged_not_booked(session: Session) -> None:
    for rule in ("unknown-signature", "stale-timestamp", "altered-body"):
        for case in SIGNING[rule](session.material):
            session.transmit(case)
    session.claim(session.unpaid, "it is completed only in forged events", paid_out=False)


def duplicate_event(session: Session) -> None:
    order = session.order()
    session.accepted(*_history(session, order))
    completed = session.history[-1].event
    event = order.event(completed)
    for time in ("second", "third"):
        session.accepted(session.send(f"the same {completed} for the {time} time", event))
    session.claim(order, f"its {completed} arrived three times")


def same_type_again(session: Session) -> None:
    schedule = session.schedule()
    first, second = schedule.events
    kind = first["type"]
    known = schedule.reads()
    session.accepted(session.send(f"{kind} of the first run", first))
    is_read_after_events = schedule.await_read(known, session.outage_seconds)
    known = schedule.reads()
    exchange = session.send(f"{kind} of the second run: another event of the same object and type", second)
    session.accepted(exchange)
    if is_read_after_events and not schedule.await_read(known, _AGAIN * session.outage_seconds):
        got = f"{exchange.got}, but the receiver read the payment after the first event and not after the second"
        raise Broken(exchange.sent, got, exchange=exchange)
    session.claim_runs(schedule, "its two runs succeeded, and each had its own event")


def late_after_final(session: Session) -> None:
    first, *between, completed = _events(session)
    order = session.order()
    session.accepted(session.send(first, order.event(first)))
    order.live(*session.history[1:])
    session.accepted(session.send(completed, order.event(completed)))
    for kind in between:
        session.accepted(session.send(f"{kind}, after {completed}", order.event(kind)))
    session.claim(order, f"earlier events arrived late, after {completed}")


def out_of_order(session: Session) -> None:
    *before, processing, completed = _events(session)
    order = _finished(session)
    session.accepted(session.send(f"{completed}, before any other event of it", order.event(completed)))
    for kind in (processing, *before):
        session.accepted(session.send(kind, order.event(kind)))
    session.claim(order, f"its {completed} was the first event to arrive")


def two_at_once(session: Session) -> None:
    first, *_, processing, completed = _events(session)
    order = _finished(session)
    session.accepted(session.send(first, order.event(first)))
    together = (completed, completed), (processing, processing), (f"the same {completed}", completed)
    session.accepted(*session.send_together(
        [(f"{sent}, at the same time as the other two", order.event(kind)) for sent, kind in together]
    ))  # fmt: skip
    session.claim(order, f"its {completed} arrived twice, concurrently with {processing}")


def retry_after_failure(session: Session) -> None:
    order, event = _completed(session)
    down = {"match": {"method": "GET"}, "respond": {"status": 503, "code": "service_unavailable"}}
    with session.stage.fault(down) as outage:
        first = session.send(f"{event['type']}, while the API returns 503 to every GET", event)
        if first.ok:
            session.stage.await_calm(outage, session.outage_seconds)
    if not first.ok:
        session.accepted(session.send(f"the same again after {first.status}; the API is up again", event))
    session.claim(order, f"the API was down when its {event['type']} came")


def calls_back_before_answering(session: Session) -> None:
    _, event = _completed(session)
    seconds = session.patience_seconds + 2
    with session.stage.fault({"match": {"method": "GET"}, "delay": seconds}):
        exchange = session.send(f"{event['type']}, while the API takes {seconds:g} s for every GET", event)
    if exchange.status is None:
        raise Broken.by(exchange)
    if not exchange.ok:
        # If the receiver refuses in time, nothing is lost, because the service sends the event again.
        session.accepted(session.send(f"the same again after {exchange.status}; the API is fast again", event))


def _events(session: Session) -> list[str]:
    """Return the types of an order's events. Raise `Unplayed` if there are fewer than three."""
    if len(session.history) < 3:
        raise Unplayed("an order of this service has fewer than three events, which this rule needs")
    return [step.event for step in session.history]


def _history(session: Session, order: Order, until: int | None = None) -> Iterator[Exchange]:
    """Perform the steps of an order up to the one with the index `until`, and send the event of each."""
    for step in session.history[:until]:
        order.live(step)
        yield session.send(step.event, order.event(step.event))


def _completed(session: Session) -> tuple[Order, JsonObject]:
    """Return a completed order, and the only one of its events that was not sent, the last one."""
    order, last = session.order(), session.history[-1]
    session.accepted(*_history(session, order, -1))
    order.live(last)
    return order, order.event(last.event)


def _finished(session: Session) -> Order:
    """Return a completed order for which no event was sent."""
    order = session.order()
    order.live(*session.history)
    return order


def _test_event(session: Session) -> JsonObject:
    endpoint = {
        "id": "wh_certify", "url": session.url, "events": ["*"], "description": None, "status": "enabled",
        "created_at": format_timestamp(session.stage.now_ms()),
    }  # fmt: skip
    return session.stage.envelope("webhook.test", endpoint)
