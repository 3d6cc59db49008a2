"""The classes of faults: which sites each fits, and what makes it happen there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from simulator.engine.rows.money import Money
from simulator.exploration.runs.tasks import Document
from simulator.exploration.sites import Site
from simulator.host import vocabulary
from simulator.kernel.dataclass import dataclass

Step = Mapping[str, Any]
"""An action with its parameters, `{"action": ..., ...}`; in a rule also `after`."""


@dataclass(frozen=True)
class Arming:
    """What makes one thing go wrong at one site. All of it is JSON.

    `faults` are put in force before the test, in the order in which they are asked; the hits of those from `counted` on
    tell whether it happened. `rules` are those of a scenario above all others. `instead`: steps that are done in place
    of an action which the test itself asks for. `mend`: actions that put right what an integrator cannot.
    """

    faults: tuple[Document, ...] = ()
    counted: int = 0
    rules: tuple[Document, ...] = ()
    instead: Mapping[str, tuple[Step, ...]] | None = None
    target: str | None = None
    mend: tuple[Step, ...] = ()


@dataclass(frozen=True)
class FaultClass:
    """One class. `arm` gives None where the site does not fit.

    `strikes`: the call or delivery itself goes wrong, and the service works on; otherwise the outside world chose.
    """

    name: str
    kind: str
    arm: Callable[[Site], Arming | None]
    strikes: bool = True
    seconds: float = 0.0
    """How much longer than the test a run takes, in real seconds."""


# --- calls ---------------------------------------------------------------------------------------------------------

LATE_SECONDS = 6.0
"""Longer than most clients wait for an answer."""
UNAVAILABLE: Document = {"status": 503, "code": "service_unavailable"}


def _match(site: Site) -> Document:
    return {"method": site.facts["method"], "path": site.facts["glob"]}


def _on_call(*, reads: bool = True, signs_in: bool = True, **members: Any) -> Callable[[Site], Arming | None]:
    """A fault of one call. `reads`: also of calls that change nothing; `signs_in`: also of sign-ins."""

    def arm(site: Site) -> Arming | None:
        if (site.facts["method"] == "GET" and not reads) or (not site.facts["token"] and not signs_in):
            return None
        return Arming(({"match": _match(site), **members, "skip": site.facts["skip"], "times": 1},))

    return arm


def _surprising(**members: Any) -> Callable[[Site], Arming | None]:
    """Something in the answer that nobody expects, from this call of the operation on."""

    def arm(site: Site) -> Arming | None:
        if not site.facts["token"]:
            return None
        return Arming(({"match": _match(site), **members, "skip": site.facts["skip"]},))

    return arm


def _first_per_key(site: Site) -> Arming | None:
    if not site.facts["keyed"] or site.number > 1:
        return None
    return Arming(({"match": _match(site), "first_per_key": 2, "respond": UNAVAILABLE},))


def _key_forgotten(site: Site) -> Arming | None:
    if not site.facts["keyed"] or site.number > 1:
        return None
    lost = {"match": _match(site), "first_per_key": 1, "after_commit": True, "drop": True}
    return Arming((lost, {"match": _match(site), "key_forgotten": True, "times": 1}), counted=1)


def _answered(status: int, code: str, **more: Any) -> Document:
    return {"status": status, "code": code, **more}


def _quote_expires(site: Site) -> Arming | None:
    if not any(row.name == site.facts["operation"] and row.claim for row in vocabulary().operations):
        return None
    respond = _answered(422, "quote_expired")
    return Arming(({"match": _match(site), "respond": respond, "skip": site.facts["skip"], "times": 1},))


def _money() -> Money:
    return vocabulary().provider.money


def _spending() -> tuple[str, ...]:
    """Operations that make an order."""
    return _money().spending


def _from_balance() -> tuple[str, ...]:
    """Operations that are paid from the balance."""
    return _money().from_balance


def _on_networks() -> tuple[str, ...]:
    """Operations before which an outage of a network matters."""
    return _money().using_networks


def _before(
    operations: Callable[[], tuple[str, ...]], happening: Callable[[Site], Document | None], *mend: Step
) -> Callable[[Site], Arming | None]:
    """Something happens in the outside world just before a call of one of these operations."""

    def arm(site: Site) -> Arming | None:
        act = happening(site) if site.facts["operation"] in operations() else None
        if act is None:
            return None
        return Arming(({"match": _match(site), "act": act, "skip": site.facts["skip"], "times": 1},), mend=mend)

    return arm


def _happens(action: str, **parameters: Any) -> Callable[[Site], Document]:
    return lambda site: {"action": action, "parameters": parameters}


def _drained(site: Site) -> Document | None:
    spent = site.facts["spends"]
    return None if spent is None else {"action": "set_balance", "parameters": {**spent, "amount": "0"}}


def _down(site: Site) -> Document | None:
    network = site.facts["network"]
    return None if network is None else {"action": "set_network", "parameters": {"network": network, "status": "down"}}


def _key_revoked(site: Site) -> Arming | None:
    if site.facts["operation"] not in (*_money().spending, *_money().drafting):
        return None
    sign_in = {"match": {"method": "POST", "path": "/auth/token"}, "respond": _answered(401, "invalid_credentials")}
    calls = {"match": {}, "respond": _answered(401, "unauthorized")}
    return Arming(
        (
            {**sign_in, "skip": site.facts["tokens_before"]},
            {**calls, "skip": site.facts["calls_before"]},
        )
    )


def _rate_moves(site: Site) -> Arming | None:
    """The rates move between any two calls, until this one."""
    if site.facts["operation"] not in (*_money().spending, *_money().quoting):
        return None
    moved = {"action": "move_rates", "parameters": {"percent": -9}}
    return Arming(({"match": {}, "act": moved, "times": site.facts["calls_before"] + 1},))


# --- deliveries ----------------------------------------------------------------------------------------------------


def _on_delivery(**deliver: Any) -> Callable[[Site], Arming | None]:
    def arm(site: Site) -> Arming | None:
        webhook = {"event": site.what}
        return Arming(({"webhook": webhook, "deliver": deliver, "skip": site.facts["skip"], "times": 1},))

    return arm


def _on_deliveries(**deliver: Any) -> Callable[[Site], Arming | None]:
    """All deliveries of this event type from this one on: an event stays as it is, however often it is delivered."""

    def arm(site: Site) -> Arming | None:
        return Arming(({"webhook": {"event": site.what}, "deliver": deliver, "skip": site.number - 1},))

    return arm


def _before_answer(site: Site) -> Arming | None:
    if not site.facts["by_call"]:
        return None
    webhook, skip = {"event": site.what}, site.facts["skip_early"]
    return Arming(({"webhook": webhook, "deliver": {"before_answer": True}, "skip": skip, "times": 1},))


def _after_final(site: Site) -> Arming | None:
    if not site.facts["has_later_end"]:
        return None
    return Arming(
        ({"webhook": {"event": site.what}, "deliver": {"hold": "terminal"}, "skip": site.facts["skip"], "times": 1},)
    )


# --- outcomes ------------------------------------------------------------------------------------------------------


def _created(kind: str) -> str:
    """What tells that the outside world is waited for."""
    return (vocabulary().kinds[kind].machine.initial[0].events or ("created",))[-1]


def _permits(site: Site, state: str, action: str) -> bool:
    """Whether the state table of an order has an action in a state."""
    return vocabulary().kinds[site.what].machine.permits(state, action)


def _rule(on: str, site: Site, *steps: Step) -> Document:
    return {"on": on, "where": {"id": site.facts["id"]}, "do": list(steps)}


def _refunded_on_failure(site: Site, after: str = "2m") -> Document:
    return _rule("transaction.failed", site, {"after": after, "action": "refund"})


def _paid(
    *kinds: str, after: str = "15s", refunds: bool = False, amount: Callable[[Site], str | None] | None = None
) -> Callable[[Site], Arming | None]:
    """The payment or deposit comes otherwise than asked for."""

    def arm(site: Site) -> Arming | None:
        if site.what not in kinds:
            return None
        action = "deposit_arrives" if site.what == "offramp" else "payment_arrives"
        step = {"action": action}
        if amount is not None:
            given = amount(site)
            if given is None:
                return None
            step["amount"] = given
        rules = [_rule(_created(site.what), site, {"after": after, **step})]
        if refunds:
            rules.append(_refunded_on_failure(site))
        now: tuple[Step, ...] = (step,) if after == "15s" else ()
        return Arming(rules=tuple(rules), instead={action: now}, target=site.facts["id"])

    return arm


def _share(percent: int) -> Callable[[Site], str | None]:
    """A share of what was to be paid."""

    def amount(site: Site) -> str | None:
        due = site.facts["due"]
        return None if due is None else f"{(Decimal(due) * percent / 100).quantize(Decimal('0.01')):f}"

    return amount


def _wrong_asset_or_memo(site: Site) -> Arming | None:
    if site.what != "offramp":
        return None
    wrong = {"memo": "999999"} if site.facts["memo"] else {"asset": "CUSD" if site.facts["asset"] != "CUSD" else "USDC"}
    rule = _rule(_created("offramp"), site, {"after": "15s", "action": "deposit_arrives", **wrong})
    instead = {"deposit_arrives": ({"action": "deposit_arrives", **wrong},)}
    return Arming(rules=(rule,), instead=instead, target=site.facts["id"])


def _declined(site: Site) -> Arming | None:
    if not _permits(site, vocabulary().kinds[site.what].machine.initial[0].target, "payment_declined"):
        return None
    rule = _rule(_created(site.what), site, {"after": "15s", "action": "payment_declined"})
    instead = {"payment_arrives": ({"action": "payment_declined"},)}
    return Arming(rules=(rule,), instead=instead, target=site.facts["id"])


def _untrue(site: Site) -> Arming | None:
    """Nobody pays, and a well-signed event says that the order is completed.

    The event shows the order as it is in that run, reference included, so that every application knows it; only what
    belongs to a completion is added.
    """
    shown = site.facts["shown"]
    if site.what not in ("onramp", "offramp") or shown["status"] != "completed":
        return None
    completed = {name: shown[name] for name in ("tx_hash",) if shown.get(name)}
    told = {"action": "emit", "type": "transaction.completed", "about": site.facts["id"], "object": completed}
    rule = _rule(_created(site.what), site, {"after": "15s", **told})
    paid = "deposit_arrives" if site.what == "offramp" else "payment_arrives"
    return Arming(rules=(rule,), instead={paid: (), "complete": ()}, target=site.facts["id"])


def _twice(site: Site) -> Arming | None:
    if site.what != "onramp":
        return None
    paid = {"action": "payment_arrives"}
    steps = ({"after": "15s", **paid}, {"after": "2s", **paid}, {"after": "30s", "action": "complete"})
    rules = (_rule(_created("onramp"), site, *steps), _rule("transaction.processing", site))
    return Arming(rules=rules, instead={"payment_arrives": (paid, paid)}, target=site.facts["id"])


def _fails(refund_after: str) -> Callable[[Site], Arming | None]:
    """The payout is refused by the bank, and the money goes back."""

    def arm(site: Site) -> Arming | None:
        if site.what not in ("offramp", "withdraw"):
            return None
        fail = {"action": "fail", "failure_code": "payout_failed"}
        rules = [
            _rule("transaction.processing", site, {"after": "45s", **fail}),
            _refunded_on_failure(site, refund_after),
        ]
        return Arming(rules=tuple(rules), instead={"complete": (fail,)}, target=site.facts["id"])

    return arm


def _taken_back(site: Site) -> Arming | None:
    if not _permits(site, "completed", "refund"):
        return None
    rule = _rule("transaction.completed", site, {"after": "1h", "action": "refund"})
    return Arming(rules=(rule,), target=site.facts["id"])


def _stuck(site: Site) -> Arming | None:
    if site.what not in ("onramp", "offramp", "withdraw", "buy"):
        return None
    mend = ({"action": "complete", "target": site.facts["id"]},)
    rule = _rule("transaction.processing", site)
    return Arming(rules=(rule,), instead={"complete": ()}, target=site.facts["id"], mend=mend)


def _runs_fail(site: Site) -> Arming | None:
    if site.facts["operation"] not in _money().starting or site.facts["spends"] is None:
        return None
    drained = {"action": "set_balance", "parameters": {**site.facts["spends"], "amount": "0"}}
    return Arming(({"match": _match(site), "act": drained, "skip": site.facts["skip"], "times": 1},))


UNLIMITED = "1000000000"

ALL = (
    FaultClass("refused-429", "call", _on_call(respond=_answered(429, "rate_limited", retry_after=1))),
    FaultClass("refused-500", "call", _on_call(respond=_answered(500, "internal_error"))),
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
    FaultClass("webhook-doubled", "delivery", _on_delivery(copies=3)),
    FaultClass("webhook-late", "delivery", _on_delivery(delay="6h")),
    FaultClass("webhook-after-final", "delivery", _after_final),
    FaultClass("webhook-reordered", "delivery", _on_delivery(reorder=True)),
    FaultClass("webhook-lost", "delivery", _on_delivery(drop=True)),
    FaultClass("webhook-acknowledgement-lost", "delivery", _on_delivery(acknowledgement_lost=True)),
    FaultClass("webhook-two-at-once", "delivery", _on_delivery(two_at_once=True)),
    FaultClass("webhook-before-answer", "delivery", _before_answer),
    FaultClass("webhook-forged", "delivery", _on_delivery(corrupt_signature=True)),
    FaultClass("webhook-stale", "delivery", _on_delivery(stale_timestamp=True)),
    FaultClass("webhook-unknown-type", "delivery", _on_deliveries(unknown_type=True)),
    FaultClass("webhook-unknown-enum", "delivery", _on_deliveries(unknown_enum=True)),
    FaultClass("webhook-untrue", "transaction", _untrue, strikes=False),
    FaultClass("payment-declined", "transaction", _declined, strikes=False),
    FaultClass("payment-late", "transaction", _paid("onramp", after="31m"), strikes=False),
    FaultClass("payment-short", "transaction", _paid("onramp", amount=_share(99), refunds=True), strikes=False),
    FaultClass("payment-twice", "transaction", _twice, strikes=False),
    FaultClass("deposit-short", "transaction", _paid("offramp", amount=_share(50), refunds=True), strikes=False),
    FaultClass("deposit-over", "transaction", _paid("offramp", amount=_share(105)), strikes=False),
    FaultClass("deposit-wrong-memo", "transaction", _wrong_asset_or_memo, strikes=False),
    FaultClass("deposit-late", "transaction", _paid("offramp", after="31m"), strikes=False),
    FaultClass("payout-fails", "transaction", _fails("2m"), strikes=False),
    FaultClass("completed-then-refunded", "transaction", _taken_back, strikes=False),
    FaultClass("refund-late", "transaction", _fails("5d"), strikes=False),
    FaultClass("stuck-in-processing", "transaction", _stuck, strikes=False),
    FaultClass("quote-expires", "call", _quote_expires),
    FaultClass("network-down", "call", _before(_on_networks, _down), strikes=False),
    FaultClass("rate-moves", "call", _rate_moves, strikes=False),
    FaultClass("balance-drained", "call", _before(_from_balance, _drained), strikes=False),
    FaultClass(
        "limit-reached",
        "call",
        _before(_spending, _happens("set_limits", daily="0.01"), {"action": "set_limits", "daily": UNLIMITED}),
        strikes=False,
    ),
    FaultClass(
        "kyc-withdrawn",
        "call",
        _before(_spending, _happens("set_kyc", status="rejected"), {"action": "set_kyc", "status": "approved"}),
        strikes=False,
    ),
    FaultClass("key-revoked", "call", _key_revoked, strikes=False),
    FaultClass("runs-fail", "call", _runs_fail, strikes=False),
)

CLASSES: Mapping[str, FaultClass] = {one.name: one for one in ALL}
