"""Seeded order histories: onramps, offramps, sends and deposits with their outcomes, and a daily payment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from simulator.engine.scenario.run.drive import Drive, DriveAction, DriveCall, action
from simulator.engine.scenario.run.triggers import Episode, History
from simulator.kernel.clock import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from simulator.kernel.world import World
from simulator.providers.ramp.profile import platform_users
from simulator.providers.ramp.triggers.recurring_runs import schedule_from

_STREAM = "history"
_ADDRESS = "0x52908400098527886E0F7030069857D2E4169EE7"
_NAMES = ("Wanjiru Otieno", "Amina Hassan", "Brian Mutua", "Grace Njeri", "Kevin Odhiambo", "Faith Chebet")
_DELIVERED = ((20 * SECOND_MS, "complete"),)
_BOUNCED = ((40 * SECOND_MS, "fail"), (2 * HOUR_MS, "refund"))
_CAME_BACK = ((30 * SECOND_MS, "complete"), (2 * DAY_MS, "refund"))

_OUTCOMES = {
    "typical": (("completed", 90), ("refunded", 4), ("expired", 4), ("came back", 2)),
    "failures": (("completed", 40), ("refunded", 30), ("expired", 15), ("came back", 15)),
}
"""The outcomes of ramps in each mix, in percent."""
_KINDS = (("onramp", 45), ("offramp", 30), ("send", 15), ("deposit", 10))
_AFTER = {"completed": _DELIVERED, "refunded": _BOUNCED, "came back": _CAME_BACK, "expired": ()}
_CODES = ("payout_failed", "network_unavailable", "internal_error")

T = TypeVar("T")


def _pick(world: World, rows: Sequence[tuple[T, int]]) -> T:
    """Return a random value. Each row contains a value and its probability in percent."""
    drawn = world.streams.below(100, _STREAM)
    for one, share in rows:
        drawn -= share
        if drawn < 0:
            return one
    return rows[-1][0]


def _begin(world: World, environment: str, days: int) -> Drive:
    """Fund the account, create a wallet and two beneficiaries, and start a daily payment."""
    send = {
        "name": "Daily allowance", "type": "send", "source": {"symbol": "USDC", "network": "CELO"}, "amount": "2",
        "amount_currency": "USDC",
        "recipient": {"destination": {"type": "platform_user", "email": platform_users(world)[0].email}},
    }  # fmt: skip
    schedule = schedule_from(world.now_ms + HOUR_MS, max(1, days - 1))
    payment = "/recurring-payments/${payment.id}"
    return (
        action("set_balance", symbol="USDC", network="CELO", amount="100000"),
        {"wallet": DriveCall(post="/wallets", body={"network": "celo", "label": "History"})},
        {"payee": DriveCall(post="/beneficiaries", body=_beneficiary(_NAMES[0], "+254722000000"))},
        {"other": DriveCall(post="/beneficiaries", body=_beneficiary(_NAMES[1], "+254733000000"))},
        {"payment": DriveCall(post="/recurring-payments", body=send)},
        DriveCall(put=f"{payment}/schedule", body=schedule),
        DriveCall(get=f"{payment}/review"),
        DriveCall(post=f"{payment}/activate", body={}),
    )


def _beneficiary(name: str, phone: str) -> dict[str, object]:
    return {
        "type": "phone_number", "name": name, "country": "KE", "fiat_currency": "KES",
        "phone_number": {"phone_number": phone, "provider": "mpesa"},
    }  # fmt: skip


def _episode(world: World, environment: str, mix: str, number: int) -> Episode:
    reference = f"history-{number:05}"
    kind = _pick(world, _KINDS)
    if kind == "send":
        amount = str(1 + world.streams.below(20, _STREAM))
        users = platform_users(world)
        to = {"type": "platform_user", "email": users[world.streams.below(len(users), _STREAM)].email}
        body = {"symbol": "USDC", "network": "CELO", "amount": amount, "reference": reference, "destination": to}
        return Episode(({"order": DriveCall(post="/wallet/send", body=body)},))
    if kind == "deposit":
        amount = str(20 + world.streams.below(200, _STREAM))
        arrival = action("deposit_arrives", "${wallet.id}", asset="USDC", amount=amount)
        return Episode(({"order": arrival},), ((30 * SECOND_MS, action("deposit_confirms", "${order.id}")),))
    outcome = _pick(world, _OUTCOMES[mix])
    later = tuple((delay_ms, _third_party(world, name)) for delay_ms, name in _AFTER[outcome])
    paid = "payment_arrives" if kind == "onramp" else "deposit_arrives"
    wait_ms = 15 * SECOND_MS + world.streams.below(8 * MINUTE_MS, _STREAM)
    payment = (wait_ms, action(paid, "${order.id}"))
    drive = _onramp(world, reference) if kind == "onramp" else _offramp(world, reference)
    return Episode(drive, (payment, *later) if outcome != "expired" else ())


def _third_party(world: World, name: str) -> DriveAction:
    if name != "fail":
        return action(name, "${order.id}")
    return action(name, "${order.id}", failure_code=_CODES[world.streams.below(len(_CODES), _STREAM)])


def _onramp(world: World, reference: str) -> Drive:
    amount = str(500 + 50 * world.streams.below(300, _STREAM))
    phone = f"+2547{22 + world.streams.below(7, _STREAM)}{4000 + world.streams.below(5000, _STREAM)}88"
    payer = {"phone_number": phone}
    confirm = {"wallet_address": _ADDRESS, "payer": payer, "reference": reference}
    return _ordered("onramp", amount, "KES", confirm)


def _offramp(world: World, reference: str) -> Drive:
    amount = str(5 + world.streams.below(120, _STREAM))
    payee = ("${payee.id}", "${other.id}")[world.streams.below(2, _STREAM)]
    confirm = {"beneficiary_id": payee, "refund_address": _ADDRESS, "reference": reference}
    return _ordered("offramp", amount, "USDC", confirm)


def _ordered(type_: str, amount: str, currency: str, confirm: Mapping[str, object]) -> Drive:
    quote = {
        "type": type_, "network": "celo", "asset": "USDC", "fiat_currency": "KES", "amount": amount,
        "amount_currency": currency, "method": "mobile_money",
    }  # fmt: skip
    return (
        {"quote": DriveCall(post="/quotes", body=quote)},
        {"order": DriveCall(post="/quotes/${quote.id}/confirm", body=confirm)},
    )


HISTORY = History(
    mixes={
        "typical": "Nine of ten ramps are completed. The others are refunded, expire, or come back after completion.",
        "failures": "Two of five ramps are completed.",
    },
    begin=_begin,
    episode=_episode,
    hours=(6, 20),
)
