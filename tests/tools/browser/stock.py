"""The activity of an integrator's application in a world before a user opens it."""

from __future__ import annotations

from typing import Any

from tests.remote import Remote
from tests.service.http.busy import beneficiary, ok
from tests.support import CELO, QUOTE

OFFRAMP = {**QUOTE, "type": "offramp", "amount": "30", "amount_currency": "USDC"}
REJECTED, PAID_OUT = "+254722000001", "+254722000000"
"""Numbers to which a payout is rejected, and to which it gets."""


def onramp(world: Remote, reference: str, phone: str = "+254712345678") -> Any:
    quote = ok(world.api("POST", "/quotes", QUOTE))
    body = {"wallet_address": CELO, "payer": {"phone_number": phone}, "reference": reference}
    return ok(world.api("POST", f"/quotes/{quote['id']}/confirm", body))


def offramp(world: Remote, reference: str, phone: str = PAID_OUT) -> Any:
    quote = ok(world.api("POST", "/quotes", OFFRAMP))
    body = {"beneficiary_id": beneficiary(world, phone), "refund_address": CELO, "reference": reference}
    return ok(world.api("POST", f"/quotes/{quote['id']}/confirm", body))


def inbox(world: Remote, name: str) -> str:
    """The address of an inbox of this world's own: the server has one set of them for all worlds."""
    return f"{world.origin}/_simulator/inbox/{world.world['id']}-{name}"


def subscribe(world: Remote, name: str = "shop", *events: str) -> Any:
    return ok(world.api("POST", "/webhooks", {"url": inbox(world, name), "events": list(events) or ["*"]}))


def crowd(world: Remote, number: int) -> None:
    """Other customers: so many orders, some of them refunded."""
    for index in range(number // 4):  # a quote, a beneficiary, an order and its transaction each
        offramp(world, f"order-{6000 + index}", REJECTED if index % 10 == 0 else PAID_OUT)
