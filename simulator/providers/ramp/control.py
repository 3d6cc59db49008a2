"""What the simulated service knows: rates, and the banks, providers, countries and currencies that calls may name."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated

from pydantic import with_config
from typing_extensions import TypedDict

from simulator.engine.control.call import ControlCall
from simulator.engine.control.objects.inspection import show_cause
from simulator.engine.control.objects.inspection_shapes import Cause
from simulator.engine.control.operation import any_text, calls_under
from simulator.engine.control.refusals import wrong
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


@operation("GET /rates", "All rates: mid, onramp, offramp, swap", by_environment=True)
async def rates(call: ControlCall) -> known.AllRates:
    """The rates of the environment of the header, as printed."""
    return known.all_rates(call.world, call.environment)


class RatePoint(TypedDict):
    at: Timestamp
    """Since when these rates held, in simulated time."""
    mid: RateText
    """The mid rate."""
    onramp: RateText
    """The rate of onramps and purchases."""
    offramp: RateText
    """The rate of offramps and withdrawals."""
    cause: Cause | None
    """What pinned or moved them; null for those that held before all changes that are kept."""


class RateWay(TypedDict):
    asset: CurrencyText
    """The asset of the pair."""
    fiat_currency: FiatText
    """The fiat currency of the pair."""
    points: list[RatePoint]
    """The rates and since when they held, oldest first; the last ones hold now."""


class RateHistory(TypedDict):
    data: list[RateWay]
    """The pairs that were asked for."""


@operation(
    "GET /rates/history",
    "How rates came to be what they are",
    query={
        "asset": any_text("Only pairs of this asset."),
        "fiat_currency": any_text("Only pairs of this fiat currency."),
    },
    by_environment=True,
)
async def rate_history(call: ControlCall) -> RateHistory:
    """The rates of pairs over simulated time, as printed; rates stand still until something pins or moves them.

    The newest 500 changes of an environment are kept. 400 for an asset or a currency that there is not.
    """
    call.check_environment()
    return {
        "data": [
            {"asset": asset, "fiat_currency": fiat, "points": list(_points(call, asset, fiat))}
            for asset in _chosen(call, "asset", ASSET_CODES)
            for fiat in _chosen(call, "fiat_currency", FIATS)
        ]
    }


def _chosen(call: ControlCall, name: str, codes: Collection[str]) -> Collection[str]:
    code = call.query.get(name)
    if code and code not in codes:
        raise wrong(name, f"it is one of {', '.join(codes)}")
    return (code,) if code else codes


def _points(call: ControlCall, asset: str, fiat: str) -> Iterator[RatePoint]:
    for at_ms, rates_then, cause in rates_over_time(call.world, call.environment, asset, fiat):
        yield {
            "at": format_timestamp(at_ms),
            "mid": format_rate(rates_then["mid"]),
            "onramp": format_rate(rates_then["onramp"]),
            "offramp": format_rate(rates_then["offramp"]),
            "cause": None if cause is None else show_cause(call.world, cause),
        }


@operation("GET /reference", "Banks, providers, countries, currencies")
async def reference(call: ControlCall) -> Annotated[JsonObject, ReferenceData]:
    """What requests can name: banks, mobile money providers, countries and currencies, by their codes."""
    return known.reference_data()
