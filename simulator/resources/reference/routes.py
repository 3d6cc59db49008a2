"""The operations of reference data and the parameters of its actions.

Subsection "Reference data" of the endpoints; `GET /wallet/assets` belongs to the room of balances.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from simulator.resources.reference import actions
from simulator.resources.reference.records import ASSET_CODES
from simulator.resources.reference.shapes import CurrencyList, NetworkStats, RateAnswer
from simulator.wire.fields import Amount, Body, Text
from simulator.wire.listing import Filter, Listing, by_field
from simulator.wire.operation import Operation
from simulator.wire.spelling import WALLET
from simulator.wire.triggers import Trigger

TAG = "Reference data"


class NetworkStatsQuery(Body):
    network: Literal["stellar", "celo"] | None = None


class RateQuery(Body):
    type: Literal["onramp", "offramp"]
    network: Literal["stellar", "celo"]
    asset: Text
    fiat_currency: Text


class NetworkStatus(Body):
    network: Literal["stellar", "celo", "bitcoin"]
    status: Literal["operational", "degraded", "down"]


class AssetOnNetwork(Body):
    symbol: Text
    network: Text


class PinnedRate(Body):
    """Either asset and fiat_currency (and type), or from and to."""

    asset: Text | None = None
    fiat_currency: Text | None = None
    type: Literal["onramp", "offramp"] | None = None
    source: Annotated[AssetOnNetwork | None, Field(alias="from")] = None
    target: Annotated[AssetOnNetwork | None, Field(alias="to")] = None
    rate: Amount


class RateMove(Body):
    percent: Annotated[float, Field(allow_inf_nan=False, description="May be negative; above -100.")]


_CURRENCIES = Listing(
    filters=(
        by_field("symbol", ASSET_CODES),
        by_field("network", tuple(WALLET)),
        Filter("status", lambda row, values: row.status in values, ("active", "inactive"), many=True),
    ),
    search=lambda row: (row.symbol, row.listing.name, row.network),
)

OPERATIONS = (
    Operation(
        "GET",
        "/network/stats",
        "get_network_stats",
        TAG,
        "Status and figures of the ramp networks",
        actions.show_network_stats,
        NetworkStats,
        query=NetworkStatsQuery,
        errors=("invalid_parameter",),
    ),
    Operation(
        "GET",
        "/rates",
        "get_rate",
        TAG,
        "The indicative rate of a pair",
        actions.show_rate,
        RateAnswer,
        query=RateQuery,
        refuses_with="invalid_request",
        errors=("invalid_request", "unsupported_pair"),
    ),
    Operation(
        "GET",
        "/currencies",
        "list_currencies",
        TAG,
        "The currency listing: assets by network with their limits and fees",
        actions.list_currencies,
        CurrencyList,
        query=_CURRENCIES,
        basis="R7",
    ),
)

TRIGGERS = (
    Trigger(
        "set_network", "a network becomes operational, degraded or down", actions.set_network, parameters=NetworkStatus
    ),
    Trigger("set_rate", "pins the rate of a pair, or of one swap direction", actions.set_rate, parameters=PinnedRate),
    Trigger("move_rates", "multiplies every rate by 1 + percent/100", actions.move_rates, parameters=RateMove),
)
