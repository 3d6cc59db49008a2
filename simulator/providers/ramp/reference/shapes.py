"""How reference data is shown: network stats, rates, and the overviews of the control interface.

Subsections "Network stats entry" and "Rate" of the specification.
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
from simulator.providers.ramp.reference.networks import confirmation_seconds, latest_block
from simulator.providers.ramp.reference.rates import (
    RAMP_TYPES,
    changed_at_ms,
    mid_rate,
    ramp_rate,
    swap_changed_at_ms,
    swap_rate,
)
from simulator.providers.ramp.reference.records import (
    ASSET_CODES,
    ASSETS,
    BANKS,
    COUNTRIES,
    FIAT_FACTS,
    FIATS,
    LISTINGS,
    NETWORK_ASSETS,
    NETWORK_FACTS,
    PROVIDERS,
    Network,
    RampAsset,
)
from simulator.providers.ramp.reference.states import STATUSES
from simulator.providers.ramp.shapes import AssetText, Direction, FiatText, RampNetwork, WalletNetwork
from simulator.providers.ramp.spelling import upper


class NetworkTransactionFeeShape(TypedDict):
    """What one transaction on a network costs."""

    amount: AmountText
    """The fee of a transaction, in `currency`."""
    currency: Annotated[AssetText, Assumed("network-stats", "enum")]
    """The asset in which the network takes its fees."""


class _NetworkFigures(TypedDict):
    status: Annotated[str, OneOf(STATUSES)]
    """Whether the network can be used; create no quotes or transactions while it is `down`."""
    latest_block: Annotated[str, Format(pattern="^[0-9]+$"), Assumed("network-stats", "pattern")]
    """The height of its latest block."""
    avg_confirmation_seconds: Count
    """How long a transaction takes to be confirmed on average, in seconds."""
    network_fee: NetworkTransactionFeeShape
    """What a transaction on it costs now."""
    assets: list[AssetText]
    """The assets that the service offers on it."""
    updated_at: Timestamp
    """When these figures were taken."""


class NetworkStatsEntry(_NetworkFigures):
    """How one ramp network does at the moment."""

    network: Annotated[str, OneOf(shapes.RAMP_NETWORKS)]
    """The network that the figures are of."""


class NetworkObject(_NetworkFigures):
    """How a network does at the moment, as events tell of it; these know bitcoin too."""

    network: Annotated[str, OneOf(shapes.CANONICAL_NETWORKS), Assumed("S22", "enum")]
    """The network that the figures are of."""


class NetworkStats(TypedDict):
    """How the ramp networks do at the moment."""

    networks: list[NetworkStatsEntry]
    """The ramp networks, or the one that was asked for."""


class RateAnswer(TypedDict):
    """The indicative rate of a pair. It is not locked before a quote is created."""

    type: Direction
    """Which way the money goes; the rates of the two directions differ."""
    network: RampNetwork
    """The network that was asked about."""
    asset: RampAsset
    """The asset of the pair."""
    fiat_currency: FiatText
    """The fiat currency of the pair."""
    rate: RateText
    """Fiat for one unit of the asset."""
    inverse_rate: RateText
    """The asset for one unit of fiat: 1 / `rate`."""
    updated_at: Timestamp
    """When the rate last changed."""


def render_network(world: World, record: Network) -> NetworkObject:
    """The network stats entry at this instant; it is taken anew for every answer, so updated_at is now."""
    facts = NETWORK_FACTS[record.name]
    return {
        "network": record.name,
        "status": record.status,
        "latest_block": str(latest_block(record.name, world.now_ms)),
        "avg_confirmation_seconds": confirmation_seconds(record),
        "network_fee": {"amount": format_decimal(facts.native_fee), "currency": facts.native_asset},
        "assets": list(NETWORK_ASSETS[record.name]),
        "updated_at": format_timestamp(world.now_ms),
    }


def render_rate(
    world: World, environment: str, type: Direction, network: RampNetwork, asset: str, fiat_currency: str
) -> RateAnswer:
    rate = ramp_rate(world, environment, type, asset, fiat_currency)
    return {
        "type": type,
        "network": network,
        "asset": asset,
        "fiat_currency": fiat_currency,
        "rate": format_rate(rate),
        "inverse_rate": format_rate(inverse_of(rate)),
        "updated_at": format_timestamp(changed_at_ms(world, environment, type, asset, fiat_currency)),
    }


class RateEntry(TypedDict):
    """The rate of a pair."""

    asset: AssetText
    """The asset of the pair."""
    fiat_currency: FiatText
    """The fiat currency of the pair."""
    rate: RateText
    """Fiat for one unit of the asset."""
    updated_at: Timestamp
    """When the rate last changed."""


class RateSide(TypedDict):
    """One side of a swap."""

    symbol: AssetText
    """The asset."""
    network: WalletNetwork
    """The network, as wallet operations spell it."""


SwapRateEntry = TypedDict(
    "SwapRateEntry",
    {
        "from": Annotated[RateSide, Field(description="What is given.")],
        "to": Annotated[RateSide, Field(description="What is received.")],
        "rate": Annotated[RateText, Field(description="`to` for one unit of `from`.")],
        "updated_at": Annotated[Timestamp, Field(description="When the rate last changed.")],
    },
)


class AllRates(TypedDict):
    """Every rate of an environment, as printed."""

    mid: list[RateEntry]
    """The mid rates, which the others are made of."""
    onramp: list[RateEntry]
    """The rates of onramps and buys: mid and a spread above."""
    offramp: list[RateEntry]
    """The rates of offramps and withdrawals: mid and a spread below."""
    swap: list[SwapRateEntry]
    """The rates of swaps, `to` for one unit of `from`."""


def _side(currency: Currency) -> RateSide:
    return {"symbol": currency.code, "network": upper(present(currency.network))}


def render_pair(world: World, environment: str, asset: str, fiat_currency: str) -> JsonObject:
    """What the action set_rate shows of an asset and a fiat currency: the mid and both printed rates."""
    return {
        "asset": asset,
        "fiat_currency": fiat_currency,
        "mid": format_rate(mid_rate(world, environment, asset, fiat_currency)),
        **{type: format_rate(ramp_rate(world, environment, type, asset, fiat_currency)) for type in RAMP_TYPES},
    }


def render_swap_rate(world: World, environment: str, source: Currency, target: Currency) -> SwapRateEntry:
    """One swap direction: from, to, the target per unit of source, and when it was last changed."""
    return {
        "from": _side(source),
        "to": _side(target),
        "rate": format_rate(swap_rate(world, environment, source, target)),
        "updated_at": format_timestamp(swap_changed_at_ms(world, environment, source, target)),
    }


def all_rates(world: World, environment: str) -> AllRates:
    """Every rate of an environment, as printed; networks are spelled as in wallet operations."""

    def ramps(type: str) -> list[RateEntry]:
        return [
            {
                "asset": code,
                "fiat_currency": fiat_code,
                "rate": format_rate(ramp_rate(world, environment, type, code, fiat_code)),
                "updated_at": format_timestamp(changed_at_ms(world, environment, type, code, fiat_code)),
            }
            for code in ASSET_CODES
            for fiat_code in FIATS
        ]

    swaps = [
        render_swap_rate(world, environment, source, target)
        for source in ASSETS.values()
        for target in ASSETS.values()
        if source != target
    ]
    return {"mid": ramps("mid"), "onramp": ramps("onramp"), "offramp": ramps("offramp"), "swap": swaps}


def verify(world: World) -> None:
    """Render every rate of a saved world; raise if that is impossible."""
    for environment in world.environments:
        all_rates(world, environment)


def reference_data() -> JsonObject:
    """{banks, providers, countries, currencies}: lists of objects with the codes that requests take and their names."""
    return {
        "banks": [
            {
                "country": bank.country,
                "bank_code": bank.code,
                "bank_name": bank.name,
                "account_number_digits": {"min": bank.min_digits, "max": bank.max_digits},
            }
            for banks in BANKS.values()
            for bank in banks.values()
        ],
        "providers": [
            {"country": provider.country, "provider": provider.code, "name": provider.name}
            for providers in PROVIDERS.values()
            for provider in providers.values()
        ],
        "countries": [
            {
                "country": country,
                "name": FIAT_FACTS[code].country_name,
                "fiat_currency": code,
                "methods": list(FIAT_FACTS[code].methods),
            }
            for country, code in COUNTRIES.items()
        ],
        "currencies": [
            *(
                {"symbol": code, "network": None, "name": FIAT_FACTS[code].name, "decimals": currency.decimals}
                for code, currency in FIATS.items()
            ),
            *(
                {"symbol": row.symbol, "network": upper(row.network), "name": row.name, "decimals": row.decimals}
                | {"slippage": row.slippage, "confirmations": row.confirmations}
                for row in LISTINGS.values()
            ),
        ],
    }


CLAUSES: Clauses = {
    "Network stats entry": (NetworkStats, NetworkStatsEntry, NetworkTransactionFeeShape, NetworkObject),
    "Rate": (RateAnswer,),
}
