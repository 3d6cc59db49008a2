"""What is played to a receiver beyond single requests: events it does not know, orders of delivery, outages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from simulator.certification.examining import Broken, Exam, Exchange
from simulator.certification.service import Step
from simulator.certification.signing import SIGNING
from simulator.certification.stage import Order, Unplayed
from simulator.engine.text.json import JsonObject
from simulator.kernel.clock import format_timestamp

_AGAIN = 10
"""How many times longer a second read is waited for than the first: a busy receiver must not look like a deaf one."""


def quick_acknowledgement(exam: Exam) -> None:
    order = exam.order()
    for exchange in _story(exam, order):
        if exchange.milliseconds > exam.quick_seconds * 1000 or "timeout" in str(exchange.error):
            raise Broken.by(exchange)


def no_redirect(exam: Exam) -> None:
    for sent, event in (("an event", exam.event()), ("the test request of a registration", _test_event(exam))):
        exchange = exam.send(sent, event)
        if exchange.status is None or 300 <= exchange.status < 400:
            raise Broken.by(exchange)


def registration_200(exam: Exam) -> None:
    exchange = exam.send("the signed webhook.test of a registration", _test_event(exam))
    if exchange.status != 200:
        raise Broken.by(exchange)


def garbled_timestamp(exam: Exam) -> None:
    for case in SIGNING["garbled-timestamp"](exam.material):
        exchange = exam.transmit(case)
        # The service never sends this: whoever breaks over it has not taken it for genuine.
        if exchange.ok:
            raise Broken.by(exchange)


def unknown_type(exam: Exam) -> None:
    # Both tell of a transaction that the receiver knows: their types alone are new.
    for kind in ("transaction.held_for_review", "compliance.review_opened"):
        exam.accepted(exam.send(f"{kind}, about a transaction", {**exam.event(), "type": kind}))


def unknown_enum(exam: Exam) -> None:
    changed = _with_object(exam.event(), status="under_review")
    exam.accepted(exam.send("a transaction with the status under_review", changed))
    changed = _with_object(exam.event(), network="solana", asset="EURC", type="topup")
    exam.accepted(exam.send("a transaction of a new type, asset and network", changed))


def extra_field(exam: Exam) -> None:
    event = exam.event()
    more = {**_with_object(event, risk={"score": 12, "labels": ["new"]}, memo=None), "api_version": "2027-01-01"}
    exam.accepted(exam.send("an event with members that are new, in the envelope and in its object", more))


def booked_once(exam: Exam) -> None:
    order = exam.order()
    exam.accepted(*_story(exam, order))
    exam.claim(order, "it was paid and delivered, each event came once and in order")


def refund_not_booked(exam: Exam) -> None:
    refund, completed = exam.stage.service.examined.refund, exam.story[-1].event
    if not refund:
        raise Unplayed("the service undoes no order")
    order = exam.order()
    exam.accepted(*_all_but_the_last(exam, order))
    order.live(*refund)
    for step in refund:
        exam.accepted(exam.send(step.event, order.event(step.event)))
    exam.claim(order, "it failed after it was paid, and the payer got the money back", paid_out=False)
    order = exam.order("-after-completed")
    exam.accepted(*_story(exam, order))
    order.live(refund[-1])
    exam.accepted(exam.send(f"{refund[-1].event}, after {completed}", order.event(refund[-1].event)))
    exam.claim(order, "it was completed, and then the payer got the money back", paid_out=False)


def forged_not_booked(exam: Exam) -> None:
    for rule in ("unknown-signature", "stale-timestamp", "altered-body"):
        for case in SIGNING[rule](exam.material):
            exam.transmit(case)
    exam.claim_unpaid("only forged events say that it was completed")


def duplicate_event(exam: Exam) -> None:
    order = exam.order()
    exam.accepted(*_story(exam, order))
    completed = exam.story[-1].event
    event = order.event(completed)
    for time in ("second", "third"):
        exam.accepted(exam.send(f"the same {completed} for the {time} time", event))
    exam.claim(order, f"its {completed} came three times")


def same_type_again(exam: Exam) -> None:
    schedule = exam.schedule()
    first, second = (run.event for run in schedule.runs)
    kind = first["type"]
    known = schedule.reads()
    exam.accepted(exam.send(f"{kind} of the first run", first))
    is_read_after_events = schedule.await_read(known, exam.outage_seconds)
    known = schedule.reads()
    exchange = exam.send(f"{kind} of the second run: another event of the same object and type", second)
    exam.accepted(exchange)
    if is_read_after_events and not schedule.await_read(known, _AGAIN * exam.outage_seconds):
        got = f"{exchange.got}, but the receiver read the payment after the first event and not after the second"
        raise Broken(exchange.sent, got, exchange=exchange)
    exam.claim_runs(schedule, "its two runs succeeded, and each was reported by an event of its own")


def late_after_final(exam: Exam) -> None:
    first, *between, completed = _events(exam)
    order = exam.order()
    exam.accepted(exam.send(first, order.event(first)))
    order.live(*exam.story[1:])
    exam.accepted(exam.send(completed, order.event(completed)))
    for kind in between:
        exam.accepted(exam.send(f"{kind}, after {completed}", order.event(kind)))
    exam.claim(order, f"earlier events came late, after {completed}")


def out_of_order(exam: Exam) -> None:
    *before, processing, completed = _events(exam)
    order = _finished(exam)
    exam.accepted(exam.send(f"{completed}, before any other event of it", order.event(completed)))
    for kind in (processing, *before):
        exam.accepted(exam.send(kind, order.event(kind)))
    exam.claim(order, f"its {completed} was the first event that came")


def two_at_once(exam: Exam) -> None:
    first, *_, processing, completed = _events(exam)
    order = _finished(exam)
    exam.accepted(exam.send(first, order.event(first)))
    together = [
        (f"{completed}, together with the other two", order.event(completed)),
        (f"{processing}, together with the other two", order.event(processing)),
        (f"the same {completed}, together with the other two", order.event(completed)),
    ]
    exam.accepted(*exam.send_together(together))
    exam.claim(order, f"its {completed} came twice at the same moment, and {processing} with it")


def retry_after_failure(exam: Exam) -> None:
    order, completed = exam.order(), exam.story[-1].event
    exam.accepted(*_all_but_the_last(exam, order))
    order.live(exam.story[-1])
    event = order.event(completed)
    down = {"match": {"method": "GET"}, "respond": {"status": 503, "code": "service_unavailable"}}
    with exam.stage.fault(down) as outage:
        first = exam.send(f"{completed}, while the interface answers 503 to every GET", event)
        if first.ok:
            exam.stage.await_calm(outage, exam.outage_seconds)
    if not first.ok:
        exam.accepted(exam.send(f"the same again, as it was answered {first.status}; the interface is up again", event))
    exam.claim(order, f"the interface was down when its {completed} came")


def calls_back_before_answering(exam: Exam) -> None:
    order, completed = exam.order(), exam.story[-1].event
    exam.accepted(*_all_but_the_last(exam, order))
    order.live(exam.story[-1])
    event = order.event(completed)
    seconds = exam.patience_seconds + 2
    with exam.stage.fault({"match": {"method": "GET"}, "delay": seconds}):
        exchange = exam.send(f"{completed}, while the interface takes {seconds:g} s for every GET", event)
    if exchange.status is None:
        raise Broken.by(exchange)
    if not exchange.ok:
        # A refusal in time loses nothing: the service sends the event again.
        exam.accepted(exam.send(f"the same again, as it was answered {exchange.status}; the interface is quick", event))


def _events(exam: Exam) -> list[str]:
    """The events in the life of an order. Unplayed where there are fewer than three."""
    if len(exam.story) < 3:
        raise Unplayed("an order of the service has too few events")
    return [step.event for step in exam.story]


def _lives(exam: Exam, order: Order, steps: Iterable[Step]) -> Iterator[Exchange]:
    """Steps in the life of an order, each reported when it has happened."""
    for step in steps:
        order.live(step)
        yield exam.send(step.event, order.event(step.event))


def _all_but_the_last(exam: Exam, order: Order) -> Iterator[Exchange]:
    return _lives(exam, order, exam.story[:-1])


def _story(exam: Exam, order: Order) -> Iterator[Exchange]:
    return _lives(exam, order, exam.story)


def _finished(exam: Exam) -> Order:
    """An order that has come to its good end before the receiver hears anything of it."""
    order = exam.order()
    order.live(*exam.story)
    return order


def _test_event(exam: Exam) -> JsonObject:
    endpoint = {
        "id": "wh_certify", "url": exam.url, "events": ["*"], "description": None, "status": "enabled",
        "created_at": format_timestamp(exam.stage.now_ms()),
    }  # fmt: skip
    return exam.stage.envelope("webhook.test", endpoint)


def _with_object(event: JsonObject, **members: object) -> JsonObject:
    return {**event, "data": {"object": {**event["data"]["object"], **members}}}
