"""The rooms that wallet operations need, and helpers for calls."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from simulator.engine.records.records import find, render
from simulator.engine.rows.error import ApiError, ControlError
from simulator.kernel.clock import MINUTE_MS
from simulator.kernel.ledger import (
    BALANCES,
    available,
    held,
)
from simulator.kernel.world import World
from simulator.providers.ramp import (
    auth,
    balance,
    beneficiaries,
    deposit_wallets,
    fees,
    profile,
    ramps,
    reference,
    transactions,
)
from simulator.providers.ramp.fees import FEES
from tests.support import CELO, act, advance, event_types, find_operation, invoke, make_world

ROOMS = (
    reference.ROOM,
    profile.ROOM,
    auth.ROOM,
    beneficiaries.ROOM,
    fees.ROOM,
    transactions.ROOM,
    ramps.ROOM,
    deposit_wallets.ROOM,
    balance.ROOM,
)

USDC_STELLAR = {"symbol": "USDC", "network": "STELLAR"}
XLM = {"symbol": "XLM", "network": "STELLAR"}
CUSD = {"symbol": "CUSD", "network": "CELO"}
BTC = {"symbol": "BTC", "network": "BITCOIN"}
TO_CELO = {"type": "address", "address": CELO}
TO_AMINA = {"type": "platform_user", "email": "amina@example.test"}
PAYER = {"phone_number": "+254712000009"}


class WalletWorld:
    """One world with the wallet rooms, in one environment."""

    def __init__(self, environment: str = "sandbox", seed: int = 1) -> None:
        self.world: World = make_world(*ROOMS, seed=seed)
        self.environment = environment

    def post(self, path: str, **body: Any) -> Any:
        return self.call("POST", path, body)

    def get(self, path: str, **query: str) -> Any:
        return invoke(self.world, find_operation(ROOMS, "GET", path), environment=self.environment, query=query)

    def call(self, method: str, path: str, body: dict[str, Any]) -> Any:
        """Call an operation; every error that it answers must be one that it declares."""
        operation = find_operation(ROOMS, method, path)
        declared = (*operation.errors, "missing_parameter", "invalid_parameter")
        try:
            return invoke(self.world, operation, body, environment=self.environment)
        except ApiError as refused:
            if refused.code not in declared:
                raise AssertionError(f"{path} does not declare {refused.code}") from refused
            raise

    def act(self, action: str, target: str | None = None, **values: Any) -> Any:
        """Perform an action; answers the resource after."""
        return act(self.world, ROOMS, action, target, self.environment, **values).resource

    def show(self, transaction_id: str) -> Any:
        row: Any = find(self.world, transaction_id)
        return render(self.world, row)

    def pass_minutes(self, minutes: int) -> None:
        advance(self.world, self.world.now_ms + minutes * MINUTE_MS)

    def events(self) -> list[str]:
        return event_types(self.world)

    def available(self, key: str) -> Decimal:
        return self.world.ledger.balance(available(f"{self.environment}:account"), key)

    def held(self, key: str) -> Decimal:
        return self.world.ledger.balance(held(f"{self.environment}:account"), key)

    def fees(self, key: str) -> Decimal:
        return self.world.ledger.balance(FEES, key)

    def books(self) -> dict[str, Decimal]:
        """Every balance of the ledger, after checking that they sum to zero."""
        assert not any(self.world.ledger.totals().values())
        return dict(self.world.store[BALANCES].items())

    def save_phone(self, phone_number: str = "+254722000000") -> str:
        made = self.post(
            "/beneficiaries",
            type="phone_number",
            name="Wanjiru Otieno",
            country="KE",
            fiat_currency="KES",
            phone_number={"phone_number": phone_number, "provider": "mpesa"},
        )
        return str(made["id"])

    def send(self, amount: str = "10", **body: Any) -> Any:
        return self.post("/wallet/send", **{**CUSD, "amount": amount, "destination": TO_CELO, **body})

    def swap_quote(self, amount: str = "50", **body: Any) -> Any:
        return self.post(
            "/wallet/swap/quote",
            **{"from": USDC_STELLAR, "to": XLM, "amount": amount, "amount_side": "from", **body},
        )

    def swap(self, **body: Any) -> Any:
        return self.post("/wallet/swap", quote_id=self.swap_quote()["id"], **body)

    def buy_quote(self, amount: str = "5000", **body: Any) -> Any:
        fields = {
            **CUSD,
            "fiat_currency": "KES",
            "amount": amount,
            "amount_currency": "fiat",
            "method": "mobile_money",
        }
        return self.post("/wallet/buy/quote", **{**fields, **body})

    def buy(self, **body: Any) -> Any:
        return self.post("/wallet/buy", quote_id=self.buy_quote()["id"], payer=PAYER, **body)

    def withdraw_quote(self, amount: str = "20", beneficiary_id: str = "", **body: Any) -> Any:
        fields = {**CUSD, "fiat_currency": "KES", "amount": amount, "amount_currency": "CUSD"}
        return self.post(
            "/wallet/withdraw/quote", **{**fields, "beneficiary_id": beneficiary_id or self.save_phone(), **body}
        )

    def withdraw(self, **body: Any) -> Any:
        return self.post("/wallet/withdraw", quote_id=self.withdraw_quote()["id"], **body)


def refusal(call: Any, *arguments: Any, **named: Any) -> tuple[int, str, str | None]:
    """Status, code and param with which a call is refused."""
    with pytest.raises((ApiError, ControlError)) as caught:
        call(*arguments, **named)
    refused: Any = caught.value
    return refused.status, refused.code, refused.param
