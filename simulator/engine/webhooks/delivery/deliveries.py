"""Finding endpoints and deliveries, also those of deleted endpoints (decisions W11 and W12)."""

from __future__ import annotations

from collections.abc import Iterable

from simulator.engine.records.conditions import having, newest_of, the
from simulator.engine.records.records import find
from simulator.engine.webhooks.records import DELIVERIES, ENDPOINTS, Delivery, Webhook, delivery_id
from simulator.kernel.journal import newest
from simulator.kernel.table import Table
from simulator.kernel.world import World


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


def all_deliveries(
    world: World,
    *,
    event_id: str | None = None,
    status: str | None = None,
    endpoint_id: str | None = None,
    event_type: str | None = None,
    limit: int | None = None,
) -> list[Delivery]:
    """The newest `limit` deliveries (None: all) of the world that fit, oldest first; deleted endpoints included."""
    wanted = {"event_id": event_id, "status": status, "event_type": event_type}
    conditions = [having(name, value) for name, value in wanted.items() if value is not None]
    ids = [one for one in every_endpoint_id(world) if endpoint_id in (None, one)]
    found = [row for one in ids for row in newest_of(deliveries_of(world, one), conditions, limit, the("sequence"))]
    return newest(sorted(found, key=the("sequence")), limit)


def delivery_of(world: World, identifier: str) -> Delivery | None:
    """The delivery with this id, None when there is none."""
    found = (deliveries_of(world, endpoint_id).get(identifier) for endpoint_id in every_endpoint_id(world))
    return next((one for one in found if one is not None), None)


def deliveries_about(world: World, environment: str, event_ids: Iterable[str]) -> list[Delivery]:
    """The deliveries of these events of one environment, oldest first; they are looked up, not searched for."""
    ids, found = every_endpoint_id(world, (environment,)), []
    for event_id in event_ids:
        for endpoint_id in ids:
            made, number = deliveries_of(world, endpoint_id), 1
            while (delivery := made.get(delivery_id(event_id, endpoint_id, number))) is not None:
                found.append(delivery)
                number += 1
    return sorted(found, key=the("sequence"))


def every_endpoint_id(world: World, environments: Iterable[str] | None = None) -> list[str]:
    """Return the ids of all endpoints of some environments (None: all), deleted ones too."""
    living = [ENDPOINTS.of(environment) for environment in environments or world.environments]
    tables = [world.store[at] for address in living for at in (address, address.of_deleted)]
    return [endpoint.id for table in tables for endpoint in table.values()]
