"""Fault classes about money for `rampsim explore`: payers, banks and networks that misbehave."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache

from simulator.engine.rows.money import Money
from simulator.engine.rows.provider import Provider
from simulator.engine.vocabulary.vocabulary import Vocabulary
from simulator.exploration.arming import Arming, FaultClass, Site, Step, answered, happens, match, rule
from simulator.exploration.runs.tasks import Document
from simulator.providers.ramp.provider import PROVIDER


@cache
def _vocabulary(provider: Provider) -> Vocabulary:
    return Vocabulary(provider)


def money() -> Money:
    """Return the service's money table, which lists the operations that involve money."""
    return PROVIDER.money


def before(
    operations: Callable[[Money], tuple[str, ...]], happening: Callable[[Site], Document | None], *mend: Step
) -> Callable[[Site], Arming | None]:
    """Return a function that schedules an outside event just before a call to one of the given operations."""

    def arm(site: Site) -> Arming | None:
        act = happening(site) if site.facts["operation"] in operations(money()) else None
        if act is None:
            return None
        return Arming(({"match": match(site), "act": act, "skip": site.facts["skip"], "times": 1},), mend=mend)

    return arm


def _spending_refused(action: str, name: str, value: str, mended: str) -> Callable[[Site], Arming | None]:
    """Return a function that changes the account just before a call that spends. Afterwards, it undoes the change."""
    return before(lambda money: money.spending, happens(action, **{name: value}), {"action": action, name: mended})


def created(kind: str) -> str:
    """Return the type of the event that is sent when an order of this kind starts to wait for a third party."""
    return (_vocabulary(PROVIDER).kinds[kind].machine.initial[0].events or ("created",))[-1]


def permits(site: Site, state: str, action: str) -> bool:
    """Return True if an order's state table allows an action in the given state."""
    return _vocabulary(PROVIDER).kinds[site.what].machine.permits(state, action)


def _quote_expires(site: Site) -> Arming | None:
    if not any(row.name == site.facts["operation"] and row.claim for row in _vocabulary(PROVIDER).operations):
        return None
    respond = answered(422, "quote_expired")
    return Arming(({"match": match(site), "respond": respond, "skip": site.facts["skip"], "times": 1},))


def _drained(site: Site) -> Document | None:
    spent = site.facts["spends"]
    return None if spent is None else {"action": "set_balance", "parameters": {**spent, "amount": "0"}}


def _down(site: Site) -> Document | None:
    network = site.facts["network"]
    return None if network is None else {"action": "set_network", "parameters": {"network": network, "status": "down"}}


def _key_revoked(site: Site) -> Arming | None:
    if site.facts["operation"] not in (*money().spending, *money().drafting):
        return None
    sign_in = {"match": {"method": "POST", "path": "/auth/token"}, "respond": answered(401, "invalid_credentials")}
    calls = {"match": {}, "respond": answered(401, "unauthorized")}
    return Arming(({**sign_in, "skip": site.facts["tokens_before"]}, {**calls, "skip": site.facts["calls_before"]}))


def _rate_moves(site: Site) -> Arming | None:
    """Change the rates before each call, up to and including the call that the fault targets."""
    if site.facts["operation"] not in (*money().spending, *money().quoting):
        return None
    moved = {"action": "move_rates", "parameters": {"percent": -9}}
    return Arming(({"match": {}, "act": moved, "times": site.facts["calls_before"] + 1},))


# --- outcomes ------------------------------------------------------------------------------------------------------


def _refunded_on_failure(site: Site, after: str = "2m") -> Document:
    return rule("transaction.failed", site, {"after": after, "action": "refund"})


def _paid(
    *kinds: str, after: str = "15s", refunds: bool = False, amount: Callable[[Site], str | None] | None = None
) -> Callable[[Site], Arming | None]:
    """Return a function that sets up a payment or deposit with an unexpected amount or time."""

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
        rules = [rule(created(site.what), site, {"after": after, **step})]
        if refunds:
            rules.append(_refunded_on_failure(site))
        now: tuple[Step, ...] = (step,) if after == "15s" else ()
        return Arming(rules=tuple(rules), instead={action: now}, target=site.facts["id"])

    return arm


def _share(percent: int) -> Callable[[Site], str | None]:
    """Return a function that calculates a percentage of the amount due."""

    def amount(site: Site) -> str | None:
        due = site.facts["due"]
        return None if due is None else f"{(Decimal(due) * percent / 100).quantize(Decimal('0.01')):f}"

    return amount


def _wrong_asset_or_memo(site: Site) -> Arming | None:
    if site.what != "offramp":
        return None
    wrong = {"memo": "999999"} if site.facts["memo"] else {"asset": "CUSD" if site.facts["asset"] != "CUSD" else "USDC"}
    acting = rule(created("offramp"), site, {"after": "15s", "action": "deposit_arrives", **wrong})
    instead = {"deposit_arrives": ({"action": "deposit_arrives", **wrong},)}
    return Arming(rules=(acting,), instead=instead, target=site.facts["id"])


def _declined(site: Site) -> Arming | None:
    if not permits(site, _vocabulary(PROVIDER).kinds[site.what].machine.initial[0].target, "payment_declined"):
        return None
    acting = rule(created(site.what), site, {"after": "15s", "action": "payment_declined"})
    instead = {"payment_arrives": ({"action": "payment_declined"},)}
    return Arming(rules=(acting,), instead=instead, target=site.facts["id"])


def _untrue(site: Site) -> Arming | None:
    """Set up a correctly signed completion event for an order that nobody paid. It contains the current order, so that
    every application recognises it, and the transaction hash of the completed order.
    """
    shown = site.facts["shown"]
    if site.what not in ("onramp", "offramp") or shown["status"] != "completed":
        return None
    completed = {name: shown[name] for name in ("tx_hash",) if shown.get(name)}
    forged = {"action": "emit", "type": "transaction.completed", "about": site.facts["id"], "object": completed}
    acting = rule(created(site.what), site, {"after": "15s", **forged})
    paid = "deposit_arrives" if site.what == "offramp" else "payment_arrives"
    return Arming(rules=(acting,), instead={paid: (), "complete": ()}, target=site.facts["id"])


def _twice(site: Site) -> Arming | None:
    if site.what != "onramp":
        return None
    paid = {"action": "payment_arrives"}
    steps = ({"after": "15s", **paid}, {"after": "2s", **paid}, {"after": "30s", "action": "complete"})
    rules = (rule(created("onramp"), site, *steps), rule("transaction.processing", site))
    return Arming(rules=rules, instead={"payment_arrives": (paid, paid)}, target=site.facts["id"])


def _fails(refund_after: str) -> Callable[[Site], Arming | None]:
    """Return a function that sets up a payout that the bank rejects, with a refund after a delay such as `2m`."""

    def arm(site: Site) -> Arming | None:
        if site.what not in ("offramp", "withdraw"):
            return None
        fail = {"action": "fail", "failure_code": "payout_failed"}
        rules = [
            rule("transaction.processing", site, {"after": "45s", **fail}),
            _refunded_on_failure(site, refund_after),
        ]
        return Arming(rules=tuple(rules), instead={"complete": (fail,)}, target=site.facts["id"])

    return arm


def _taken_back(site: Site) -> Arming | None:
    if not permits(site, "completed", "refund"):
        return None
    acting = rule("transaction.completed", site, {"after": "1h", "action": "refund"})
    return Arming(rules=(acting,), target=site.facts["id"])


def _stuck(site: Site) -> Arming | None:
    if site.what not in ("onramp", "offramp", "withdraw", "buy"):
        return None
    mend = ({"action": "complete", "target": site.facts["id"]},)
    acting = rule("transaction.processing", site)
    return Arming(rules=(acting,), instead={"complete": ()}, target=site.facts["id"], mend=mend, lasts="1d")


def _runs_fail(site: Site) -> Arming | None:
    if site.facts["operation"] not in money().starting or site.facts["spends"] is None:
        return None
    drained = {"action": "set_balance", "parameters": {**site.facts["spends"], "amount": "0"}}
    return Arming(({"match": match(site), "act": drained, "skip": site.facts["skip"], "times": 1},))


_ZONES: Mapping[str, tuple[str, int]] = {
    "KES": ("Nairobi", 3), "TZS": ("Dar es Salaam", 3), "NGN": ("Lagos", 1), "ZAR": ("Johannesburg", 2),
    "ZMW": ("Lusaka", 2),
}  # fmt: skip
"""A city in the country of each fiat currency, with its offset from UTC in hours. None has daylight saving time."""
_MIDNIGHT = datetime(2026, 1, 6, tzinfo=UTC)
_MOMENTS: Mapping[str, datetime] = {
    "before midnight UTC": _MIDNIGHT - timedelta(seconds=30),
    "on the 31st": datetime(2026, 1, 31, 8, tzinfo=UTC),
    "before a clock change": datetime(2026, 3, 29, 0, 59, 30, tzinfo=UTC),
    **{f"before midnight in {city}": _MIDNIGHT - timedelta(hours=ahead, seconds=30) for city, ahead in _ZONES.values()},
}
"""Times at which a world can start. In Europe, daylight saving time starts on 29 March 2026 at 01:00 UTC."""


def _moments(site: Site) -> list[str]:
    """Return the names of the start times for the test's runs. A midnight in a city needs an order in its currency."""
    values = {value for order in site.facts["orders"] for value in order.values() if isinstance(value, str)}
    foreign = {f"before midnight in {city}" for fiat, (city, _) in _ZONES.items() if fiat not in values}
    return [name for name in _MOMENTS if name not in foreign]


def _starts_at(site: Site) -> Arming:
    return Arming(clock=f"{_MOMENTS[site.variant]:%Y-%m-%dT%H:%M:%SZ}")


FAULTS: tuple[FaultClass, ...] = (
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
    FaultClass("network-down", "call", before(lambda money: money.using_networks, _down), strikes=False),
    FaultClass("rate-moves", "call", _rate_moves, strikes=False),
    FaultClass("balance-drained", "call", before(lambda money: money.from_balance, _drained), strikes=False),
    FaultClass("limit-reached", "call", _spending_refused("set_limits", "daily", "0.01", "1000000000"), strikes=False),
    FaultClass("kyc-withdrawn", "call", _spending_refused("set_kyc", "status", "rejected", "approved"), strikes=False),
    FaultClass("key-revoked", "call", _key_revoked, strikes=False),
    FaultClass("runs-fail", "call", _runs_fail, strikes=False),
    FaultClass("starts-at", "start", _starts_at, strikes=False, variants=_moments),
)

PAIRS = (
    ("answer-lost-after-commit", "webhook-lost"),
    ("answer-lost-after-commit", "webhook-lost-for-good"),
    ("key-forgotten", "webhook-lost-for-good"),
    ("completed-then-refunded", "webhook-lost-for-good"),
    ("quote-expires", "rate-moves"),
    ("answer-lost-after-commit", "key-revoked"),
)
"""Pairs of fault classes that reveal defects only in combination."""
