"""The fault classes. Each class defines the calls, deliveries or transactions to which it applies, and the faults to
inject.

The provider defines the classes that depend on its kinds of payments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simulator.exploration.arming import Arming, FaultClass, Site, answered, match
from simulator.exploration.runs.tasks import Document
from simulator.service import TOOLING

# --- calls ---------------------------------------------------------------------------------------------------------

LATE_SECONDS = 6.0
"""The delay of a late response in real seconds. It exceeds the timeouts of most clients."""
UNAVAILABLE: Document = {"status": 503, "code": "service_unavailable"}


def _on_call(*, reads: bool = True, signs_in: bool = True, **members: Any) -> Callable[[Site], Arming | None]:
    """A fault in one call. `reads`: True if the fault applies to GET requests too. `signs_in`: True if the fault
    applies to token exchanges too.
    """

    def arm(site: Site) -> Arming | None:
        if (site.facts["method"] == "GET" and not reads) or (not site.facts["token"] and not signs_in):
            return None
        return Arming(({"match": match(site), **members, "skip": site.facts["skip"], "times": 1},))

    return arm


def _surprising(**members: Any) -> Callable[[Site], Arming | None]:
    """An unexpected field or value in the responses to this call and to all later calls of the same operation."""

    def arm(site: Site) -> Arming | None:
        if not site.facts["token"]:
            return None
        return Arming(({"match": match(site), **members, "skip": site.facts["skip"]},))

    return arm


def _first_per_key(site: Site) -> Arming | None:
    if not site.facts["keyed"] or site.number > 1:
        return None
    return Arming(({"match": match(site), "first_per_key": 2, "respond": UNAVAILABLE},))


FAILURES = 6
"""The largest number of times that `fails-n` makes the same call fail."""
_GIVES_UP_AFTER = 50


def _times(site: Site) -> list[str]:
    return [f"{n} time{'s' * (n > 1)}" for n in range(1, FAILURES + 1)]


def _fails_n(site: Site) -> Arming | None:
    """The service processes the call but the response is lost. In variants with N > 1 failures, the next N - 1 calls of
    the same operation are refused.
    """
    if site.facts["method"] == "GET" or not site.facts["token"]:
        return None
    here = {"match": match(site), "skip": site.facts["skip"]}
    more = int(site.variant.split()[0]) - 1
    refused = ({**here, "respond": UNAVAILABLE, "times": more},) if more else ()
    return Arming(({**here, "after_commit": True, "drop": True, "times": 1}, *refused))


def _fails_until_given_up(site: Site) -> Arming | None:
    if site.facts["method"] == "GET" or not site.facts["token"]:
        return None
    limits = {"skip": site.facts["skip"], "times": _GIVES_UP_AFTER, "lasts": "1h"}
    return Arming(({"match": match(site), "respond": UNAVAILABLE, **limits},))


def _key_forgotten(site: Site) -> Arming | None:
    if not site.facts["keyed"] or site.number > 1:
        return None
    lost = {"match": match(site), "first_per_key": 1, "after_commit": True, "drop": True}
    return Arming((lost, {"match": match(site), "key_forgotten": True, "times": 1}), counted=1)


# --- deliveries ----------------------------------------------------------------------------------------------------


def _on_delivery(**deliver: Any) -> Callable[[Site], Arming | None]:
    def arm(site: Site) -> Arming | None:
        webhook = {"event": site.what}
        return Arming(({"webhook": webhook, "deliver": deliver, "skip": site.facts["skip"], "times": 1},))

    return arm


def _on_deliveries(**deliver: Any) -> Callable[[Site], Arming | None]:
    """A fault in this delivery and in all later deliveries of the same event type, so that retries of an event are
    changed in the same way.
    """

    def arm(site: Site) -> Arming | None:
        return Arming(({"webhook": {"event": site.what}, "deliver": deliver, "skip": site.number - 1},))

    return arm


def _before_answer(site: Site) -> Arming | None:
    if not site.facts["by_call"]:
        return None
    webhook, skip = {"event": site.what}, site.facts["skip_early"]
    return Arming(({"webhook": webhook, "deliver": {"before_answer": True}, "skip": skip, "times": 1},))


def _at_once(site: Site) -> Arming | None:
    """Deliver all events that a call causes before its response. Other events occur while the clock advances, and an
    advance waits for each delivery in any case.
    """
    return Arming(({"webhook": {}, "deliver": {"before_answer": True}},))


AFTERWARDS = "afterwards"
"""The variant of `webhook-lost-for-good` under which the delivery at the site is the last one that arrives."""


def _lost_for_good(site: Site) -> Arming | None:
    """This delivery and all later deliveries are lost, even on the simulated days after the test, and even if their
    event type occurs only because of another fault.

    The integrator's job runs a day after the test, as a nightly job does. If the job ran directly after the test, it
    would rarely fail. For example, a job that wrongly marks old orders as expired would find only an order that is a
    minute old.
    """
    skip = site.facts["before"] + (site.variant == AFTERWARDS)
    fault = {"webhook": {}, "deliver": {"drop": True}, **({"skip": skip} if skip else {})}
    return Arming((fault,), stays=True, lasts="1d")


def _after_final(site: Site) -> Arming | None:
    if not site.facts["has_later_end"]:
        return None
    return Arming(
        ({"webhook": {"event": site.what}, "deliver": {"hold": "terminal"}, "skip": site.facts["skip"], "times": 1},)
    )


# --- deaths of the application --------------------------------------------------------------------------------------


def _dies(scene: str) -> Callable[[Site], Arming | None]:
    def arm(site: Site) -> Arming | None:
        if site.facts["scene"] != scene:
            return None
        return Arming(crash={name: site.facts[name] for name in ("within", "file", "line", "visit")})

    return arm


def _held_back(site: Site) -> Arming | None:
    """A handler can be held back while a copy of its event is handled. The copy arrives at the same moment."""
    names = ("within", "scene", "file", "line", "visit", "until", "at")
    hold = {name: site.facts[name] for name in names if name in site.facts}
    if site.facts["until"] != "copy":
        return Arming(hold=hold)
    webhook, skip = {"event": site.facts["event"]}, site.facts["scene"] - 1
    copy = {"webhook": webhook, "deliver": {"two_at_once": True}, "skip": skip, "times": 1}
    return Arming((copy,), counted=1, hold=hold)


HELD_SECONDS = 4.0
"""How long a response or a delivery is delayed while the application restarts."""


def _killed(site: Site) -> Arming | None:
    """The application is killed while it waits for a response, or before a delivery reaches it."""
    once = {"skip": site.facts["skip"], "times": 1}
    held = f"{HELD_SECONDS:g}s"
    if site.facts["kind"] == "delivery":
        return Arming(({"webhook": {"event": site.what}, "deliver": {"slow": held}, **once},), kills=True)
    return Arming(({"match": match(site), "answer_delay": held, **once},), kills=True)


ALL = (
    FaultClass("refused-429", "call", _on_call(respond=answered(429, "rate_limited", retry_after=1))),
    FaultClass("refused-500", "call", _on_call(respond=answered(500, "internal_error"))),
    FaultClass("refused-503", "call", _on_call(respond=UNAVAILABLE)),
    FaultClass("answer-lost-after-commit", "call", _on_call(reads=False, signs_in=False, after_commit=True, drop=True)),
    FaultClass("answer-lost-before-work", "call", _on_call(drop=True)),
    FaultClass(
        "answer-late",
        "call",
        _on_call(reads=False, signs_in=False, answer_delay=f"{LATE_SECONDS:g}s"),
        seconds=LATE_SECONDS,
    ),
    FaultClass("answer-garbled", "call", _on_call(malformed="truncate")),
    FaultClass("answer-unknown-enum", "call", _surprising(unknown_enum=True)),
    FaultClass("answer-extra-field", "call", _surprising(extra_field=True)),
    FaultClass("first-n-fail-per-key", "call", _first_per_key),
    FaultClass("key-forgotten", "call", _key_forgotten),
    FaultClass("fails-n", "call", _fails_n, variants=_times),
    FaultClass("fails-until-given-up", "call", _fails_until_given_up),
    FaultClass("webhook-doubled", "delivery", _on_delivery(copies=3)),
    FaultClass("webhook-late", "delivery", _on_delivery(delay="6h")),
    FaultClass("webhook-after-final", "delivery", _after_final),
    FaultClass("webhook-reordered", "delivery", _on_delivery(reorder=True)),
    FaultClass("webhook-lost", "delivery", _on_delivery(drop=True)),
    FaultClass("webhook-lost-for-good", "delivery", _lost_for_good),
    FaultClass("webhook-acknowledgement-lost", "delivery", _on_delivery(acknowledgement_lost=True)),
    FaultClass("webhook-two-at-once", "delivery", _on_delivery(two_at_once=True)),
    FaultClass("webhook-before-answer", "delivery", _before_answer),
    FaultClass("delivered-at-once", "world", _at_once),
    FaultClass("webhook-forged", "delivery", _on_delivery(corrupt_signature=True)),
    FaultClass("webhook-stale", "delivery", _on_delivery(stale_timestamp=True)),
    FaultClass("webhook-unknown-type", "delivery", _on_deliveries(unknown_type=True)),
    FaultClass("webhook-unknown-enum", "delivery", _on_deliveries(unknown_enum=True)),
    FaultClass("crash-in-handler", "line", _dies("handler"), rare=True),
    FaultClass("crash-in-call", "line", _dies("call"), rare=True),
    FaultClass("worker-held-back", "hold", _held_back, rare=True),
    FaultClass("crash-of-process", "process", _killed, seconds=HELD_SECONDS),
    *TOOLING.faults(),
)

CLASSES: Mapping[str, FaultClass] = {one.name: one for one in ALL}

ORDERS = FaultClass("orders", "delivery", lambda site: None)
"""The class of runs under the plan `orders`, whose events arrive in a given order."""


def class_of(fault: str) -> FaultClass:
    """Return the fault class with this name. For two names joined with `+`, return a class for the combined fault."""
    if fault == ORDERS.name:
        return ORDERS
    first, _, second = fault.partition("+")
    made = CLASSES[first]
    if not second:
        return made
    other = CLASSES[second]
    strikes, seconds = made.strikes and other.strikes, made.seconds + other.seconds
    return FaultClass(fault, made.kind, made.arm, strikes=strikes, seconds=seconds)
