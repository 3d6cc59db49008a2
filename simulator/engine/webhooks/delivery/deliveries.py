"""Finds endpoints, deliveries and planned retries, including those of deleted endpoints (decisions W5, W11, W12)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from simulator.engine.records.conditions import field_getter, field_in, newest_of
from simulator.engine.records.records import find
from simulator.engine.rows.service import signing_of
from simulator.engine.webhooks.records import DELIVERIES, ENDPOINTS, PLANNED, Delivery, Webhook, delivery_id
from simulator.kernel.journal import newest
from simulator.kernel.table import Table
from simulator.kernel.world import World


def endpoints(world: World, environment: str) -> Table[Webhook]:
    """Return the endpoints in one environment, oldest first."""
    return world.store[ENDPOINTS.of(environment)]


def endpoint_of(world: World, endpoint_id: str) -> Webhook | None:
    """Return the endpoint with this id, even if it is deleted, or None if it never existed."""
    found = find(world, endpoint_id)
    return found if isinstance(found, Webhook) else None


def deliveries_of(world: World, endpoint_id: str) -> Table[Delivery]:
    """Return the deliveries to one endpoint, in the order in which their responses arrived."""
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
    """Return the deliveries that match all given filters, oldest first, or only the newest `limit` of them."""
    wanted = {"event_id": event_id, "status": status, "event_type": event_type}
    conditions = [field_in(name, value) for name, value in wanted.items() if value is not None]
    ids = [one for one in every_endpoint_id(world) if endpoint_id in (None, one)]
    found = [
        row for one in ids for row in newest_of(deliveries_of(world, one), conditions, limit, field_getter("sequence"))
    ]
    return newest(sorted(found, key=field_getter("sequence")), limit)


def delivery_of(world: World, identifier: str) -> Delivery | None:
    """Return the delivery with this id, or None if it does not exist."""
    tables = (deliveries_of(world, endpoint_id) for endpoint_id in every_endpoint_id(world))
    return next((made[identifier] for made in tables if identifier in made), None)


def deliveries_about(world: World, environment: str, event_ids: Iterable[str]) -> list[Delivery]:
    """Return the deliveries of certain events in one environment, oldest first."""
    # Delivery ids are derived, so each delivery takes one lookup. A search would read all deliveries in the world.
    ids = every_endpoint_id(world, (environment,))
    found = (one for event_id in event_ids for endpoint_id in ids for one in attempts_of(world, event_id, endpoint_id))
    return sorted(found, key=field_getter("sequence"))


def attempts_of(world: World, event_id: str, endpoint_id: str) -> Iterator[Delivery]:
    """Yield the deliveries of one event to one endpoint, ordered by attempt number."""
    made, number = deliveries_of(world, endpoint_id), 1
    while (delivery := made.get(delivery_id(event_id, endpoint_id, number))) is not None:
        yield delivery
        number += 1


def retries_ahead(world: World, *, event_id: str, endpoint_id: str) -> list[int]:
    """Return the times, in milliseconds, of the remaining attempts to deliver an event to an endpoint, including
    delayed ones, if each attempt fails immediately.
    """
    delays_ms = signing_of(world).retry_delays_ms(world)
    found: list[int] = []
    for row in world.store[PLANNED.of(owner=endpoint_id)].values():
        if row.pending.event_id == event_id:
            (timer,) = world.agenda.in_firing_order((row.timer,))
            ahead = () if row.pending.stage is None else delays_ms[row.pending.stage :]
            found += accumulate(ahead, initial=timer.due_at_ms)
    return sorted(found)


def every_endpoint_id(world: World, environments: Iterable[str] | None = None) -> list[str]:
    """Return the ids of all endpoints in these (or all) environments, including deleted endpoints."""
    living = [ENDPOINTS.of(environment) for environment in environments or world.environments]
    tables = [world.store[at] for address in living for at in (address, address.of_deleted)]
    return [endpoint.id for table in tables for endpoint in table.values()]
