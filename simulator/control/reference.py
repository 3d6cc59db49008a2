"""What the simulated service knows: rates, and the banks, providers, countries and currencies that calls may name."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import with_config
from typing_extensions import TypedDict

from simulator.control.operation import ControlCall, ControlOperation
from simulator.resources.reference import AllRates, all_rates, reference_data
from simulator.wire.json import JsonObject
from simulator.wire.shapes import Count, CurrencyText, FiatText


class DigitRange(TypedDict):
    min: Count
    max: Count


class BankEntry(TypedDict):
    country: str
    bank_code: str
    bank_name: str
    account_number_digits: DigitRange


class ProviderEntry(TypedDict):
    country: str
    provider: str
    name: str


class CountryEntry(TypedDict):
    country: str
    name: str
    fiat_currency: FiatText
    methods: list[Literal["mobile_money", "bank_transfer"]]


@with_config(extra="allow")
class ReferenceCurrency(TypedDict):
    symbol: CurrencyText
    network: Literal["STELLAR", "CELO", "BITCOIN"] | None
    name: str
    decimals: Count


class ReferenceData(TypedDict):
    banks: list[BankEntry]
    providers: list[ProviderEntry]
    countries: list[CountryEntry]
    currencies: list[ReferenceCurrency]


async def rates(call: ControlCall) -> AllRates:
    """The rates of the environment of the header, as printed."""
    return all_rates(call.world, call.environment)


async def reference(call: ControlCall) -> Annotated[JsonObject, ReferenceData]:
    return reference_data()


ROWS: tuple[ControlOperation, ...] = (
    ControlOperation(
        "GET", "/rates", "rates", "Worlds", "All rates: mid, onramp, offramp, swap", rates, by_environment=True
    ),
    ControlOperation("GET", "/reference", "reference", "Worlds", "Banks, providers, countries, currencies", reference),
)
