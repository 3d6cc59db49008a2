"""Operations and actions for reference data (subsection "Reference data"; decisions M1, S22)."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from simulator.engine.rows.action import Action, ActionCall, Initial
from simulator.engine.rows.error import invalid
from simulator.engine.rows.operation import Call, OperationDecorator
from simulator.engine.text.fields import Wrong, absent, wrong
from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.money import Currency, rate_of
from simulator.providers.ramp.reference import bodies, networks, rates, records, shapes
from simulator.providers.ramp.reference.states import UNSUPPORTED_PAIR
from simulator.providers.ramp.shapes import upper

operation = OperationDecorator("Reference data")

SIGNIFICANT_DIGITS = 10


@operation(
    "GET /network/stats", "Status and figures of the ramp networks", errors=("invalid_parameter",), shows="network"
)
def get_network_stats(call: Call[None, bodies.NetworkStatsQuery, None]) -> shapes.NetworkStats:
    """Returns the status, latest block, confirmation time and transaction fee of stellar and celo. A degraded network
    is slow or fails occasionally. Do not create quotes or transactions on a network that is down.
    """
    names = records.RAMP_NETWORKS if call.query.network is None else (call.query.network,)
    found = [networks.network(call.world, call.environment, name) for name in names]
    return {"networks": [shapes.render_network(call.world, record) for record in found]}


@operation(
    "GET /rates",
    "The indicative rate of a pair",
    refuses_with="invalid_request",
    errors=("invalid_request", "unsupported_pair"),
)
def get_rate(call: Call[None, bodies.RateQuery, None]) -> shapes.RateAnswer:
    """Returns the indicative rate of an asset in a fiat currency, for one direction. Only a quote locks a rate. The
    request fails with invalid_request if a parameter is missing or malformed. It fails with unsupported_pair if the
    asset is not available on the network or the currency is not supported.
    """
    wanted = call.query
    if wanted.asset not in records.NETWORK_ASSETS[wanted.network]:
        raise UNSUPPORTED_PAIR.error(f"{wanted.asset!r} is not available on {wanted.network}.", "asset")
    if wanted.fiat_currency not in records.FIATS:
        message = f"{wanted.fiat_currency!r} is not a supported fiat currency."
        raise UNSUPPORTED_PAIR.error(message, "fiat_currency")
    return shapes.render_rate(
        call.world, call.environment, wanted.type, wanted.network, wanted.asset, wanted.fiat_currency
    )


def set_network(call: ActionCall[None, bodies.NetworkStatus]) -> shapes.NetworkObject:
    """Set the status of a network and return its network stats entry."""
    wanted = call.parameters
    record = networks.set_status(call.world, call.environment, wanted.network, wanted.status)
    return shapes.render_network(call.world, record)


def check_rate(wanted: bodies.PinnedRate) -> Iterator[Wrong]:
    """Yield the errors in the parameters of set_rate. The parameters name either a pair or the two assets of a swap."""
    if wanted.source is not None or wanted.target is not None:
        yield from _check_swap_rate(wanted)
    else:
        named = (("asset", wanted.asset, records.ASSET_CODES), ("fiat_currency", wanted.fiat_currency, records.FIATS))
        yield from (absent(name) for name, code, _ in named if code is None)
        for name, code, codes in named:
            if code is not None and code not in codes:
                yield wrong(name, f"it must be one of {', '.join(codes)}")
    rate = Decimal(wanted.rate)
    if rate <= 0:
        yield wrong("rate", "it must be above zero")
    elif rate_of(rate) != rate:
        yield wrong("rate", f"a rate must have at most {SIGNIFICANT_DIGITS} significant digits")


def _check_swap_rate(wanted: bodies.PinnedRate) -> Iterator[Wrong]:
    sides = (("from", wanted.source), ("to", wanted.target))
    yield from (absent(name) for name, side in sides if side is None)
    for name, side in sides:
        if side is None:
            continue
        if side.network.lower() not in records.NETWORKS:
            yield wrong(f"{name}.network", f"it must be one of {', '.join(map(upper, records.NETWORKS))}")
        elif records.asset(side.symbol, side.network.lower()) is None:
            yield wrong(
                f"{name}.symbol", f"it must be one of {', '.join(records.NETWORK_ASSETS[side.network.lower()])}"
            )
    for name in ("asset", "fiat_currency", "type"):
        if getattr(wanted, name) is not None:
            yield wrong(name, "it cannot be combined with `from` and `to`")
    found = {(side.symbol, side.network.lower()) for _, side in sides if side is not None}
    if len(found) == 1 and None not in (wanted.source, wanted.target):
        yield wrong("to", "it must differ from `from` in its asset or network")


def set_rate(call: ActionCall[None, bodies.PinnedRate]) -> Shown:
    """Pin the rate of an asset in a fiat currency, or the rate of a swap in one direction."""
    wanted = call.parameters
    rate = _pinned(wanted.rate)
    if wanted.source is not None and wanted.target is not None:
        source, target = _listed(wanted.source), _listed(wanted.target)
        rates.pin_swap(call.world, call.environment, source, target, rate)
        return shapes.render_swap_rate(call.world, call.environment, source, target)
    assert wanted.asset is not None  # `check_rate` has already reported parameters without a pair
    assert wanted.fiat_currency is not None
    rates.pin(call.world, call.environment, wanted.asset, wanted.fiat_currency, rate, wanted.type)
    return shapes.render_pair(call.world, call.environment, wanted.asset, wanted.fiat_currency)


def _listed(wanted: bodies.AssetOnNetwork) -> Currency:
    return records.ASSETS[wanted.symbol, wanted.network.lower()]


def _pinned(text: str) -> Decimal:
    """Return a rate, rounded to 10 significant digits if it has more (decision H8)."""
    rate = Decimal(text)
    return rate if len(rate.as_tuple().digits) <= SIGNIFICANT_DIGITS else rate_of(rate)


def check_move(wanted: bodies.RateMove) -> Iterator[Wrong]:
    """Yield the errors in the parameters of move_rates, which itself checks the upper limit of `percent`."""
    if wanted.percent <= -100:
        yield wrong("percent", "it must be greater than -100, so that every rate stays positive")


def move_rates(call: ActionCall[None, bodies.RateMove]) -> JsonObject:
    """Multiply all rates of the environment by 1 + percent/100."""
    percent = Decimal(str(call.parameters.percent))
    try:
        rates.move_all(call.world, call.environment, percent)
    except ValueError as error:
        raise invalid("percent", str(error)) from None
    return {"percent": call.parameters.percent}


ACTIONS = (
    Action(
        "set_network",
        "a network becomes operational, degraded or down",
        set_network,
        parameters=lambda: bodies.NetworkStatus,
        initially=Initial("networks", "The status of networks", 3),
    ),
    Action(
        "set_rate",
        "pins the rate of a pair, or of one swap direction",
        set_rate,
        parameters=lambda: bodies.PinnedRate,
        check=check_rate,
        initially=Initial("rates", "Rates that are pinned", 1),
    ),
    Action(
        "move_rates",
        "multiplies every rate by 1 + percent/100",
        move_rates,
        parameters=lambda: bodies.RateMove,
        check=check_move,
    ),
)
