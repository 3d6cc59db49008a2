"""The table of cases: the behaviour visible by default, and under each alternative of an assumption."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from simulator.testing import World
from tests.support import CELO, QUOTE

Look: TypeAlias = Callable[[World], Any]


@dataclass(frozen=True)
class Case:
    """The expected result of `look` in a world with `alternative` ("" for the default) of the assumption `id`."""

    id: str
    alternative: str
    look: Look
    finds: Any

    def __str__(self) -> str:
        return f"{self.id}={self.alternative or 'usual'}-{self.look.__name__}"


CASES: list[Case] = []


def case(id: str, /, *, usual: Any, **alternatives: Any) -> Callable[[Look], Look]:
    """Enter what a function finds as usual, and under alternatives by name."""

    def enter(look: Look) -> Look:
        CASES.append(Case(id, "", look, usual))
        for name, finds in alternatives.items():
            assert finds != usual, (id, name)
            CASES.append(Case(id, name, look, finds))
        return look

    return enter


# What an integrator does, in one line each

PHONE = "+254712345678"
BALANCE = {"symbol": "USDC", "network": "CELO"}


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def post(world: World, path: str, body: Any = None, **headers: str) -> Any:
    """Return the response to a POST that must succeed."""
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = world.client.post(path, json=body or {}, headers=sent)
    assert answer.is_success, answer.text
    return answer.json()


def get(world: World, path: str, **query: Any) -> Any:
    answer = world.client.get(path, params=query)
    assert answer.is_success, answer.text
    return answer.json()


def quote(world: World, **changes: Any) -> Any:
    return post(world, "/quotes", {**QUOTE, **changes})


def onramp(world: World, **changes: Any) -> Any:
    body = {"wallet_address": CELO, "payer": {"phone_number": PHONE}, **changes}
    return post(world, f"/quotes/{quote(world)['id']}/confirm", body)


def payee(world: World) -> Any:
    """A beneficiary by mobile money."""
    details = {"phone_number": PHONE, "provider": "mpesa"}
    body = {"type": "phone_number", "name": "Asha", "country": "KE", "fiat_currency": "KES", "phone_number": details}
    return post(world, "/beneficiaries", body)


def offramp(world: World) -> Any:
    offer = quote(world, type="offramp", amount="20", amount_currency="USDC")
    return post(world, f"/quotes/{offer['id']}/confirm", {"beneficiary_id": payee(world)["id"], "refund_address": CELO})


def funded(world: World, amount: str = "100") -> None:
    world.act("set_balance", amount=amount, **BALANCE)


def sending(amount: str = "20", **changes: Any) -> Any:
    return {**BALANCE, "amount": amount, "destination": {"type": "address", "address": CELO}, **changes}


def send(world: World, amount: str = "20", **changes: Any) -> Any:
    return post(world, "/wallet/send", sending(amount, **changes))


def user(world: World) -> Any:
    """Another user of the service, as a destination."""
    return {"type": "platform_user", "user_id": world.info["platform_users"][0]["user_id"]}


def withdraw_quote(world: World, amount: str = "20", **changes: Any) -> Any:
    body = {**BALANCE, "fiat_currency": "KES", "amount": amount, "amount_currency": "USDC"}
    return post(world, "/wallet/withdraw/quote", {**body, "beneficiary_id": payee(world)["id"], **changes})


def withdrawal(world: World, amount: str = "20") -> Any:
    funded(world)
    return post(world, "/wallet/withdraw", {"quote_id": withdraw_quote(world, amount)["id"]})


def swap_quote(world: World, amount: str = "20") -> Any:
    body = {"from": BALANCE, "to": {"symbol": "CUSD", "network": "CELO"}, "amount": amount, "amount_side": "from"}
    return post(world, "/wallet/swap/quote", body)


def buy(world: World) -> Any:
    body = {**BALANCE, "fiat_currency": "KES", "amount": "5000", "amount_currency": "fiat", "method": "mobile_money"}
    offer = post(world, "/wallet/buy/quote", body)
    return post(world, "/wallet/buy", {"quote_id": offer["id"], "payer": {"phone_number": PHONE}})


def after(world: World, action: str, one: Any, **parameters: Any) -> Mapping[str, Any]:
    """A resource as an action leaves it."""
    resource = world.act(action, one, **parameters)["resource"]
    assert resource is not None
    return resource


def shown(world: World, one: Any) -> Any:
    """A transaction as it is now."""
    return get(world, f"/transactions/{one['id']}")


def told(world: World, one: Any) -> list[str]:
    """The events about a resource, in their order."""
    return [event["type"] for event in world.events(object_id=one["id"])]
