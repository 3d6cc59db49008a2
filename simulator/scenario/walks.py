"""The walks: for every event of the catalogue, what an account and the outside world do until it happens.

A walk is data: calls of the interface, actions, and waits for a law. `${name.path}` puts in what an earlier step
answered. Chapters "Events" of the specification and "Actions" of the control interface.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, TypeAlias

from simulator.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, to_datetime
from simulator.kernel.ledger import available
from simulator.kernel.money import Currency
from simulator.kernel.world import World
from simulator.resources.profile import platform_users, profile_of
from simulator.resources.recurring import RUN
from simulator.resources.reference import ASSETS, listing, network_status
from simulator.resources.transactions import holder
from simulator.wire.errors import ControlError
from simulator.wire.json import JsonObject
from simulator.wire.records import rows
from simulator.wire.spelling import upper

PAYER = "+254722000000"
ADDRESSES = {
    "celo": "0x52908400098527886E0F7030069857D2E4169EE7",
    "stellar": "GAXBPJAKKTCO6MBNCD4EFYKP35N6JJODICTNJCJ35EVTDIII7C4V5PEV",
}
"""Addresses outside of the service."""
_BENEFICIARY: JsonObject = {
    "type": "phone_number",
    "name": "Wanjiru Otieno",
    "country": "KE",
    "fiat_currency": "KES",
    "phone_number": {"phone_number": PAYER, "provider": "mpesa"},
}


@dataclass(frozen=True, slots=True)
class Ask:
    """A call of the interface, as the account makes it; `name` keeps its answer."""

    method: str
    path: str
    body: JsonObject | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Act:
    """An action of the outside world; `name` keeps the resource it answers."""

    action: str
    target: str | None = None
    parameters: JsonObject = field(default_factory=dict)
    name: str = ""


@dataclass(frozen=True, slots=True)
class Wait:
    """Let the clock reach the law timers of a resource, `most` of them one after another.

    `starved`: the balance is empty while the timer fires and as it was afterwards, so that the run fails.
    """

    target: str
    kinds: tuple[str, ...]
    most: int = 1
    starved: bool = False


Step: TypeAlias = "Ask | Act | Wait"


@dataclass(frozen=True, slots=True)
class Walk:
    """Steps to an event, and the id of the object that the event is about ("" = whichever)."""

    steps: tuple[Step, ...]
    subject: str = ""


def walk_to(world: World, environment: str, event: str) -> Walk:
    """The walk to an event of the catalogue in the present world; ControlError 409 when the world has no way."""
    return WALKS[event](world, environment)


# --- ramps and quotes ------------------------------------------------------------------------------------


def _network_up(world: World, environment: str, *names: str) -> str:
    """The first of these networks that is not down; the first of all when all are, so that the refusal says why."""
    return next((name for name in names if network_status(world, environment, name) != "down"), names[0])


def _onramp(*more: Step) -> Callable[[World, str], Walk]:
    def build(world: World, environment: str) -> Walk:
        network = _network_up(world, environment, "celo", "stellar")
        quote = _quote("onramp", network, "5000", "KES")
        body = {"wallet_address": ADDRESSES[network], "payer": {"phone_number": PAYER}}
        confirm = Ask("POST", "/quotes/${quote.id}/confirm", body, "transaction")
        return Walk((quote, confirm, *more), "${transaction.id}")

    return build


def _offramp(*more: Step) -> Callable[[World, str], Walk]:
    def build(world: World, environment: str) -> Walk:
        network = _network_up(world, environment, "celo", "stellar")
        body = {"beneficiary_id": "${beneficiary.id}", "refund_address": ADDRESSES[network]}
        steps = (
            Ask("POST", "/beneficiaries", _BENEFICIARY, "beneficiary"),
            _quote("offramp", network, "30", "USDC"),
            Ask("POST", "/quotes/${quote.id}/confirm", body, "transaction"),
        )
        return Walk((*steps, *more), "${transaction.id}")

    return build


def _quote(kind: str, network: str, amount: str, currency: str) -> Ask:
    body = {"type": kind, "network": network, "asset": "USDC", "fiat_currency": "KES", "amount": amount}
    return Ask("POST", "/quotes", {**body, "amount_currency": currency, "method": "mobile_money"}, "quote")


def _quote_expires(world: World, environment: str) -> Walk:
    network = _network_up(world, environment, "celo", "stellar")
    quote = _quote("onramp", network, "5000", "KES")
    return Walk((quote, Wait("${quote.id}", ("quote.expiry",))), "${quote.id}")


# --- deposit wallets -------------------------------------------------------------------------------------

_ASSET_ON = {"stellar": ("USDC", "25"), "celo": ("USDC", "25"), "bitcoin": ("BTC", "0.001")}


_DEPOSIT = "${deposit.id}"
_DEPOSITS: Mapping[str, tuple[Step, ...]] = {
    "deposit.detected": (),
    "deposit.confirmed": (Act("deposit_confirms", _DEPOSIT),),
    "deposit.failed": (Act("deposit_fails", _DEPOSIT),),
}
"""What is to happen to a deposit that has arrived."""


def _arrival(wallet: str, network: str) -> Act:
    code, amount = _ASSET_ON[network]
    return Act("deposit_arrives", wallet, {"asset": code, "amount": amount}, "deposit")


def walks_at(record: Any, event: str) -> list[Walk]:
    """The walks to an event about what comes to this object, not about itself: deposits come to wallets.

    A disabled wallet fails its deposits by itself, so a walk that only lets one arrive stands at the end.
    """
    if record.kind != "wallet" or record.owner or event not in _DEPOSITS:
        return []
    arrival = _arrival(record.id, record.network)
    more = _DEPOSITS[event]
    return [Walk((arrival, *more), _DEPOSIT), *([Walk((arrival,), _DEPOSIT)] if event == "deposit.failed" else [])]


def _wallet(*more: Step, subject: str = "${wallet.id}") -> Callable[[World, str], Walk]:
    """Steps on a fresh wallet; `asset` and `amount` of a deposit are filled in by its network."""

    def build(world: World, environment: str) -> Walk:
        network = _network_up(world, environment, *_ASSET_ON)
        made = Ask("POST", "/wallets", {"network": network, "label": "Triggered"}, "wallet")
        arrived = () if subject == "${wallet.id}" else (_arrival("${wallet.id}", network),)
        return Walk((made, *arrived, *more), subject)

    return build


def _invoice(*more: Step, expires_in: int) -> Callable[[World, str], Walk]:
    def build(world: World, environment: str) -> Walk:
        body = {"type": "invoice", "amount_sats": 1000, "expires_in": expires_in}
        steps = (
            Ask("POST", "/wallets", {"network": "bitcoin", "label": "Triggered"}, "wallet"),
            Ask("POST", "/wallets/${wallet.id}/lightning", body, "invoice"),
        )
        return Walk((*steps, *more), "${invoice.id}")

    return build


# --- recurring payments ----------------------------------------------------------------------------------


def _recurring(
    *more: Step, starts_in_ms: int, occurrences: int = 1, too_much: bool = False, activated: bool = True
) -> Callable[[World, str], Walk]:
    """A daily send to another user of the service, which costs nothing and needs no network."""

    def build(world: World, environment: str) -> Walk:
        currency, amount = _payable(world, environment, too_much=too_much)
        body = {
            "name": "Triggered",
            "type": "send",
            "source": {"symbol": currency.code, "network": upper(currency.network or "")},
            "amount": currency.format(amount),
            "amount_currency": currency.code,
            "recipient": {"destination": {"type": "platform_user", "email": platform_users(world)[0].email}},
        }
        steps: list[Step] = [Ask("POST", "/recurring-payments", body, "payment")]
        if activated:
            steps += activation("${payment.id}", schedule_from(world.now_ms + starts_in_ms, occurrences))
        return Walk((*steps, *more), "${payment.id}")

    return build


def _payable(world: World, environment: str, *, too_much: bool) -> tuple[Currency, Decimal]:
    """An asset and an amount of it that the balance covers, or one that it does not."""
    for currency in ASSETS.values():
        record = listing(currency.code, currency.network or "")
        balance = world.ledger.balance(available(holder(environment)), currency.key)
        if too_much:
            return currency, max(record.max_withdraw, balance + 1)
        if balance >= record.min_withdraw:
            return currency, record.min_withdraw
    raise ControlError(
        409,
        "invalid_transition",
        "No balance covers a payment; set one with the action set_balance.",
        allowed=["set_balance"],
    )


def schedule_from(at_ms: int, occurrences: int | None = None) -> JsonObject:
    """A daily schedule whose first run is at the first whole minute from `at_ms` on."""
    first = to_datetime(-(-at_ms // MINUTE_MS) * MINUTE_MS)
    end = {"type": "never"} if occurrences is None else {"type": "after_occurrences", "occurrences": occurrences}
    day, time = first.strftime("%Y-%m-%d"), first.strftime("%H:%M")
    return {"frequency": "daily", "start_date": day, "time": time, "timezone": "UTC", "end": end}


def activation(payment_id: str, schedule: JsonObject | None) -> tuple[Step, ...]:
    """What brings a draft to life: a schedule where it has none, the review, the activation."""
    path = f"/recurring-payments/{payment_id}"
    planned = () if schedule is None else (Ask("PUT", f"{path}/schedule", schedule),)
    return (*planned, Ask("GET", f"{path}/review"), Ask("POST", f"{path}/activate", {}))


_PAYMENT = "/recurring-payments/${payment.id}"
_PAUSE = Ask("POST", f"{_PAYMENT}/pause", {})
_RESTART = Ask("POST", f"{_PAYMENT}/restart", {})
_RUNS = Wait("${payment.id}", (RUN,))
_WEEK_MS = 7 * DAY_MS


# --- account, networks, webhooks -------------------------------------------------------------------------


def _kyc(status: str) -> Callable[[World, str], Walk]:
    def build(world: World, environment: str) -> Walk:
        asked = Act("set_kyc", None, {"status": status})
        before = (Act("set_kyc", None, {"status": "pending"}),) if profile_of(world).kyc_status == status else ()
        return Walk((*before, asked))

    return build


def _network(world: World, environment: str) -> Walk:
    """One that works gets slower; one that does not is set right again, in preference."""
    for name in ("celo", "stellar", "bitcoin"):
        if network_status(world, environment, name) != "operational":
            return Walk((Act("set_network", None, {"network": name, "status": "operational"}),))
    return Walk((Act("set_network", None, {"network": "celo", "status": "degraded"}),))


def _webhook_test(world: World, environment: str) -> Walk:
    table = world.wiring.kinds["webhook"].table
    newest = next((row for row in rows(world, environment, table).newest_first() if row.status == "enabled"), None)
    if newest is None:
        raise ControlError(
            409,
            "invalid_transition",
            f"webhook.test goes to one endpoint, and none is enabled in {environment}: register one with "
            "POST /webhooks (a URL that answers 200), or enable one with PATCH /webhooks/{id}.",
            allowed=[],
        )
    return Walk((Ask("POST", f"/webhooks/{newest.id}/test"),), newest.id)


_TRANSACTION = "${transaction.id}"
_PAID = Act("payment_arrives", _TRANSACTION)
_DEPOSITED = Act("deposit_arrives", _TRANSACTION)
_BOUNCED = Act("fail", _TRANSACTION, {"failure_code": "payout_failed"})
_SAVED = Ask("POST", "/beneficiaries", _BENEFICIARY, "beneficiary")
_FORGOTTEN = Ask("DELETE", "/beneficiaries/${beneficiary.id}")

WALKS: Mapping[str, Callable[[World, str], Walk]] = {
    "transaction.created": _onramp(),
    "transaction.awaiting_payment": _onramp(),
    "transaction.awaiting_deposit": _offramp(),
    "transaction.processing": _onramp(_PAID),
    "transaction.completed": _onramp(_PAID, Act("complete", _TRANSACTION)),
    "transaction.failed": _offramp(_DEPOSITED, _BOUNCED),
    "transaction.expired": _onramp(Wait(_TRANSACTION, ("ramp.deadline",))),
    "transaction.refunded": _offramp(_DEPOSITED, _BOUNCED, Act("refund", _TRANSACTION)),
    "wallet.created": _wallet(),
    **{event: _wallet(*more, subject=_DEPOSIT) for event, more in _DEPOSITS.items()},
    "lightning.invoice_paid": _invoice(Act("invoice_paid", "${invoice.id}"), expires_in=1800),
    "lightning.invoice_expired": _invoice(Wait("${invoice.id}", ("invoice.expiry",)), expires_in=60),
    "quote.expired": _quote_expires,
    "beneficiary.created": lambda world, environment: Walk((_SAVED,), "${beneficiary.id}"),
    "beneficiary.deleted": lambda world, environment: Walk((_SAVED, _FORGOTTEN), "${beneficiary.id}"),
    "kyc.approved": _kyc("approved"),
    "kyc.action_required": _kyc("action_required"),
    "kyc.rejected": _kyc("rejected"),
    "network.status_changed": _network,
    "webhook.test": _webhook_test,
    "recurring_payment.activated": _recurring(starts_in_ms=_WEEK_MS),
    "recurring_payment.run_upcoming": _recurring(starts_in_ms=23 * HOUR_MS),
    "recurring_payment.run_succeeded": _recurring(_RUNS, starts_in_ms=0),
    "recurring_payment.run_failed": _recurring(_RUNS, starts_in_ms=0, too_much=True),
    "recurring_payment.paused": _recurring(_PAUSE, starts_in_ms=_WEEK_MS),
    "recurring_payment.completed": _recurring(_RUNS, starts_in_ms=0),
    "recurring_payment.restarted": _recurring(_PAUSE, _RESTART, starts_in_ms=_WEEK_MS),
    "recurring_payment.deleted": _recurring(Ask("DELETE", _PAYMENT), starts_in_ms=0, activated=False),
}
