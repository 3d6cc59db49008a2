"""Response models for reference data: network stats, rates, and the overviews of the control API (subsections "Network
stats entry" and "Rate").
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from simulator.engine.records.records import present
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import AmountText, Assumed, Clauses, Count, Format, OneOf, RateText, Timestamp
from simulator.kernel.clock import format_timestamp
from simulator.kernel.money import Currency, format_decimal, format_rate, inverse_of
from simulator.kernel.world import World
from simulator.providers.ramp import shapes
from simulator.providers.ramp.reference import rates, records
from simulator.providers.ramp.reference.networks import confirmation_seconds, latest_block
from simulator.providers.ramp.reference.records import Network, RampAsset
from simulator.providers.ramp.reference.states import STATUSES
from simulator.providers.ramp.shapes import AssetText, Direction, FiatText, RampNetwork, WalletNetwork, upper


class NetworkTransactionFeeShape(TypedDict):
    """The cost of a transaction on a network."""

    amount: AmountText
    """The cost of a transaction, in `currency`."""
    currency: Annotated[AssetText, Assumed("network-stats", "enum")]
    """The asset that pays the network's fees."""


class _NetworkFigures(TypedDict):
    status: Annotated[str, OneOf(STATUSES)]
    """The status. Do not create quotes or transactions while it is `down`."""
    latest_block: Annotated[str, Format(pattern="^[0-9]+$"), Assumed("network-stats", "pattern")]
    """The height of the latest block."""
    avg_confirmation_seconds: Count
    """The average time until a transaction is confirmed, in seconds."""
    network_fee: NetworkTransactionFeeShape
    """The current cost of a transaction."""
    assets: list[AssetText]
    """The assets that the service supports on the network."""
    updated_at: Timestamp
    """The time at which these figures are valid."""


class NetworkStatsEntry(_NetworkFigures):
    """The current state of one ramp network."""

    network: Annotated[str, OneOf(shapes.RAMP_NETWORKS)]
    """The network that these figures describe."""


class NetworkObject(_NetworkFigures):
    """The current state of a network, as contained in events. Unlike in network stats, the network can be bitcoin."""

    network: Annotated[str, OneOf(shapes.CANONICAL_NETWORKS), Assumed("S22", "enum")]
    """The network that these figures describe."""


class NetworkStats(TypedDict):
    """The current state of the ramp networks."""

    networks: list[NetworkStatsEntry]
    """The requested network, or all ramp networks."""


class RateAnswer(TypedDict):
    """The indicative rate of a pair. Only a quote locks a rate."""

    type: Direction
    """The direction. Each direction has a different rate."""
    network: RampNetwork
    """The requested network."""
    asset: RampAsset
    """The asset of the pair."""
    fiat_currency: FiatText
    """The fiat currency of the pair."""
    rate: RateText
    """Fiat per unit of the asset."""
    inverse_rate: RateText
    """The amount of the asset per unit of fiat, 1 / `rate`."""
    updated_at: Timestamp
    """The time at which the rate last changed."""


def render_network(world: World, record: Network) -> NetworkObject:
    """Return the current network stats entry, calculated for this response."""
    facts = records.NETWORK_FACTS[record.name]
    return {
        "network": record.name,
        "status": record.status,
        "latest_block": str(latest_block(record.name, world.now_ms)),
        "avg_confirmation_seconds": confirmation_seconds(record),
        "network_fee": {"amount": format_decimal(facts.native_fee), "currency": facts.native_asset},
        "assets": list(records.NETWORK_ASSETS[record.name]),
        "updated_at": format_timestamp(world.now_ms),
    }


def render_rate(
    world: World, environment: str, type: Direction, network: RampNetwork, asset: str, fiat_currency: str
) -> RateAnswer:
    rate = rates.ramp_rate(world, environment, type, asset, fiat_currency)
    return {
        "type": type,
        "network": network,
        "asset": asset,
        "fiat_currency": fiat_currency,
        "rate": format_rate(rate),
        "inverse_rate": format_rate(inverse_of(rate)),
        "updated_at": format_timestamp(rates.changed_at_ms(world, environment, type, asset, fiat_currency)),
    }


class RateEntry(TypedDict):
    """The rate of a pair."""

    asset: AssetText
    """The asset of the pair."""
    fiat_currency: FiatText
    """The fiat currency of the pair."""
    rate: RateText
    """Fiat per unit of the asset."""
    updated_at: Timestamp
    """The time at which the rate last changed."""


class RateSide(TypedDict):
    """One side of a swap."""

    symbol: AssetText
    """The asset."""
    network: WalletNetwork
    """The network, spelled as in wallet operations."""


SwapRateEntry = TypedDict(
    "SwapRateEntry",
    {
        "from": Annotated[RateSide, Field(description="The asset that is given.")],
        "to": Annotated[RateSide, Field(description="The asset that is received.")],
        "rate": Annotated[RateText, Field(description="`to` per unit of `from`.")],
        "updated_at": Annotated[Timestamp, Field(description="The time at which the rate last changed.")],
    },
)


class AllRates(TypedDict):
    """All rates of an environment, as formatted in responses."""

    mid: list[RateEntry]
    """The mid rates, from which the other rates are calculated."""
    onramp: list[RateEntry]
    """The rates for onramps and buys: the mid rate plus a spread."""
    offramp: list[RateEntry]
    """The rates for offramps and withdrawals: the mid rate minus a spread."""
    swap: list[SwapRateEntry]
    """The rates for swaps, as `to` per unit of `from`."""


def _side(currency: Currency) -> RateSide:
    return {"symbol": currency.code, "network": upper(present(currency.network))}


def render_pair(world: World, environment: str, asset: str, fiat_currency: str) -> JsonObject:
    """Return the mid rate and both published rates of a pair, for the action set_rate."""
    return {
        "asset": asset,
        "fiat_currency": fiat_currency,
        "mid": format_rate(rates.mid_rate(world, environment, asset, fiat_currency)),
        **{
            type: format_rate(rates.ramp_rate(world, environment, type, asset, fiat_currency))
            for type in rates.RAMP_TYPES
        },
    }


def render_swap_rate(world: World, environment: str, source: Currency, target: Currency) -> SwapRateEntry:
    """Return the rate of a swap in one direction, as target amount per unit of source."""
    return {
        "from": _side(source),
        "to": _side(target),
        "rate": format_rate(rates.swap_rate(world, environment, source, target)),
        "updated_at": format_timestamp(rates.swap_changed_at_ms(world, environment, source, target)),
    }


def all_rates(world: World, environment: str) -> AllRates:
    """Return all rates of an environment, as formatted in responses. Networks are spelled as in wallet operations."""

    def ramps(type: str) -> list[RateEntry]:
        return [
            {
                "asset": code,
                "fiat_currency": fiat_code,
                "rate": format_rate(rates.ramp_rate(world, environment, type, code, fiat_code)),
                "updated_at": format_timestamp(rates.changed_at_ms(world, environment, type, code, fiat_code)),
            }
            for code in records.ASSET_CODES
            for fiat_code in records.FIATS
        ]

    swaps = [
        render_swap_rate(world, environment, source, target)
        for source in records.ASSETS.values()
        for target in records.ASSETS.values()
        if source != target
    ]
    return {"mid": ramps("mid"), "onramp": ramps("onramp"), "offramp": ramps("offramp"), "swap": swaps}


def verify(world: World) -> None:
    """Check the rates of a saved world by rendering all of them. Raise an error if one is invalid."""
    for environment in world.environments:
        all_rates(world, environment)


def reference_data() -> JsonObject:
    """Return {banks, providers, countries, currencies}: lists of objects with a name and a code for requests."""
    return {
        "banks": [
            {
                "country": bank.country,
                "bank_code": bank.code,
                "bank_name": bank.name,
                "account_number_digits": {"min": bank.min_digits, "max": bank.max_digits},
            }
            for banks in records.BANKS.values()
            for bank in banks.values()
        ],
        "providers": [
            {"country": provider.country, "provider": provider.code, "name": provider.name}
            for providers in records.PROVIDERS.values()
            for provider in providers.values()
        ],
        "countries": [
            {
                "country": country,
                "name": records.FIAT_FACTS[code].country_name,
                "fiat_currency": code,
                "methods": list(records.FIAT_FACTS[code].methods),
            }
            for country, code in records.COUNTRIES.items()
        ],
        "currencies": [
            *(
                {"symbol": code, "network": None, "name": records.FIAT_FACTS[code].name, "decimals": currency.decimals}
                for code, currency in records.FIATS.items()
            ),
            *(
                {"symbol": row.symbol, "network": upper(row.network), "name": row.name, "decimals": row.decimals}
                | {"slippage": row.slippage, "confirmations": row.confirmations}
                for row in records.LISTINGS.values()
            ),
        ],
    }


CLAUSES: Clauses = {
    "Network stats entry": (NetworkStats, NetworkStatsEntry, NetworkTransactionFeeShape, NetworkObject),
    "Rate": (RateAnswer,),
}
