"""The fee table, loaded once from `fees.json` (decision R9).

Both environments start with the same products, under different ids. Only products that an environment changes are
saved. One entry of the file describes a product for each combination of a network in `networks`, an asset in `assets`
and a fiat currency in `fiat_currencies`. If one of these lists is absent, the corresponding field of the product is
null, which matches every value. The id consists of `fee_`, the values that are not null, and `suffix`. It is unique
across both environments, so an action can find its target by id alone. The fees and limits are in the currency of the
amount: the fiat currency for onramp and buy, and the asset for all other products (decision M2). The limits and network
fees of sends and transfers come from the currency listing. GET /fees and fee matching use the order of the file
(decision M9).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from functools import cache
from importlib.resources import files
from itertools import product as combinations
from typing import Any

from simulator.engine.text.json import loads
from simulator.kernel.money import ZERO
from simulator.kernel.world import World
from simulator.providers.ramp import reference, shapes
from simulator.providers.ramp.fees.records import CHANGED_PRODUCTS, IN_FIAT, FeeProduct, Limits, NetworkFee, currency_of
from simulator.providers.ramp.fees.states import FEE_PRODUCT

_ID_START = {"sandbox": "fee", "production": "fee_live"}


@cache
def base(environment: str) -> Mapping[str, FeeProduct]:
    """Return the original products of an environment by id, in the order of the file."""
    text = files(__package__).joinpath("fees.json").read_bytes()
    products: dict[str, FeeProduct] = {}
    for entry in loads(text)["products"]:
        for product in _expand(entry, environment, len(products)):
            if product.id in products:
                raise ValueError(f"fees.json has {product.id} twice")
            products[product.id] = product
    return products


@cache
def base_of(environment: str, product: str) -> tuple[FeeProduct, ...]:
    """Return the original products of one type (such as onramp or send), in the order of the file."""
    return tuple(row for row in base(environment).values() if row.product == product)


def are_untouched(world: World, environment: str) -> bool:
    """Return True if all fee products of an environment are unchanged."""
    return not world.store[CHANGED_PRODUCTS.of(environment)].rows


def products_of(world: World, environment: str, product: str) -> tuple[FeeProduct, ...]:
    """Return the current products of one type (such as onramp or send), in the order of `fees.json`."""
    if are_untouched(world, environment):
        return base_of(environment, product)
    return tuple(row for row in products(world, environment).values() if row.product == product)


def products(world: World, environment: str) -> Mapping[str, FeeProduct]:
    """Return all current products by id, in the order of the file."""
    return {**base(environment), **world.store[CHANGED_PRODUCTS.of(environment)].rows}


def product_of(world: World, environment: str, product_id: str) -> FeeProduct | None:
    """Return the current product with the given id, or None if the environment has no such product."""
    changed = world.store[CHANGED_PRODUCTS.of(environment)].get(product_id)
    return changed or base(environment).get(product_id)


def find_product(world: World, product_id: str) -> FeeProduct | None:
    """Return the product with the given id in any environment, or None if there is none."""
    found = (product_of(world, environment, product_id) for environment in world.environments)
    return next(filter(None, found), None)


def _expand(entry: Mapping[str, Any], environment: str, count: int) -> Iterator[FeeProduct]:
    """Yield the products that one entry of the file describes. `count` is the number of products in earlier entries."""
    axes = [entry.get(name, [None]) for name in ("networks", "assets", "fiat_currencies")]
    for number, (short_network, asset, fiat_currency) in enumerate(combinations(*axes), count + 1):
        network = None if short_network is None else shapes.SHORT[short_network]
        code = fiat_currency if entry["product"] in IN_FIAT else asset
        method = entry.get("payment_method")
        parts = (entry["product"], asset, short_network, fiat_currency, method, entry.get("suffix"))
        yield FeeProduct(
            id="_".join((_ID_START[environment], *(part.lower() for part in parts if part))),
            environment=environment,
            sequence=number,
            created_at_ms=0,
            updated_at_ms=0,
            status=FEE_PRODUCT.begin("publish", entry.get("status", "active")).target,
            product=entry["product"],
            name=entry["name"],
            network=network,
            asset=asset,
            fiat_currency=fiat_currency,
            payment_method=method,
            fee_currency=code,
            percentage=Decimal(entry["percentage"]),
            fixed=Decimal(entry["fixed"]),
            min_fee=Decimal(entry["min_fee"]),
            max_fee=Decimal(entry["max_fee"]) if "max_fee" in entry else None,
            network_fee=_network_fee(entry, code),
            limits=_limits(entry, code, network),
        )


def _network_fee(entry: Mapping[str, Any], code: str) -> NetworkFee | None:
    fee = entry.get("network_fee")
    if fee is None:
        return None
    return NetworkFee(Decimal(fee["amount"]), fee.get("currency", code), fee["paid_by"])


def _limits(entry: Mapping[str, Any], code: str, network: str | None) -> Limits:
    """Return the limits in an entry. If it has none, return the limits in the currency listing."""
    given = entry.get("limits")
    if given is not None:
        return Limits(Decimal(given["min_amount"]), Decimal(given["max_amount"]), code)
    currency = currency_of(code, network)
    if currency is None or currency.network is None:
        raise ValueError(f"fees.json: {entry['name']} has no limits")
    listing = reference.LISTINGS[currency.code, currency.network]
    return Limits(listing.min_withdraw or ZERO, listing.max_withdraw, code)
