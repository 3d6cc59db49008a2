"""The rows of wallet operations: their quotes, and what an asset's balance looks like from outside.

Tables "Swap quote", "Buy quote" and "Withdraw quote" of the specification, decision R8. The transactions themselves
are the shared record of the transactions room.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

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
    """A locked price of a swap, a buy or a withdrawal: `paid` in all, fee included, for `received`.

    `rate` is `to` per `from` unit on a swap, fiat per crypto unit otherwise. `method` is that of the payment or payout
    and `beneficiary_id` who is paid; `slippage` and `minimum_received` are those of a swap.
    """

    type: WalletQuoteType
    paid: Side
    received: Side
    rate: Decimal
    fee: Fee
    product_id: Id
    method: Method | None = None
    beneficiary_id: Id | None = None
    slippage: Decimal | None = None
    minimum_received: Decimal = ZERO

    @property
    def kind(self) -> str:
        return f"{self.type}_quote"


QUOTE_TABLES = {
    type: TableKey(f"{type}_quotes", WalletQuote, per_environment=True) for type in ("swap", "buy", "withdraw")
}


@dataclass(frozen=True, slots=True)
class AssetBalance:
    """One asset on one network as the books have it at this instant, with the wallet that receives it."""

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
