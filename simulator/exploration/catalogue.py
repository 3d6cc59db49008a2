"""The fault classes: the calls, deliveries or transactions to which each applies, and the faults to inject.

The provider defines the classes that depend on its kinds of payments.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from simulator.exploration.arming import Arming, FaultClass, Site, answered, match
from simulator.exploration.runs.tasks import Document
from simulator.service import TOOLING

# --- calls ---------------------------------------------------------------------------------------------------------

LATE_SECONDS = 6.0
"""The delay of a late response in real seconds. It exceeds the timeouts of most clients."""
UNAVAILABLE: Document = {"status": 503, "code": "service_unavailable"}


def _on_call(
    *, reads: bool = True, signs_in: bool = True, once: bool = True, **members: object
) -> Callable[[Site], Arming | None]:
    """A fault in one call. `reads` and `signs_in`: True if it applies to GET requests and to token exchanges too.
    `once`: False if it also applies to all later calls of the same operation.
    """

    def arm(site: Site) -> Arming | None:
        if (site.facts["method"] == "GET" and not reads) or (not site.facts["token"] and not signs_in):
            return None
        limit = {"times": 1} if once else {}
        return Arming(({"match": match(site), **members, "skip": site.facts["skip"], **limit},))

    return arm


def _first_per_key(site: Site) -> Arming | None:
    if not site.facts["keyed"] or site.number > 1:
        return None
    return Arming(({"match": match(site), "first_per_key": 2, "respond": UNAVAILABLE},))


_TIMES = [f"{n} time{'s' * (n > 1)}" for n in range(1, 7)]
"""The variants of `fails-n`: how often the same call fails."""
_GIVES_UP_AFTER = 50


def _fails_n(site: Site) -> Arming | None:
    """The response of a processed call is lost. Of N > 1 failures, the others are refused calls of the operation."""
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


def _delivered(site: Site, skip: int, **deliver: object) -> Arming:
    """A fault in one delivery of the site's event type, after `skip` others."""
    return Arming(({"webhook": {"event": site.what}, "deliver": deliver, "skip": skip, "times": 1},))


def _on_delivery(**deliver: object) -> Callable[[Site], Arming | None]:
    return lambda site: _delivered(site, site.facts["skip"], **deliver)


def _on_deliveries(**deliver: object) -> Callable[[Site], Arming | None]:
    """A fault in this and all later deliveries of the event type, so that retries of an event are changed too."""
    return lambda site: Arming(({"webhook": {"event": site.what}, "deliver": deliver, "skip": site.number - 1},))


def _before_answer(site: Site) -> Arming | None:
    return _delivered(site, site.facts["skip_early"], before_answer=True) if site.facts["by_call"] else None


_AT_ONCE = Arming(({"webhook": {}, "deliver": {"before_answer": True}},))
"""All events that a call causes arrive before its response. An advance waits for other deliveries in any case."""
AFTERWARDS = "afterwards"
"""The variant of `webhook-lost-for-good` under which the delivery at the site is the last one that arrives."""


def _lost_for_good(site: Site) -> Arming | None:
    """This and all later deliveries of every type are lost, even on the simulated days after the test. The integrator's
    job runs a day later, because directly after the test it would find only orders that are a minute old.
    """
    skip = site.facts["before"] + (site.variant == AFTERWARDS)
    fault = {"webhook": {}, "deliver": {"drop": True}, **({"skip": skip} if skip else {})}
    return Arming((fault,), stays=True, lasts="1d")


def _after_final(site: Site) -> Arming | None:
    return _delivered(site, site.facts["skip"], hold="terminal") if site.facts["has_later_end"] else None


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
    held, skip = f"{HELD_SECONDS:g}s", site.facts["skip"]
    if site.facts["kind"] == "delivery":
        return replace(_delivered(site, skip, slow=held), kills=True)
    return Arming(({"match": match(site), "answer_delay": held, "skip": skip, "times": 1},), kills=True)


_ALL = (
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
    FaultClass("answer-unknown-enum", "call", _on_call(signs_in=False, once=False, unknown_enum=True)),
    FaultClass("answer-extra-field", "call", _on_call(signs_in=False, once=False, extra_field=True)),
    FaultClass("first-n-fail-per-key", "call", _first_per_key),
    FaultClass("key-forgotten", "call", _key_forgotten),
    FaultClass("fails-n", "call", _fails_n, variants=lambda site: _TIMES),
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
    FaultClass("delivered-at-once", "world", lambda site: _AT_ONCE),
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

CLASSES: Mapping[str, FaultClass] = {one.name: one for one in _ALL}

ORDERS = FaultClass("orders", "delivery", lambda site: None)
"""The class of runs under the plan `orders`, whose events arrive in a given order."""


def class_of(fault: str) -> FaultClass:
    """Return the fault class with this name, or a class for the combined fault if the name joins two with `+`."""
    if fault == ORDERS.name:
        return ORDERS
    first, _, second = fault.partition("+")
    made = CLASSES[first]
    if not second:
        return made
    other = CLASSES[second]
    strikes, seconds = made.strikes and other.strikes, made.seconds + other.seconds
    return FaultClass(fault, made.kind, made.arm, strikes=strikes, seconds=seconds)
