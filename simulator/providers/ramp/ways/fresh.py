"""Fresh objects that an event can tell of: for each kind the drive that makes one, as an account would.

From where the object then stands, `paths` leads to the event. Chapters "Events" of the specification and "Actions" of
the control interface.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.run.drive import Drive, DriveAction, DriveCall, action
from simulator.engine.scenario.run.paths import emits
from simulator.engine.scenario.run.ways import Fresh, Start
from simulator.engine.text.json import JsonObject
from simulator.kernel.clock import DAY_MS, HOUR_MS
from simulator.kernel.ledger import available
from simulator.kernel.money import Currency
from simulator.kernel.world import World
from simulator.providers.ramp.profile import platform_users, profile_of
from simulator.providers.ramp.reference import ASSETS, listing, network, network_status
from simulator.providers.ramp.spelling import upper
from simulator.providers.ramp.transactions import holder
from simulator.providers.ramp.ways.runs import schedule_from

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
_DEPOSITED = {"stellar": ("USDC", "25"), "celo": ("USDC", "25"), "bitcoin": ("BTC", "0.001")}
"""What arrives at a wallet, by its network."""
_STARTS_IN_MS = {
    "recurring_payment.run_upcoming": 23 * HOUR_MS,
    "recurring_payment.run_succeeded": 0,
    "recurring_payment.run_failed": 0,
    "recurring_payment.completed": 0,
}
"""When the first run of a fresh payment is due: at once where the event is its own, else out of the way."""
_OUT_OF_THE_WAY_MS = 7 * DAY_MS


def arriving_at(world: World, record: Any, event: str) -> Start | None:
    """The start of an event about what comes to this object, not about itself: deposits come to wallets."""
    if record.kind != "wallet" or record.owner or not emits(world, "deposit", event):
        return None
    return Start((_arrival(record.id, record.network),), "${deposit.id}")


# --- ramps and quotes ------------------------------------------------------------------------------------


def _network_up(world: World, environment: str, *names: str) -> str:
    """The first of these networks that is not down; the first of all when all are, so that the refusal says why."""
    return next((name for name in names if network_status(world, environment, name) != "down"), names[0])


def _onramp(world: World, environment: str, event: str) -> Start:
    network = _network_up(world, environment, "celo", "stellar")
    body = {"wallet_address": ADDRESSES[network], "payer": {"phone_number": PAYER}}
    confirm = DriveCall(post="/quotes/${quote.id}/confirm", body=body)
    return Start((_quote("onramp", network, "5000", "KES"), {"transaction": confirm}), "${transaction.id}")


def _offramp(world: World, environment: str, event: str) -> Start:
    network = _network_up(world, environment, "celo", "stellar")
    body = {"beneficiary_id": "${beneficiary.id}", "refund_address": ADDRESSES[network]}
    confirm = DriveCall(post="/quotes/${quote.id}/confirm", body=body)
    drive = (_SAVE, _quote("offramp", network, "30", "USDC"), {"transaction": confirm})
    return Start(drive, "${transaction.id}")


def _quote(kind: str, network: str, amount: str, currency: str) -> dict[str, DriveCall | DriveAction]:
    body = {"type": kind, "network": network, "asset": "USDC", "fiat_currency": "KES", "amount": amount}
    return {"quote": DriveCall(post="/quotes", body={**body, "amount_currency": currency, "method": "mobile_money"})}


def _ramp_quote(world: World, environment: str, event: str) -> Start:
    network = _network_up(world, environment, "celo", "stellar")
    return Start((_quote("onramp", network, "5000", "KES"),), "${quote.id}")


# --- deposit wallets -------------------------------------------------------------------------------------


def _wallet(world: World, environment: str, event: str) -> Start:
    network = _network_up(world, environment, *_DEPOSITED)
    return Start((_made_wallet(network),), "${wallet.id}")


def _deposit(world: World, environment: str, event: str) -> Start:
    network = _network_up(world, environment, *_DEPOSITED)
    return Start((_made_wallet(network), _arrival("${wallet.id}", network)), "${deposit.id}")


def _made_wallet(network: str) -> dict[str, DriveCall | DriveAction]:
    return {"wallet": DriveCall(post="/wallets", body={"network": network, "label": "Triggered"})}


def _arrival(wallet: str, network: str) -> dict[str, DriveCall | DriveAction]:
    code, amount = _DEPOSITED[network]
    return {"deposit": action("deposit_arrives", wallet, asset=code, amount=amount)}


def _invoice(world: World, environment: str, event: str) -> Start:
    body = {"type": "invoice", "amount_sats": 1000, "expires_in": 60 if event.endswith("expired") else 1800}
    made = {"invoice": DriveCall(post="/wallets/${wallet.id}/lightning", body=body)}
    return Start((_made_wallet("bitcoin"), made), "${invoice.id}")


# --- recurring payments ----------------------------------------------------------------------------------


def _recurring(world: World, environment: str, event: str) -> Start:
    """A daily send to another user of the service, which costs nothing and needs no network; planned, not active."""
    currency, amount = _payable(world, environment, event)
    body = {
        "name": "Triggered",
        "type": "send",
        "source": {"symbol": currency.code, "network": upper(currency.network or "")},
        "amount": currency.format(amount),
        "amount_currency": currency.code,
        "recipient": {"destination": {"type": "platform_user", "email": platform_users(world)[0].email}},
    }
    made = {"payment": DriveCall(post="/recurring-payments", body=body)}
    first_ms = world.now_ms + _STARTS_IN_MS.get(event, _OUT_OF_THE_WAY_MS)
    planned = DriveCall(put="/recurring-payments/${payment.id}/schedule", body=schedule_from(first_ms, 1))
    return Start((made,) if event.endswith("deleted") else (made, planned), "${payment.id}")


def _payable(world: World, environment: str, event: str) -> tuple[Currency, Decimal]:
    """An asset and an amount of it that the balance covers; one that it does not where the run is to fail."""
    for currency in ASSETS.values():
        row = listing(currency.code, currency.network or "")
        balance = world.ledger.balance(available(holder(environment)), currency.key)
        if event == "recurring_payment.run_failed":
            return currency, max(row.max_withdraw, balance + 1)
        if balance >= row.min_withdraw:
            return currency, row.min_withdraw
    raise ControlError(
        409,
        "invalid_transition",
        "No balance covers a payment; set one with the action set_balance.",
        allowed=["set_balance"],
    )


# --- account, networks, webhooks -------------------------------------------------------------------------


def _kyc(world: World, environment: str, event: str) -> Start:
    status = event.removeprefix("kyc.")
    away = (action("set_kyc", status="pending"),) if profile_of(world).kyc_status == status else ()
    return Start((*away, action("set_kyc", status=status)))


def _network(world: World, environment: str, event: str) -> Start:
    """One that does not work in preference: it is set right again."""
    networks = [network(world, environment, name) for name in ("celo", "stellar", "bitcoin")]
    return Start((), next((row.id for row in networks if row.status != "operational"), networks[0].id))


def _webhook(world: World, environment: str, event: str) -> Start:
    endpoints = world.store[world.wiring.kinds["webhook"].table.of(environment)]
    newest = next((row for row in endpoints.newest_first() if row.status == "enabled"), None)
    if newest is None:
        raise ControlError(
            409,
            "invalid_transition",
            f"webhook.test goes to one endpoint, and none is enabled in {environment}: register one with "
            "POST /webhooks (a URL that answers 200), or enable one with PATCH /webhooks/{id}.",
            allowed=[],
        )
    return Start((), newest.id)


def _beneficiary(world: World, environment: str, event: str) -> Start:
    return Start((_SAVE,), "${beneficiary.id}")


_SAVE: dict[str, DriveCall | DriveAction] = {"beneficiary": DriveCall(post="/beneficiaries", body=_BENEFICIARY)}
_BOUNCES: Drive = (
    action("deposit_arrives", "${transaction.id}"),
    action("fail", "${transaction.id}", failure_code="payout_failed"),
)

FRESH: tuple[Fresh, ...] = (
    Fresh("onramp", _onramp),
    Fresh(
        "offramp",
        _offramp,
        usual={
            "transaction.failed": _BOUNCES,
            "transaction.refunded": (*_BOUNCES, action("refund", "${transaction.id}")),
        },
    ),
    Fresh("ramp_quote", _ramp_quote),
    Fresh("wallet", _wallet),
    Fresh("deposit", _deposit),
    Fresh("invoice", _invoice),
    Fresh("recurring_payment", _recurring),
    Fresh("beneficiary", _beneficiary),
    Fresh("network", _network),
    Fresh("webhook", _webhook),
    Fresh("kyc", _kyc, usual=dict.fromkeys(("kyc.approved", "kyc.action_required", "kyc.rejected"), ())),
)
"""In the order in which they are asked for an event that several kinds emit."""
