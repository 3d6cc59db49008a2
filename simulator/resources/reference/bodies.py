"""The query strings of reference data and the parameters of its actions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from simulator.wire.fields import Amount, Body, Text
from simulator.wire.shapes import Direction, RampNetwork


class NetworkStatsQuery(Body):
    network: RampNetwork | None = None


class RateQuery(Body):
    type: Direction
    network: RampNetwork
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
    type: Direction | None = None
    source: Annotated[AssetOnNetwork | None, Field(alias="from")] = None
    target: Annotated[AssetOnNetwork | None, Field(alias="to")] = None
    rate: Amount


class RateMove(Body):
    percent: Annotated[float, Field(allow_inf_nan=False, description="May be negative; above -100.")]
