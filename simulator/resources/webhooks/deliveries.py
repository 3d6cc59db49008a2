"""Finding endpoints and deliveries, also those of deleted endpoints (decisions W11 and W12)."""

from __future__ import annotations

from collections.abc import Iterable
from operator import attrgetter

from simulator.kernel.store import ENVIRONMENTS, Table
from simulator.kernel.world import World
from simulator.resources.webhooks.records import DELIVERIES, ENDPOINTS, Delivery, Webhook, delivery_id
from simulator.wire.records import find


def endpoints(world: World, environment: str) -> Table[Webhook]:
    """The registered endpoints of one environment, oldest first."""
    return world.store[ENDPOINTS.of(environment)]


def endpoint_of(world: World, endpoint_id: str) -> Webhook | None:
    """The endpoint with this id, a deleted one too; None when the world never had it."""
    found = find(world, endpoint_id)
    return found if isinstance(found, Webhook) else None


def deliveries_of(world: World, endpoint_id: str) -> Table[Delivery]:
    """The deliveries of one endpoint, in the order of their answers."""
    return world.store[DELIVERIES.of(owner=endpoint_id)]


def all_deliveries(world: World, *, event_id: str | None = None, status: str | None = None) -> list[Delivery]:
    """Every delivery of the world that fits, oldest first; deleted endpoints included."""
    found = [
        delivery
        for one in _every_endpoint_id(world)
        for delivery in deliveries_of(world, one).values()
        if event_id in (None, delivery.event_id) and status in (None, delivery.status)
    ]
    return sorted(found, key=attrgetter("sequence"))


def deliveries_about(world: World, environment: str, event_ids: Iterable[str]) -> list[Delivery]:
    """The deliveries of these events of one environment, oldest first; they are looked up, not searched for."""
    ids, found = _every_endpoint_id(world, (environment,)), []
    for event_id in event_ids:
        for endpoint_id in ids:
            made, number = deliveries_of(world, endpoint_id), 1
            while (delivery := made.get(delivery_id(event_id, endpoint_id, number))) is not None:
                found.append(delivery)
                number += 1
    return sorted(found, key=attrgetter("sequence"))


def _every_endpoint_id(world: World, environments: Iterable[str] = ENVIRONMENTS) -> list[str]:
    living = [ENDPOINTS.of(environment) for environment in environments]
    tables = [world.store[at] for address in living for at in (address, address.of_deleted)]
    return [endpoint.id for table in tables for endpoint in table.values()]
