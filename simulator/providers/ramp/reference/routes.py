"""The operations of reference data and its actions.

Subsection "Reference data" of the endpoints; `GET /currencies` belongs to the room of fees, `GET /wallet/assets` to
that of balances.
"""

from __future__ import annotations

from simulator.engine.rows.action import Action
from simulator.engine.rows.operation import Operation
from simulator.providers.ramp.reference import actions, bodies, shapes

TAG = "Reference data"


OPERATIONS = (
    Operation(
        "GET",
        "/network/stats",
        "get_network_stats",
        TAG,
        "Status and figures of the ramp networks",
        actions.show_network_stats,
        lambda: shapes.NetworkStats,
        query=lambda: bodies.NetworkStatsQuery,
        errors=("invalid_parameter",),
        description=(
            "Tells how stellar and celo do: their status, latest block, time to confirm and fee. A degraded "
            "network is slower or fails now and then; while one is down, create no quotes or transactions on "
            "it."
        ),
    ),
    Operation(
        "GET",
        "/rates",
        "get_rate",
        TAG,
        "The indicative rate of a pair",
        actions.show_rate,
        lambda: shapes.RateAnswer,
        query=lambda: bodies.RateQuery,
        refuses_with="invalid_request",
        errors=("invalid_request", "unsupported_pair"),
        description=(
            "Tells what one unit of an asset is worth in a fiat currency, for the direction asked about. The "
            "rate is indicative: only a quote locks one. Refused with invalid_request when a parameter is "
            "missing or malformed, and with unsupported_pair when the asset is not on the network or the "
            "currency is not offered."
        ),
    ),
)

ACTIONS = (
    Action(
        "set_network",
        "a network becomes operational, degraded or down",
        actions.set_network,
        parameters=lambda: bodies.NetworkStatus,
    ),
    Action(
        "set_rate",
        "pins the rate of a pair, or of one swap direction",
        actions.set_rate,
        parameters=lambda: bodies.PinnedRate,
        check=actions.check_rate,
    ),
    Action(
        "move_rates",
        "multiplies every rate by 1 + percent/100",
        actions.move_rates,
        parameters=lambda: bodies.RateMove,
        check=actions.check_move,
    ),
)
