"""An independent auditor that rebuilds every balance from events and control calls, without the ledger."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

OPENING = {
    ("USDC", "STELLAR"): Decimal(1000),
    ("XLM", "STELLAR"): Decimal(5000),
    ("CELO", "CELO"): Decimal(1000),
    ("CUSD", "CELO"): Decimal(1000),
    ("USDC", "CELO"): Decimal(1000),
    ("USDT", "CELO"): Decimal(1000),
    ("BTC", "BITCOIN"): Decimal("0.5"),
}


class Auditor:
    """Balances of one environment, as its owner could keep them from webhooks and own control calls."""

    def __init__(self) -> None:
        self.balances = dict(OPENING)
        self._credited_buys: set[str] = set()
        self._paid_out: set[str] = set()

    def saw(self, event_type: str, subject: dict[str, Any]) -> None:
        """One event, in the order of emission."""
        if event_type == "deposit.confirmed":
            self._add(subject["asset"], subject["network"].upper(), subject["amount"])
        elif event_type.startswith("transaction."):
            handler = getattr(self, f"_{subject['type']}", None)
            if handler is not None:
                handler(event_type.removeprefix("transaction."), subject)

    def set_balance(self, resource: dict[str, Any]) -> None:
        """The answer of the control call that set an available balance."""
        self.balances[resource["symbol"], resource["network"]] = Decimal(resource["balance"])

    def _add(self, symbol: str, network: str, amount: str | Decimal) -> None:
        self.balances[symbol, network] += Decimal(amount)

    def _send(self, event: str, send: dict[str, Any]) -> None:
        if event == "completed":
            on_top = Decimal(send["fee"]["total"]) if send["net_amount"] == send["amount"] else Decimal(0)
            self._add(send["symbol"], send["network"], -Decimal(send["amount"]) - on_top)

    def _swap(self, event: str, swap: dict[str, Any]) -> None:
        if event == "completed":
            self._add(swap["from"]["symbol"], swap["from"]["network"], -Decimal(swap["from"]["amount"]))
            self._add(swap["to"]["symbol"], swap["to"]["network"], swap["to"]["amount"])

    def _buy(self, event: str, buy: dict[str, Any]) -> None:
        if event == "processing":
            self._credited_buys.add(buy["id"])
            self._add(buy["symbol"], buy["network"], buy["amount"])
        elif event == "failed" and buy["id"] in self._credited_buys:
            self._add(buy["symbol"], buy["network"], -Decimal(buy["amount"]))

    def _withdraw(self, event: str, withdraw: dict[str, Any]) -> None:
        if event == "completed":
            self._paid_out.add(withdraw["id"])
            self._add(withdraw["symbol"], withdraw["network"], -Decimal(withdraw["amount"]))
        elif event == "refunded" and withdraw["id"] in self._paid_out:
            self._add(withdraw["symbol"], withdraw["network"], withdraw["amount"])
