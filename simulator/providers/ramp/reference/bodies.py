"""The query strings of reference data and the parameters of its actions."""

from typing import Annotated, Literal

from pydantic import Field

from simulator.engine.text.fields import Amount, Body, Text
from simulator.engine.text.shapes import Meanings, OneOf
from simulator.providers.ramp.reference.records import RAMP_ASSET_CODES
from simulator.providers.ramp.reference.states import STATUSES
from simulator.providers.ramp.shapes import CANONICAL_NETWORKS, FIAT_CODES, Direction, RampNetwork


class NetworkStatsQuery(Body):
    network: RampNetwork | None = None
    """Only this network; both ramp networks when absent."""


class RateQuery(Body):
    type: Direction
    """Which way the money goes; the rates of the two directions differ."""
    network: RampNetwork
    """The network of the asset."""
    asset: Annotated[Text, OneOf(RAMP_ASSET_CODES)]
    """The asset of the pair; it must be available on the network."""
    fiat_currency: Annotated[Text, OneOf(FIAT_CODES)]
    """The fiat currency of the pair."""


class NetworkStatus(Body):
    network: Annotated[Literal["stellar", "celo", "bitcoin"], Meanings(CANONICAL_NETWORKS)]
    """The network that changes."""
    status: Annotated[Literal["operational", "degraded", "down"], Meanings(STATUSES)]
    """What it becomes; setting the present status changes nothing."""


class AssetOnNetwork(Body):
    symbol: Text
    """The code of the asset."""
    network: Text
    """The network, as wallet operations spell it."""


class PinnedRate(Body):
    """Either asset and fiat_currency (and type), or from and to."""

    asset: Text | None = None
    """The asset of the pair."""
    fiat_currency: Text | None = None
    """The fiat currency of the pair."""
    type: Direction | None = None
    """Only the rate of this direction; those of both and the mid rate when absent."""
    source: Annotated[AssetOnNetwork | None, Field(alias="from")] = None
    """The asset swapped from."""
    target: Annotated[AssetOnNetwork | None, Field(alias="to")] = None
    """The asset swapped to."""
    rate: Amount
    """The new rate: fiat for one unit of the asset, or `to` for one unit of `from`; at most 10 significant
    digits."""


class RateMove(Body):
    percent: Annotated[float, Field(allow_inf_nan=False, description="May be negative; above -100.")]
    """By how much every rate rises, in percent; negative for a fall, above -100."""
