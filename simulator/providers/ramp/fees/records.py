"""Fee products and fees (decisions M2, M9, R9)."""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Annotated, Literal

from simulator.engine.rows.kind import Record
from simulator.engine.text.shapes import Meanings
from simulator.kernel.dataclass import dataclass
from simulator.kernel.money import ZERO, Currency, add
from simulator.kernel.store import TableKey
from simulator.providers.ramp import reference

PRODUCTS = {
    "onramp": "Fiat to an external wallet: processing fee and network fee.",
    "offramp": "Crypto to a beneficiary's fiat: processing fee and network fee.",
    "buy": "Fiat to the balance: processing fee.",
    "withdraw": "Balance to a beneficiary's fiat: processing fee.",
    "swap": "One asset of the balance to another: app fee and network fee.",
    "send": "Balance to an address or over Lightning: app fee and network fee.",
    "internal_transfer": "Balance to another user of the service: free.",
    "deposit": "Money received by a deposit wallet: free.",
}
METHODS = {"bank_account": "Fiat moves by bank transfer.", "phone_number": "Fiat moves by mobile money."}
PAYERS = {
    "customer": "The customer pays it as part of the fee.",
    "peerpesa": "The service pays it. The customer pays nothing.",
}
ProductName = Annotated[
    Literal["onramp", "offramp", "buy", "withdraw", "swap", "send", "internal_transfer", "deposit"], Meanings(PRODUCTS)
]
PaymentMethod = Annotated[Literal["bank_account", "phone_number"], Meanings(METHODS)]
Payer = Annotated[Literal["customer", "peerpesa"], Meanings(PAYERS)]
IN_FIAT = ("onramp", "buy")
"""Products with an amount in fiat. For all other products, the amount is in the asset (decision M2)."""
WITH_FIAT = ("onramp", "offramp", "buy", "withdraw")
WITH_NETWORK_FEE = ("onramp", "offramp", "swap", "send")
FEES = "fees"
"""The ledger account that receives fees."""


@dataclass(frozen=True, slots=True)
class Fee:
    """A fee in one currency. Responses call `service_fee` processing_fee (ramps) or app_fee (balance)."""

    total: Decimal
    currency: Currency
    service_fee: Decimal
    network_fee: Decimal


@lru_cache(maxsize=256)  # all free transfers and deposits in a currency share one object
def no_fee(currency: Currency) -> Fee:
    """Return a fee of zero."""
    return Fee(ZERO, currency, ZERO, ZERO)


def fee_of(currency: Currency, service_fee: Decimal, network_fee: Decimal) -> Fee:
    return Fee(add(service_fee, network_fee), currency, service_fee, network_fee)


@dataclass(frozen=True, slots=True)
class NetworkFee:
    """The fee for the blockchain transaction, in the currency with this code."""

    amount: Decimal
    currency: str
    paid_by: Payer


@dataclass(frozen=True, slots=True)
class Limits:
    """The smallest and the largest amount. Both are inclusive."""

    min_amount: Decimal
    max_amount: Decimal
    currency: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FeeProduct(Record):
    """One entry of the fee table. A null field matches every value. `updated_at_ms` is 0 until it changes."""

    kind = "fee_product"
    product: ProductName
    name: str
    network: str | None
    asset: str | None
    fiat_currency: str | None
    payment_method: PaymentMethod | None
    fee_currency: str
    percentage: Decimal
    fixed: Decimal
    min_fee: Decimal
    max_fee: Decimal | None
    network_fee: NetworkFee | None
    limits: Limits

    @property
    def nulls(self) -> int:
        """The number of null fields. The fewer null fields a product has, the more specific it is (decision M9)."""
        return (self.network, self.asset, self.fiat_currency, self.payment_method).count(None)

    @property
    def currency(self) -> Currency:
        """The currency of the amount, including its number of decimals."""
        found = currency_of(self.fee_currency, self.network)
        if found is None:
            raise LookupError(f"{self.id} is in an unknown currency: {self.fee_currency}")
        return found


CHANGED_PRODUCTS = TableKey("fee_products", FeeProduct, per_environment=True)


def currency_of(code: str, network: str | None) -> Currency | None:
    """Return the fiat currency or asset with the given code, by default on its first network, or None."""
    fiat = reference.fiat(code)
    if fiat is not None:
        return fiat
    return first_network(code) if network is None else reference.asset(code, network)


def first_network(code: str) -> Currency | None:
    """Return the asset with the given code on the first network that supports it, or None."""
    return next((asset for (symbol, _), asset in reference.ASSETS.items() if symbol == code), None)


def network_fee_currency(code: str, network: str | None) -> Currency:
    """Return the currency of a network fee: the asset on the given network, or else on its first network."""
    found = currency_of(code, network) or first_network(code)
    if found is None:
        raise LookupError(f"there is no currency {code}")
    return found
