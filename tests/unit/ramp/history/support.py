"""One transaction of each kind, created with the operations of its room."""

from __future__ import annotations

from typing import Any

from simulator.kernel.world import World
from tests.support import CELO, act
from tests.unit.ramp.recurring.world import ROOMS, call, save_beneficiary


def onramp(world: World) -> Any:
    quote = call(
        world,
        "POST",
        "/quotes",
        {
            "type": "onramp",
            "network": "celo",
            "asset": "CELO",
            "fiat_currency": "KES",
            "amount": "5000",
            "amount_currency": "KES",
            "method": "bank_transfer",
        },
    )
    body = {
        "wallet_address": CELO,
        "payer": {"account_name": "Juma", "account_number": "0011223344", "bank_code": "01"},
    }
    return call(world, "POST", "/quotes/{id}/confirm", body, id=quote["id"])


def offramp(world: World) -> Any:
    quote = call(
        world,
        "POST",
        "/quotes",
        {
            "type": "offramp",
            "network": "celo",
            "asset": "USDC",
            "fiat_currency": "KES",
            "amount": "50",
            "amount_currency": "USDC",
            "method": "mobile_money",
        },
    )
    body = {"beneficiary_id": save_beneficiary(world, "+254733000001"), "refund_address": CELO}
    return call(world, "POST", "/quotes/{id}/confirm", body, id=quote["id"])


def send(world: World, amount: str = "12") -> Any:
    body = {
        "symbol": "USDC",
        "network": "STELLAR",
        "amount": amount,
        "destination": {"type": "platform_user", "email": "amina@example.test"},
        "reference": "gift",
    }
    return call(world, "POST", "/wallet/send", body)


def swap(world: World, amount: str = "10") -> Any:
    quote = call(
        world,
        "POST",
        "/wallet/swap/quote",
        {
            "from": {"symbol": "USDC", "network": "STELLAR"},
            "to": {"symbol": "XLM", "network": "STELLAR"},
            "amount": amount,
            "amount_side": "from",
            "slippage": 0.5,
        },
    )
    return call(world, "POST", "/wallet/swap", {"quote_id": quote["id"]})


def buy(world: World) -> Any:
    quote = call(
        world,
        "POST",
        "/wallet/buy/quote",
        {
            "symbol": "USDC",
            "network": "STELLAR",
            "fiat_currency": "KES",
            "amount": "5000",
            "amount_currency": "fiat",
            "method": "mobile_money",
        },
    )
    body = {"quote_id": quote["id"], "payer": {"phone_number": "+254722000000"}}
    return call(world, "POST", "/wallet/buy", body)


def withdraw(world: World, reference: str | None = None) -> Any:
    quote = call(
        world,
        "POST",
        "/wallet/withdraw/quote",
        {
            "symbol": "USDC",
            "network": "STELLAR",
            "fiat_currency": "KES",
            "amount": "20",
            "amount_currency": "USDC",
            "beneficiary_id": save_beneficiary(world),
        },
    )
    return call(world, "POST", "/wallet/withdraw", {"quote_id": quote["id"], "reference": reference})


def credited(world: World) -> Any:
    """A deposit on a bitcoin wallet: the transaction that it ends as."""
    wallet = call(world, "POST", "/wallets", {"network": "bitcoin", "reference": "till-3"})
    deposit = act(world, ROOMS, "deposit_arrives", wallet["id"], asset="BTC", amount="0.001").resource or {}
    act(world, ROOMS, "deposit_confirms", deposit["id"])
    return call(world, "GET", "/transactions", query={"type": "deposit"})["data"][0]


def everything(world: World) -> dict[str, Any]:
    """One transaction of each type, by type."""
    return {
        "onramp": onramp(world),
        "offramp": offramp(world),
        "send": send(world),
        "swap": swap(world),
        "buy": buy(world),
        "withdraw": withdraw(world),
        "deposit": credited(world),
    }
