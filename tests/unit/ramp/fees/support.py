"""A world with fees, and helpers to list, calculate and change them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, NamedTuple

from simulator.engine.rows.action import Performed
from simulator.kernel.money import Currency
from simulator.kernel.world import World
from simulator.providers.ramp import fees, profile, reference
from simulator.providers.ramp.fees.records import Fee, FeeProduct
from tests.support import act as act_in
from tests.support import find_operation, invoke, make_world

ROOMS = (reference.ROOM, profile.ROOM, fees.ROOM)


def fresh(**options: Any) -> World:
    return make_world(*ROOMS, **options)


class Priced(NamedTuple):
    """The fee of an amount, and the product it comes from."""

    product: FeeProduct
    fee: Fee


def price(
    world: World, environment: str, product: str, amount: Decimal, currency: Currency, **inputs: str | None
) -> Priced:
    """The fee of an amount by the matching active product."""
    row = fees.match(world, environment, product, currency, **inputs)
    return Priced(row, fees.formula(world, environment, row, currency, inputs.get("network"))(amount))


def listed(world: World, environment: str = "sandbox", **query: str) -> list[dict[str, Any]]:
    """Every fee product of a list, page after page."""
    found: list[dict[str, Any]] = []
    while True:
        page = pages(world, environment, page=str(len(found) // 100 + 1), size="100", **query)
        found += page["data"]
        if len(found) >= page["pagination"]["total"]:
            return found


def pages(world: World, environment: str = "sandbox", **query: str) -> Any:
    return invoke(world, find_operation(ROOMS, "GET", "/fees"), query=query, environment=environment)


def one(world: World, product_id: str, environment: str = "sandbox") -> Any:
    return invoke(world, find_operation(ROOMS, "GET", "/fees/{id}"), environment=environment, id=product_id)


def calculate(world: World, environment: str = "sandbox", **body: Any) -> Any:
    return invoke(world, find_operation(ROOMS, "POST", "/fees/calculate"), body, environment=environment)


def change(world: World, target: str | None, **values: Any) -> Performed:
    return act_in(world, ROOMS, "set_fee_product", target, **values)


def act(world: World, action: str, environment: str = "sandbox", **values: Any) -> Performed:
    return act_in(world, ROOMS, action, None, environment, **values)
