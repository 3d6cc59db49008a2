"""Control calls for the service's rates and reference data."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated

from pydantic import with_config
from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.objects.inspection import show_cause
from simulator.engine.control.objects.inspection_shapes import Cause
from simulator.engine.control.operation import any_text, calls_under
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Count, RateText, Timestamp
from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import format_rate
from simulator.providers.ramp.reference import ASSET_CODES, FIATS, rates_over_time
from simulator.providers.ramp.reference import shapes as known
from simulator.providers.ramp.shapes import CurrencyText, FiatText, Method, WalletNetwork

operation = calls_under("Worlds")


class DigitRange(TypedDict):
    min: Count
    """The smallest number of digits."""
    max: Count
    """The largest number of digits."""


class BankEntry(TypedDict):
    country: str
    """The country code."""
    bank_code: str
    """The bank code that beneficiaries and payers use."""
    bank_name: str
    """The name of the bank."""
    account_number_digits: DigitRange
    """The number of digits in the bank's account numbers."""


class ProviderEntry(TypedDict):
    country: str
    """The country code."""
    provider: str
    """The provider code that beneficiaries use."""
    name: str
    """The name of the provider in the country."""


class CountryEntry(TypedDict):
    country: str
    """The country code."""
    name: str
    """The name of the country."""
    fiat_currency: FiatText
    """The currency of the country."""
    methods: list[Method]
    """The payment methods in the country."""


@with_config(extra="allow")
class ReferenceCurrency(TypedDict):
    symbol: CurrencyText
    """The currency code."""
    network: WalletNetwork | None
    """The network, or null for fiat."""
    name: str
    """The name of the currency."""
    decimals: Count
    """The number of decimal places in amounts of the currency."""


class ReferenceData(TypedDict):
    banks: list[BankEntry]
    """The banks of all countries."""
    providers: list[ProviderEntry]
    """The mobile money providers of all countries."""
    countries: list[CountryEntry]
    """The countries."""
    currencies: list[ReferenceCurrency]
    """All currencies, fiat and assets."""


@operation("GET /rates", "Get all rates", by_environment=True)
async def rates(call: ControlCall) -> known.AllRates:
    """Return the mid, onramp, offramp and swap rates of the environment in the header `X-Simulator-Environment`.

    The rates have the same number of decimals as in the API.
    """
    return known.all_rates(call.world, call.environment)


class RatePoint(TypedDict):
    at: Timestamp
    """The simulated time at which these rates took effect."""
    mid: RateText
    """The mid rate."""
    onramp: RateText
    """The rate for onramps and purchases."""
    offramp: RateText
    """The rate for offramps and withdrawals."""
    cause: Cause | None
    """The cause of the change, or null for the rates before the oldest recorded change."""


class RateWay(TypedDict):
    asset: CurrencyText
    """The asset of the pair."""
    fiat_currency: FiatText
    """The fiat currency of the pair."""
    points: list[RatePoint]
    """The rates, oldest first. The last item contains the current rates."""


class RateHistory(TypedDict):
    data: list[RateWay]
    """The requested pairs."""


@operation(
    "GET /rates/history",
    "Get the history of rates",
    query={
        "asset": any_text("Only pairs of this asset."),
        "fiat_currency": any_text("Only pairs of this fiat currency."),
    },
    by_environment=True,
)
async def rate_history(call: ControlCall) -> RateHistory:
    """Return the rates of currency pairs over simulated time, with the action or scenario that caused each change.

    Only actions and scenarios change rates. The history contains the newest 500 changes in an environment. The request
    fails with 400 if an asset or currency is unknown.
    """
    return {
        "data": [
            {"asset": asset, "fiat_currency": fiat, "points": list(_points(call, asset, fiat))}
            for asset in _chosen(call, "asset", ASSET_CODES)
            for fiat in _chosen(call, "fiat_currency", FIATS)
        ]
    }


def _chosen(call: ControlCall, name: str, codes: Collection[str]) -> Collection[str]:
    code = call.choice(name, codes)
    return codes if code is None else (code,)


def _points(call: ControlCall, asset: str, fiat: str) -> Iterator[RatePoint]:
    for at_ms, rates_then, cause in rates_over_time(call.world, call.environment, asset, fiat):
        yield {
            "at": format_timestamp(at_ms),
            "mid": format_rate(rates_then["mid"]),
            "onramp": format_rate(rates_then["onramp"]),
            "offramp": format_rate(rates_then["offramp"]),
            "cause": None if cause is None else show_cause(call.world, cause),
        }


@operation("GET /reference", "Get the reference data")
async def reference(call: ControlCall) -> Annotated[JsonObject, ReferenceData]:
    """Return the codes that are valid in requests: banks, mobile money providers, countries and currencies."""
    return known.reference_data()
