"""The subject of these tests: a small careful client for the service, and an inbox that verifies its messages."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import httpx
import pytest

from simulator.testing import Delivery, Receiver, World
from simulator.testing.plugin import webhooks as webhooks
from simulator.testing.plugin import world as world

PHONE = "+254722000000"
WALLET = "0x52908400098527886E0F7030069857D2E4169EE7"
USDC = {"symbol": "USDC", "network": "CELO"}
RAMP = {"network": "celo", "asset": "USDC", "fiat_currency": "KES", "method": "mobile_money"}
WORTH_ANOTHER_TRY = (429, 500, 503)
TRIES = 4

Document = dict[str, Any]


class Refused(Exception):
    """The service said no; the text is its code."""


class Payments:
    """Every write carries a key of its own and is tried again under the same one."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._writes = 0

    def get(self, path: str, **query: str) -> Document:
        return self._call("GET", path, params=query)

    def post(self, path: str, body: Mapping[str, Any] | None = None, key: str | None = None) -> Document:
        self._writes += 1
        return self._call("POST", path, json=body, headers={"Idempotency-Key": key or f"write-{self._writes}"})

    def put(self, path: str, body: Mapping[str, Any]) -> Document:
        return self._call("PUT", path, json=body)

    def delete(self, path: str) -> None:
        self._call("DELETE", path)

    def _call(self, method: str, path: str, **parts: Any) -> Document:
        for number in range(TRIES):
            if number:
                self.world.advance(f"{2**number}s")
            try:
                answer = self.world.client.request(method, path, **parts)
                document: Document = answer.json() if answer.content else {}
            except (httpx.TransportError, ValueError):
                continue
            if answer.is_success:
                return document
            if answer.status_code not in WORTH_ANOTHER_TRY:
                raise Refused(document["error"]["code"])
        raise Refused("no answer")

    # What they do with it.

    def onramp(self, amount: str = "5000", **more: str) -> Document:
        """A customer pays shillings and gets USDC."""
        quote = self.post("/quotes", {"type": "onramp", **RAMP, "amount": amount, "amount_currency": "KES"})
        return self.post(
            f"/quotes/{quote['id']}/confirm", {"wallet_address": WALLET, "payer": {"phone_number": PHONE}, **more}
        )

    def offramp(self, amount: str = "30", **more: str) -> Document:
        """A customer pays USDC and gets shillings."""
        quote = self.post("/quotes", {"type": "offramp", **RAMP, "amount": amount, "amount_currency": "USDC"})
        body = {"beneficiary_id": self.beneficiary()["id"], "refund_address": WALLET, **more}
        return self.post(f"/quotes/{quote['id']}/confirm", body)

    def beneficiary(self) -> Document:
        phone = {"phone_number": PHONE, "provider": "mpesa"}
        who = {"type": "phone_number", "name": "Wanjiru Otieno", "country": "KE", "fiat_currency": "KES"}
        return self.post("/beneficiaries", {**who, "phone_number": phone})

    def send(self, amount: str = "20", key: str | None = None) -> Document:
        body = {**USDC, "amount": amount, "destination": {"type": "address", "address": WALLET}}
        return self.post("/wallet/send", body, key)

    def swap(self, amount: str = "25") -> Document:
        pair = {"from": USDC, "to": {"symbol": "CUSD", "network": "CELO"}}
        quote = self.post("/wallet/swap/quote", {**pair, "amount": amount, "amount_side": "from"})
        return self.post("/wallet/swap", {"quote_id": quote["id"]})

    def buy(self, amount: str = "5000") -> Document:
        wanted = {**USDC, "fiat_currency": "KES", "amount": amount, "amount_currency": "fiat", "method": "mobile_money"}
        quote = self.post("/wallet/buy/quote", wanted)
        return self.post("/wallet/buy", {"quote_id": quote["id"], "payer": {"phone_number": PHONE}})

    def withdraw(self, amount: str = "25") -> Document:
        wanted = {**USDC, "fiat_currency": "KES", "amount": amount, "amount_currency": "USDC"}
        quote = self.post("/wallet/withdraw/quote", {**wanted, "beneficiary_id": self.beneficiary()["id"]})
        return self.post("/wallet/withdraw", {"quote_id": quote["id"]})

    def rent(self, amount: str = "25") -> Document:
        """A standing payout on the fifth of every month, active."""
        plan = {"name": "Rent", "type": "withdraw", "source": USDC, "amount": amount, "amount_currency": "USDC"}
        rent = self.post("/recurring-payments", {**plan, "recipient": {"beneficiary_id": self.beneficiary()["id"]}})
        when = {"frequency": "monthly", "day_of_month": 5, "start_date": f"{self.world.now:%Y-%m-%d}", "time": "09:00"}
        self.put(f"/recurring-payments/{rent['id']}/schedule", {**when, "end": {"type": "never"}})
        self.get(f"/recurring-payments/{rent['id']}/review")
        return self.post(f"/recurring-payments/{rent['id']}/activate")

    def status(self, transaction: Document) -> str:
        """How it stands; it is asked for until it has ended, or an hour is over."""
        for _ in range(12):
            found = str(self.get(f"/transactions/{transaction['id']}")["status"])
            if found in ("completed", "failed", "expired", "refunded"):
                break
            self.world.advance("5m")
        return found

    def left(self) -> Decimal:
        return self.world.balance("USDC", "CELO")


class Inbox:
    """The application's webhook handler: it verifies requests, and stores each event once."""

    def __init__(self, world: World, webhooks: Receiver) -> None:
        self.world = world
        self.events: dict[str, Document] = {}
        webhooks.respond_with(self._take)

    def _take(self, delivery: Delivery) -> int:
        stamp = delivery.headers["x-timestamp"]
        key, signed = self.world.keys.webhook_key, stamp.encode() + b"." + delivery.body
        fresh = abs(time.time() * 1000 - int(stamp)) < 300_000
        if not fresh or hmac.new(key.encode(), signed, hashlib.sha256).hexdigest() != delivery.headers["x-signature"]:
            return 401
        event = json.loads(delivery.body)
        self.events.setdefault(event["id"], event)
        return 200

    def types(self, transaction: Document) -> list[str]:
        """The types of the events about a transaction."""
        return sorted(
            event["type"] for event in self.events.values() if event["data"]["object"]["id"] == transaction["id"]
        )


@pytest.fixture
def payments(world: World) -> Payments:
    return Payments(world)


@pytest.fixture
def inbox(world: World, webhooks: Receiver) -> Inbox:
    return Inbox(world, webhooks)
