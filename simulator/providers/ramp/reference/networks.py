"""The status of networks in each environment, and the figures in network stats (subsection "Network stats entry";
decisions S22, S25). A network without a saved record has been operational since the start of the world.
"""

from __future__ import annotations

from simulator.engine.records.records import move
from simulator.engine.worlds.settings import assumes
from simulator.kernel.clock import SECOND_MS, parse_timestamp
from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from simulator.providers.ramp.reference.records import NETWORK_FACTS, Network
from simulator.providers.ramp.reference.states import NETWORK, NETWORK_UNAVAILABLE, SET, START

NETWORK_ROWS = TableKey("networks", Network, per_environment=True)
DEGRADED_SLOWDOWN = 5
"""The factor by which a degraded network slows down confirmations and the steps of the autopilot (decision S22)."""

_HEIGHTS_AT_MS = parse_timestamp("2026-01-01T00:00:00Z")
_OPERATIONAL = NETWORK.begin(START).target


def network(world: World, environment: str, name: str) -> Network:
    """Return the record of a network in one environment. Raise `ValueError` if the canonical name is unknown."""
    row = world.store[NETWORK_ROWS.of(environment)].get(_id(environment, name))
    if row is not None:
        return row
    return Network(
        id=_id(environment, name),
        environment=environment,
        sequence=list(NETWORK_FACTS).index(name),
        created_at_ms=world.started_at_ms,
        updated_at_ms=world.started_at_ms,
        status=_OPERATIONAL,
        name=name,
    )


def standing_network(world: World, record_id: str) -> Network | None:
    """Return the network with the given id, even if its status has never changed. Return None if there is none."""
    ids = {_id(environment, name): (environment, name) for environment in world.environments for name in NETWORK_FACTS}
    return network(world, *ids[record_id]) if record_id in ids else None


def _id(environment: str, name: str) -> str:
    return f"network_{environment}_{name}"


def network_status(world: World, environment: str, name: str) -> str:
    """Return the status of a network: `operational`, `degraded` or `down`."""
    row = world.store[NETWORK_ROWS.of(environment)].get(_id(environment, name))
    return _OPERATIONAL if row is None else row.status


def require_network(world: World, environment: str, name: str) -> None:
    """Raise `ApiError` 503 network_unavailable if the network is down (decision S22)."""
    status = network_status(world, environment, name)
    if status == "down" or (status == "degraded" and assumes(world, "S22", "degraded_refuses")):
        raise NETWORK_UNAVAILABLE.error(f"The network {name} is {status}; try again when it is back.")


def set_status(world: World, environment: str, name: str, status: str) -> Network:
    """Set the status of a network. Setting the current status again has no effect and emits nothing."""
    record = network(world, environment, name)
    return record if record.status == status else move(world, record, SET, status)


def latest_block(name: str, now_ms: int) -> int:
    """Return the height of a blockchain at the given time. Blocks are added at a fixed rate."""
    facts = NETWORK_FACTS[name]
    return max(1, facts.height + (now_ms - _HEIGHTS_AT_MS) // (facts.block_seconds * SECOND_MS))


def confirmation_seconds(record: Network) -> int:
    """Return the average confirmation time in seconds. It is longer while the network is degraded."""
    seconds = NETWORK_FACTS[record.name].confirmation_seconds
    return seconds * DEGRADED_SLOWDOWN if record.status == "degraded" else seconds
