"""Failures that can cost money, by class: each one consists of a few faults, a scenario, or an outside event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from simulator.testing import World

KeyPair: TypeAlias = Mapping[str, Any]

POSTS: Mapping[str, Any] = {"match": {"method": "POST"}}
GETS: Mapping[str, Any] = {"match": {"method": "GET"}}
CALLS: Mapping[str, Any] = {"match": {}}


def nothing(world: World) -> KeyPair | None:
    """Nothing has to be done."""
    return None


@dataclass(frozen=True)
class FaultClass:
    """What it takes to make one thing go wrong, and what makes it good again where an integrator cannot."""

    faults: tuple[Mapping[str, Any], ...] = ()
    """Put in force before the customer comes, as `POST /_simulator/faults` takes them."""
    scenario: str | Mapping[str, Any] | None = None
    """The weather, above the autopilot."""
    before: Callable[[World], object] = nothing
    """Done before the customer comes."""
    meanwhile: Callable[[World], object] = nothing
    """Done when the orders are placed and nothing has moved yet."""
    mend: Callable[[World], KeyPair | None] = nothing
    """Puts right what nobody but the service can; the key pair to go on with, where it is another."""


def refused(status: int, code: str, **more: Any) -> FaultClass:
    """Every POST is refused once, and goes through when it is tried again; so are two GETs."""
    respond = {"status": status, "code": code, **more}
    return FaultClass(({**POSTS, "first_per_key": 1, "respond": respond}, {**GETS, "respond": respond, "times": 2}))


def events(**deliver: Any) -> FaultClass:
    """All deliveries of events about transactions and recurring payments."""
    return FaultClass(({"webhook": {}, "deliver": deliver},))


def act(name: str, **parameters: Any) -> Callable[[World], None]:
    """An action on the world."""

    def acting(world: World) -> None:
        world.act(name, **parameters)

    return acting


def set_balance(amount: str) -> Callable[[World], None]:
    return act("set_balance", symbol="USDC", network="CELO", amount=amount)


def new_key_pair(world: World) -> KeyPair | None:
    return world.act("create_key")["resource"]


def finish_what_is_stuck(world: World) -> None:
    for resource in world.control("GET", "/resources")["data"]:
        if resource.get("status") == "processing":
            world.act("complete", resource)


def rule(event: str, *steps: Mapping[str, Any]) -> Mapping[str, Any]:
    """A scenario rule for an event."""
    return {"on": event, "do": list(steps)}


LOST_ANSWER: Mapping[str, Any] = {**POSTS, "first_per_key": 1, "after_commit": True, "drop": True}
"""Every POST is done, and its first answer is lost."""
UNAVAILABLE = {"status": 503, "code": "service_unavailable"}
COMES_BACK = {
    "name": "everything-comes-back",
    "description": "Whatever was completed is taken back a day later.",
    "rules": [rule("transaction.completed", {"after": "1d", "action": "refund"})],
}

CLASSES: Mapping[str, FaultClass] = {
    # Calls.
    "refused-429": refused(429, "rate_limited", retry_after=7),
    "refused-500": refused(500, "internal_error"),
    "refused-503": refused(503, "service_unavailable"),
    "answer-lost-after-commit": FaultClass((LOST_ANSWER,)),
    "answer-lost-before-work": FaultClass(({**POSTS, "first_per_key": 1, "drop": True},)),
    "answer-late": FaultClass(({**CALLS, "delay": "20ms", "times": 5},)),
    "answer-garbled": FaultClass(
        ({**POSTS, "first_per_key": 1, "malformed": "truncate"}, {**GETS, "malformed": "garbage", "times": 2})
    ),
    "answer-unknown-enum": FaultClass(({**CALLS, "unknown_enum": True},)),
    "answer-extra-field": FaultClass(({**CALLS, "extra_field": True},)),
    "first-n-fail-per-key": FaultClass(({**POSTS, "first_per_key": 3, "respond": UNAVAILABLE},)),
    "key-forgotten": FaultClass((LOST_ANSWER, {**POSTS, "key_forgotten": True})),
    # Deliveries.
    "webhook-doubled": events(copies=3),
    "webhook-late": events(delay="6h"),
    "webhook-after-final": events(hold="terminal"),
    "webhook-reordered": events(reorder=True),
    "webhook-lost": events(drop=True),
    "webhook-acknowledgement-lost": events(acknowledgement_lost=True),
    "webhook-two-at-once": events(two_at_once=True),
    "webhook-before-answer": events(before_answer=True),
    "webhook-forged": events(corrupt_signature=True),
    "webhook-stale": events(stale_timestamp=True),
    "webhook-unknown-type": events(unknown_type=True),
    "webhook-unknown-enum": events(unknown_enum=True),
    # The world outside.
    "payment-declined": FaultClass(scenario="payment-declined"),
    "payment-late": FaultClass(scenario="payment-late"),
    "payment-short": FaultClass(scenario="onramp-paid-short"),
    "payment-twice": FaultClass(scenario="payment-twice"),
    "deposit-short": FaultClass(scenario="deposit-too-small"),
    "deposit-over": FaultClass(scenario="offramp-overpaid"),
    "deposit-wrong-memo": FaultClass(scenario="offramp-wrong-asset"),
    "deposit-late": FaultClass(scenario="offramp-deposit-late"),
    "payout-fails": FaultClass(scenario="payout-fails-and-refunds"),
    "completed-then-refunded": FaultClass(scenario=COMES_BACK),
    "refund-late": FaultClass(scenario="refund-late"),
    "stuck-in-processing": FaultClass(scenario="stuck-in-processing", mend=finish_what_is_stuck),
    "quote-expires": FaultClass(
        (
            {
                "match": {"method": "POST", "path": "/quotes/*/confirm"},
                "respond": {"status": 422, "code": "quote_expired"},
                "times": 1,
            },
        )
    ),
    "network-down": FaultClass(
        before=act("set_network", network="celo", status="down"),
        mend=act("set_network", network="celo", status="operational"),
    ),
    "rate-moves": FaultClass(scenario="rates-drift", meanwhile=act("move_rates", percent=-9)),
    "balance-drained": FaultClass(meanwhile=set_balance("0"), mend=set_balance("1000")),
    "limit-reached": FaultClass(before=act("set_limits", daily="1"), mend=act("set_limits", daily="1000000")),
    "kyc-withdrawn": FaultClass(meanwhile=act("set_kyc", status="rejected"), mend=act("set_kyc", status="approved")),
    "key-revoked": FaultClass(
        meanwhile=lambda world: world.act("revoke_key", public_key=world.keys.public_key), mend=new_key_pair
    ),
    "runs-fail": FaultClass(meanwhile=set_balance("0")),
}
"""By the names that fault exploration gives them."""
