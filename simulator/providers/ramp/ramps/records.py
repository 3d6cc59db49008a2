"""Ramp quotes. Ramp transactions are saved with all other transactions, in the package `transactions`."""

from __future__ import annotations

from decimal import Decimal

from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Id
from simulator.kernel.store import TableKey
from simulator.providers.ramp.fees import Fee
from simulator.providers.ramp.shapes import Direction, Method, RampNetwork
from simulator.providers.ramp.transactions import Quote


@dataclass(frozen=True, slots=True, kw_only=True)
class RampQuote(Quote):
    """The locked price of an onramp or offramp. `network` is the canonical name of the network."""

    kind = "ramp_quote"
    type: Direction
    network: RampNetwork
    asset: str
    fiat_currency: str
    method: Method
    rate: Decimal
    source_amount: Decimal
    destination_amount: Decimal
    fee: Fee
    product_id: Id

    @property
    def source_currency(self) -> str:
        return self.fiat_currency if self.type == "onramp" else self.asset

    @property
    def destination_currency(self) -> str:
        return self.asset if self.type == "onramp" else self.fiat_currency

    @property
    def fiat_amount(self) -> Decimal:
        """The fiat that an onramp receives or an offramp pays out. It counts towards the limits (decision M14)."""
        return self.source_amount if self.type == "onramp" else self.destination_amount


QUOTES = TableKey("ramp_quotes", RampQuote, per_environment=True)
