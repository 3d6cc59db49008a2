"""The query parameters of reference data requests, and the parameters of the actions on reference data."""

from typing import Annotated, Literal

from pydantic import Field

from simulator.engine.text.fields import Amount, Body, Text
from simulator.engine.text.shapes import Meanings, OneOf
from simulator.providers.ramp.reference.records import RAMP_ASSET_CODES
from simulator.providers.ramp.reference.states import STATUSES
from simulator.providers.ramp.shapes import CANONICAL_NETWORKS, FIAT_CODES, Direction, RampNetwork


class NetworkStatsQuery(Body):
    network: RampNetwork | None = None
    """The network to return. By default, both ramp networks are returned."""


class RateQuery(Body):
    type: Direction
    """The direction. Each direction has a different rate."""
    network: RampNetwork
    """The network of the asset."""
    asset: Annotated[Text, OneOf(RAMP_ASSET_CODES)]
    """The asset of the pair. It must be available on the network."""
    fiat_currency: Annotated[Text, OneOf(FIAT_CODES)]
    """The fiat currency of the pair."""


class NetworkStatus(Body):
    network: Annotated[Literal["stellar", "celo", "bitcoin"], Meanings(CANONICAL_NETWORKS)]
    """The network to change."""
    status: Annotated[Literal["operational", "degraded", "down"], Meanings(STATUSES)]
    """The new status. Setting the current status changes nothing."""


class AssetOnNetwork(Body):
    symbol: Text
    """The code of the asset."""
    network: Text
    """The network, spelled as in wallet operations."""


class PinnedRate(Body):
    """The rate to pin. Give either asset and fiat_currency (and optionally type), or from and to."""

    asset: Text | None = None
    """The asset of the pair."""
    fiat_currency: Text | None = None
    """The fiat currency of the pair."""
    type: Direction | None = None
    """The direction to pin the rate for. By default, both directions and the mid rate are pinned."""
    source: Annotated[AssetOnNetwork | None, Field(alias="from")] = None
    """The source asset of a swap."""
    target: Annotated[AssetOnNetwork | None, Field(alias="to")] = None
    """The target asset of a swap."""
    rate: Amount
    """The new rate, with at most 10 significant digits.

    It is fiat per unit of the asset, or `to` per unit of `from`.
    """


class RateMove(Body):
    percent: Annotated[float, Field(allow_inf_nan=False, description="May be negative; above -100.")]
    """The change of all rates, in percent. It must be above -100. A negative value is a decrease."""
