"""What the simulated service knows: rates, and the banks, providers, countries and currencies that calls may name."""

from __future__ import annotations

from typing import Annotated

from pydantic import with_config
from typing_extensions import TypedDict

from simulator.control.operation import ControlCall, ControlOperation
from simulator.resources.reference import shapes as known
from simulator.wire.json import JsonObject
from simulator.wire.shapes import Count, CurrencyText, FiatText, Method, WalletNetwork


class DigitRange(TypedDict):
    min: Count
    """The smallest number of digits."""
    max: Count
    """The largest number of digits."""


class BankEntry(TypedDict):
    country: str
    """The country, by its code."""
    bank_code: str
    """The code that beneficiaries and payers name the bank by."""
    bank_name: str
    """The name of the bank."""
    account_number_digits: DigitRange
    """How many digits its account numbers have."""


class ProviderEntry(TypedDict):
    country: str
    """The country, by its code."""
    provider: str
    """The code that beneficiaries name the provider by."""
    name: str
    """The name of the provider there."""


class CountryEntry(TypedDict):
    country: str
    """The country, by its code."""
    name: str
    """The name of the country."""
    fiat_currency: FiatText
    """Its currency."""
    methods: list[Method]
    """The payment methods that it has."""


@with_config(extra="allow")
class ReferenceCurrency(TypedDict):
    symbol: CurrencyText
    """The currency, by its code."""
    network: WalletNetwork | None
    """The network it lies on; null for fiat."""
    name: str
    """Its name."""
    decimals: Count
    """How many decimals its amounts have."""


class ReferenceData(TypedDict):
    banks: list[BankEntry]
    """The banks of all countries."""
    providers: list[ProviderEntry]
    """The mobile money providers of all countries."""
    countries: list[CountryEntry]
    """The countries."""
    currencies: list[ReferenceCurrency]
    """All currencies, fiat and assets."""


async def rates(call: ControlCall) -> known.AllRates:
    """The rates of the environment of the header, as printed."""
    return known.all_rates(call.world, call.environment)


async def reference(call: ControlCall) -> Annotated[JsonObject, ReferenceData]:
    """What requests can name: banks, mobile money providers, countries and currencies, by their codes."""
    return known.reference_data()


ROWS: tuple[ControlOperation, ...] = (
    ControlOperation(
        "GET", "/rates", "rates", "Worlds", "All rates: mid, onramp, offramp, swap", rates, by_environment=True
    ),
    ControlOperation("GET", "/reference", "reference", "Worlds", "Banks, providers, countries, currencies", reference),
)
