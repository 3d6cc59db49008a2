"""What the operations and actions of reference data do.

Subsection "Reference data" of the endpoints, decisions M1 and S22; the actions set_network, set_rate, move_rates.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from simulator.kernel.money import Currency, rate_of
from simulator.resources.reference import networks, rates
from simulator.resources.reference.records import (
    ASSET_CODES,
    FIATS,
    NETWORK_ASSETS,
    NETWORKS,
    RAMP_NETWORKS,
    asset,
)
from simulator.resources.reference.shapes import (
    render_network,
    render_pair,
    render_rate,
    render_swap_rate,
)
from simulator.wire.errors import ApiError, invalid, missing
from simulator.wire.json import JsonObject
from simulator.wire.operation import Call
from simulator.wire.spelling import upper
from simulator.wire.triggers import Push

if TYPE_CHECKING:
    from simulator.resources.reference.routes import AssetOnNetwork

SIGNIFICANT_DIGITS = 10


def show_network_stats(call: Call) -> JsonObject:
    """{networks}: the ramp networks, or the one asked for."""
    names = RAMP_NETWORKS if call.query.network is None else (call.query.network,)
    records = [networks.network(call.world, call.environment, name) for name in names]
    return {"networks": [render_network(call.world, record) for record in records]}


def show_rate(call: Call) -> JsonObject:
    """The indicative rate, which a quote made now would lock (decision M1); ApiError unsupported_pair."""
    wanted = call.query
    if wanted.asset not in NETWORK_ASSETS[wanted.network]:
        raise ApiError("unsupported_pair", f"{wanted.asset!r} is not an asset of {wanted.network}.", "asset")
    if wanted.fiat_currency not in FIATS:
        message = f"{wanted.fiat_currency!r} is not a supported fiat currency."
        raise ApiError("unsupported_pair", message, "fiat_currency")
    return render_rate(call.world, call.environment, wanted.type, wanted.network, wanted.asset, wanted.fiat_currency)


def set_network(push: Push) -> JsonObject:
    """The network stats entry after its status was set."""
    wanted = push.parameters
    record = networks.set_status(push.world, push.environment, wanted.network, wanted.status)
    return render_network(push.world, record)


def set_rate(push: Push) -> JsonObject:
    """Pin the rate of an asset and a fiat currency, or of one swap direction."""
    wanted = push.parameters
    if wanted.source is not None or wanted.target is not None:
        return _set_swap_rate(push)
    if wanted.asset is None:
        raise missing("asset")
    if wanted.fiat_currency is None:
        raise missing("fiat_currency")
    if wanted.asset not in ASSET_CODES:
        raise invalid("asset", f"it is one of {', '.join(ASSET_CODES)}")
    if wanted.fiat_currency not in FIATS:
        raise invalid("fiat_currency", f"it is one of {', '.join(FIATS)}")
    rate = _pinned(wanted.rate)
    rates.pin(push.world, push.environment, wanted.asset, wanted.fiat_currency, rate, wanted.type)
    return render_pair(push.world, push.environment, wanted.asset, wanted.fiat_currency)


def _set_swap_rate(push: Push) -> JsonObject:
    wanted = push.parameters
    if wanted.source is None:
        raise missing("from")
    if wanted.target is None:
        raise missing("to")
    for name in ("asset", "fiat_currency", "type"):
        if getattr(wanted, name) is not None:
            raise invalid(name, "it does not go with `from` and `to`")
    source, target = _listed("from", wanted.source), _listed("to", wanted.target)
    if source == target:
        raise invalid("to", "it is the same asset and network as `from`")
    rates.pin_swap(push.world, push.environment, source, target, _pinned(wanted.rate))
    return render_swap_rate(push.world, push.environment, source, target)


def _listed(param: str, wanted: AssetOnNetwork) -> Currency:
    network = wanted.network.lower()
    if network not in NETWORKS:
        raise invalid(f"{param}.network", f"it is one of {', '.join(map(upper, NETWORKS))}")
    found = asset(wanted.symbol, network)
    if found is None:
        raise invalid(f"{param}.symbol", f"it is one of {', '.join(NETWORK_ASSETS[network])}")
    return found


def _pinned(text: str) -> Decimal:
    """A rate that can be printed exactly: above zero, at most 10 significant digits (decision H8)."""
    rate = Decimal(text)
    if rate <= 0:
        raise invalid("rate", "it must be above zero")
    if rate_of(rate) != rate:
        raise invalid("rate", f"a rate has at most {SIGNIFICANT_DIGITS} significant digits")
    return rate if len(rate.as_tuple().digits) <= SIGNIFICANT_DIGITS else rate_of(rate)


def move_rates(push: Push) -> JsonObject:
    """Multiply every rate of the environment by 1 + percent/100."""
    percent = Decimal(str(push.parameters.percent))
    try:
        rates.move_all(push.world, push.environment, percent)
    except ValueError as error:
        raise invalid("percent", str(error)) from None
    return {"percent": push.parameters.percent}
