"""The triggers of the ramp: for each kind of object, the calls and actions that create one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from simulator.engine.rows.error import ControlError
from simulator.engine.scenario.run.drive import Drive, DriveAction, DriveCall, action
from simulator.engine.scenario.run.paths import emits
from simulator.engine.scenario.run.triggers import Factory, Setup, Triggers
from simulator.engine.text.json import JsonObject
from simulator.kernel.clock import DAY_MS, HOUR_MS
from simulator.kernel.ledger import available
from simulator.kernel.machine import Move
from simulator.kernel.money import Currency
from simulator.kernel.world import World
from simulator.providers.ramp.profile import platform_users, profile_of
from simulator.providers.ramp.reference import ASSETS, LISTINGS, NETWORK_ASSETS, currency_of, network, network_status
from simulator.providers.ramp.shapes import upper
from simulator.providers.ramp.transactions import holder
from simulator.providers.ramp.triggers.history import HISTORY
from simulator.providers.ramp.triggers.recurring_runs import schedule_from, steps, without_funds

PAYER = "+254722000000"
ADDRESSES = {
    "celo": "0x52908400098527886E0F7030069857D2E4169EE7",
    "stellar": "GAXBPJAKKTCO6MBNCD4EFYKP35N6JJODICTNJCJ35EVTDIII7C4V5PEV",
}
"""External addresses, by network."""
_BENEFICIARY: JsonObject = {
    "type": "phone_number",
    "name": "Wanjiru Otieno",
    "country": "KE",
    "fiat_currency": "KES",
    "phone_number": {"phone_number": PAYER, "provider": "mpesa"},
}
_DEPOSITED = {"stellar": ("USDC", "25"), "celo": ("USDC", "25"), "bitcoin": ("BTC", "0.001")}
"""Maps a network to the asset and amount of a deposit."""
_STARTS_IN_MS = {
    "recurring_payment.run_upcoming": 23 * HOUR_MS,
    "recurring_payment.run_succeeded": 0,
    "recurring_payment.run_failed": 0,
    "recurring_payment.completed": 0,
}
"""The delay until the first run of a new payment, for events about runs."""
_STARTS_LATER_MS = 7 * DAY_MS
"""The delay until the first run for other events. It is so long that no run interferes."""


def _incoming(world: World, record: Any, event: str) -> Setup | None:
    """Return the setup that deposits into an existing wallet of the account, or None if it emits no such event."""
    if record.kind != "wallet" or record.owner or not emits(world, "deposit", event):
        return None
    return Setup((_arrival(record.id, record.network),), "${deposit.id}")


# --- ramps and quotes ------------------------------------------------------------------------------------


def _network_up(world: World, environment: str, *names: str) -> str:
    """Return the first network that is up, or the first one, for which the service returns an error."""
    return next((name for name in names if network_status(world, environment, name) != "down"), names[0])


def _onramp(world: World, environment: str, event: str) -> Setup:
    network = _network_up(world, environment, "celo", "stellar")
    body = {"wallet_address": ADDRESSES[network], "payer": {"phone_number": PAYER}}
    confirm = DriveCall(post="/quotes/${quote.id}/confirm", body=body)
    return Setup((_quote("onramp", network, "5000", "KES"), {"transaction": confirm}), "${transaction.id}")


def _offramp(world: World, environment: str, event: str) -> Setup:
    network = _network_up(world, environment, "celo", "stellar")
    body = {"beneficiary_id": "${beneficiary.id}", "refund_address": ADDRESSES[network]}
    confirm = DriveCall(post="/quotes/${quote.id}/confirm", body=body)
    drive = (_SAVE, _quote("offramp", network, "30", "USDC"), {"transaction": confirm})
    return Setup(drive, "${transaction.id}")


def _quote(kind: str, network: str, amount: str, currency: str) -> dict[str, DriveCall | DriveAction]:
    body = {"type": kind, "network": network, "asset": "USDC", "fiat_currency": "KES", "amount": amount}
    return {"quote": DriveCall(post="/quotes", body={**body, "amount_currency": currency, "method": "mobile_money"})}


def _ramp_quote(world: World, environment: str, event: str) -> Setup:
    network = _network_up(world, environment, "celo", "stellar")
    return Setup((_quote("onramp", network, "5000", "KES"),), "${quote.id}")


# --- deposit wallets -------------------------------------------------------------------------------------


def _wallet(world: World, environment: str, event: str) -> Setup:
    network = _network_up(world, environment, *_DEPOSITED)
    return Setup((_new_wallet(network),), "${wallet.id}")


def _deposit(world: World, environment: str, event: str) -> Setup:
    network = _network_up(world, environment, *_DEPOSITED)
    return Setup((_new_wallet(network), _arrival("${wallet.id}", network)), "${deposit.id}")


def _new_wallet(network: str) -> dict[str, DriveCall | DriveAction]:
    return {"wallet": DriveCall(post="/wallets", body={"network": network, "label": "Triggered"})}


def _arrival(wallet: str, network: str) -> dict[str, DriveCall | DriveAction]:
    code, amount = _DEPOSITED[network]
    return {"deposit": action("deposit_arrives", wallet, asset=code, amount=amount)}


def _invoice(world: World, environment: str, event: str) -> Setup:
    body = {"type": "invoice", "amount_sats": 1000, "expires_in": 60 if event.endswith("expired") else 1800}
    made = {"invoice": DriveCall(post="/wallets/${wallet.id}/lightning", body=body)}
    return Setup((_new_wallet("bitcoin"), made), "${invoice.id}")


# --- recurring payments ----------------------------------------------------------------------------------


def _recurring(world: World, environment: str, event: str) -> Setup:
    """Create and schedule a daily send to another user, which is free and does not need the network."""
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
    first_ms = world.now_ms + _STARTS_IN_MS.get(event, _STARTS_LATER_MS)
    planned = DriveCall(put="/recurring-payments/${payment.id}/schedule", body=schedule_from(first_ms, 1))
    return Setup((made,) if event.endswith("deleted") else (made, planned), "${payment.id}")


def _payable(world: World, environment: str, event: str) -> tuple[Currency, Decimal]:
    """Return an asset and an amount to pay. The balance covers the amount, unless a run must fail."""
    for currency in ASSETS.values():
        row = LISTINGS[currency.code, currency.network or ""]
        balance = world.ledger.balance(available(holder(environment)), currency.key)
        if event == "recurring_payment.run_failed":
            return currency, max(row.max_withdraw, balance + 1)
        if balance >= row.min_withdraw:
            return currency, row.min_withdraw
    raise ControlError(
        409,
        "invalid_transition",
        "No balance is high enough for a payment. Increase a balance with the action set_balance.",
        allowed=["set_balance"],
    )


# --- account, networks, webhooks -------------------------------------------------------------------------


def _kyc(world: World, environment: str, event: str) -> Setup:
    status = event.removeprefix("kyc.")
    away = (action("set_kyc", status="pending"),) if profile_of(world).kyc_status == status else ()
    return Setup((*away, action("set_kyc", status=status)))


def _network(world: World, environment: str, event: str) -> Setup:
    """Return the setup for a network event. Prefer a network that is not operational, so that the event restores it."""
    networks = [network(world, environment, name) for name in ("celo", "stellar", "bitcoin")]
    return Setup((), next((row.id for row in networks if row.status != "operational"), networks[0].id))


def _webhook(world: World, environment: str, event: str) -> Setup:
    endpoints = world.store[world.wiring.kinds["webhook"].table.of(environment)]
    newest = next((row for row in endpoints.newest_first() if row.status == "enabled"), None)
    if newest is None:
        raise ControlError(
            409,
            "invalid_transition",
            f"webhook.test is sent to one endpoint, and no endpoint is enabled in {environment}. Register one with "
            "POST /webhooks (a URL that returns 200), or enable one with PATCH /webhooks/{id}.",
            allowed=[],
        )
    return Setup((), newest.id)


def _beneficiary(world: World, environment: str, event: str) -> Setup:
    return Setup((_SAVE,), "${beneficiary.id}")


_SAVE: dict[str, DriveCall | DriveAction] = {"beneficiary": DriveCall(post="/beneficiaries", body=_BENEFICIARY)}
_BOUNCES: Drive = (
    action("deposit_arrives", "${transaction.id}"),
    action("fail", "${transaction.id}", failure_code="payout_failed"),
)

_FACTORIES = (
    Factory("onramp", _onramp),
    Factory(
        "offramp",
        _offramp,
        usual={
            "transaction.failed": _BOUNCES,
            "transaction.refunded": (*_BOUNCES, action("refund", "${transaction.id}")),
        },
    ),
    Factory("ramp_quote", _ramp_quote),
    Factory("wallet", _wallet),
    Factory("deposit", _deposit),
    Factory("invoice", _invoice),
    Factory("recurring_payment", _recurring),
    Factory("beneficiary", _beneficiary),
    Factory("network", _network),
    Factory("webhook", _webhook),
    Factory("kyc", _kyc, usual=dict.fromkeys(("kyc.approved", "kyc.action_required", "kyc.rejected"), ())),
)


def _parameters(record: Any, move: Move) -> JsonObject:
    if move.when == "short":
        return {"amount": f"{currency_of(record.paid.code, record.paid.network).unit:f}"}
    if move.when == "enough":
        return {"confirmations": LISTINGS[NETWORK_ASSETS[record.network][0], record.network].confirmations}
    return {}


TRIGGERS = Triggers(without_funds, _FACTORIES, _incoming, _parameters, {"recurring_payment": steps}, HISTORY)
