"""Wallet quotes, and the balance of an asset (decision R8). Transactions are in the package `transactions`."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, TypedDict

from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Id
from simulator.kernel.money import ZERO
from simulator.kernel.store import TableKey
from simulator.providers.ramp.fees import Fee
from simulator.providers.ramp.shapes import Method
from simulator.providers.ramp.transactions import Quote, Side

WalletQuoteType = Literal["swap", "buy", "withdraw"]
QUOTE_PREFIXES = {"swap": "sq_", "buy": "bq_", "withdraw": "wq_"}


@dataclass(frozen=True, slots=True, kw_only=True)
class WalletQuote(Quote):
    """The locked price of a swap, a buy or a withdrawal."""

    type: WalletQuoteType
    paid: Side
    """The total paid, including the fee."""
    received: Side
    rate: Decimal
    """For a swap, `to` per unit of `from`. Otherwise, fiat per unit of crypto."""
    fee: Fee
    product_id: Id
    method: Method | None = None
    """The payment method or payout method for the fiat."""
    beneficiary_id: Id | None = None
    """The id of the beneficiary of a withdrawal."""
    slippage: Decimal | None = None
    """The slippage tolerance of a swap, in percent."""
    minimum_received: Decimal = ZERO
    """The minimum amount that a swap must deliver."""

    @property
    def kind(self) -> str:
        return f"{self.type}_quote"


class Tags(TypedDict, total=False):
    """The fields of a transaction that do not affect its price: the caller's texts, and the run that made it."""

    reference: str | None
    description: str | None
    recurring_payment_id: str
    run_number: int


QUOTE_TABLES = {
    type: TableKey(f"{type}_quotes", WalletQuote, per_environment=True) for type in ("swap", "buy", "withdraw")
}


@dataclass(frozen=True, slots=True)
class AssetBalance:
    """The current balance of one asset on one network, with the deposit wallet for the asset."""

    id: str
    sequence: int
    created_at_ms: int
    updated_at_ms: int
    symbol: str
    network: str
    available: Decimal
    held: Decimal
    address: str | None
    memo: str | None

    @property
    def amount(self) -> Decimal:
        return self.available + self.held
