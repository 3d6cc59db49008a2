"""Finding the fee product, calculating the fee, checking limits, solving for the source amount (decisions M2 to M9,
M13).
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from simulator.engine.rows.error import missing
from simulator.engine.worlds.settings import assumes
from simulator.kernel.dataclass import dataclass
from simulator.kernel.money import ZERO, Currency, add, divide_up, multiply
from simulator.kernel.world import World
from simulator.providers.ramp import reference
from simulator.providers.ramp.fees.catalogue import are_untouched, base_of, product_of, products_of
from simulator.providers.ramp.fees.records import (
    IN_FIAT,
    WITH_FIAT,
    Fee,
    FeeProduct,
    currency_of,
    fee_of,
    network_fee_currency,
)
from simulator.providers.ramp.fees.states import AMOUNT_TOO_LOW
from simulator.providers.ramp.profile import AMOUNT_TOO_HIGH
from simulator.providers.ramp.reference import UNSUPPORTED_PAIR

_METHOD_OF = {
    "mobile_money": "phone_number",
    "bank_transfer": "bank_account",
    "phone_number": "phone_number",
    "bank_account": "bank_account",
}
_RAMP_METHOD = {"phone_number": "mobile_money", "bank_account": "bank_transfer"}
_HUNDRED = Decimal(100)
_MOST_DIGITS = 18
"""The maximum number of digits before the decimal point of an amount (decision H7)."""


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The parts of a processing fee."""

    percentage_fee: Decimal
    """The percentage of the amount, rounded up, before the minimum and maximum apply."""
    min_fee_applied: bool
    max_fee_applied: bool
    service_fee: Decimal


def match(
    world: World,
    environment: str,
    product: str,
    currency: Currency,
    *,
    network: str | None = None,
    asset: str | None = None,
    fiat_currency: str | None = None,
    payment_method: str | None = None,
    to_asset: str | None = None,
) -> FeeProduct:
    """Return the active fee product with the fewest null fields. If several products tie, return the first of them in
    the fee table (decision M9).

    `currency` is the currency of the amount (decision M2). `network` is a canonical name. `payment_method` can be
    spelled as in ramps (`mobile_money`) or as in fee products (`phone_number`). Limits are not checked. Raise
    `ApiError` unsupported_pair if no product matches, and missing_parameter if the product depends on the payment
    method and none is given.
    """
    wanted = _Wanted(currency, network, asset, fiat_currency, payment_method, to_asset)
    if are_untouched(world, environment):
        return _match_untouched(environment, product, wanted)
    return _match(products_of(world, environment, product), product, wanted)


class _Wanted(NamedTuple):
    """The properties that a fee product must match."""

    currency: Currency
    network: str | None
    asset: str | None
    fiat_currency: str | None
    payment_method: str | None
    to_asset: str | None


@lru_cache(maxsize=4096)  # few worlds change their products: a match takes 0.5 µs with this cache and 5 µs without
def _match_untouched(environment: str, product: str, wanted: _Wanted) -> FeeProduct:
    return _match(base_of(environment, product), product, wanted)


def _match(rows: tuple[FeeProduct, ...], product: str, wanted: _Wanted) -> FeeProduct:
    """Return the product that `match` describes. `rows` are all products of the type `product`."""
    currency, network, asset, fiat_currency, payment_method, to_asset = wanted
    method = None if payment_method is None else _METHOD_OF[payment_method]
    network = network or currency.network
    if product in WITH_FIAT:
        fiat_currency = fiat_currency or (currency.code if currency.network is None else None)
    asset = currency.code if product not in IN_FIAT else asset
    _require_legal(product, currency, network, asset, fiat_currency, method)
    if product == "swap" and to_asset is not None:
        _require_target(currency, to_asset)
    fitting = [
        row
        for row in rows
        if row.status == "active"
        and row.fee_currency == currency.code
        and _fits(row.network, network)
        and (asset is None or _fits(row.asset, asset))
        and _fits(row.fiat_currency, fiat_currency)
        and (method is None or _fits(row.payment_method, method))
    ]
    if asset is None:
        fitting = [row for row in fitting if row.asset is None] or fitting[:1]
    if not fitting:
        raise UNSUPPORTED_PAIR.error(f"There is no active fee product for {product} with these parameters.")
    best = min(fitting, key=lambda row: row.nulls)
    if method is None and best.payment_method is not None:
        raise missing("payment_method")
    return best


def require_in_force(world: World, environment: str, product_id: str, param: str | None = None) -> None:
    """Raise `ApiError` 422 unsupported_pair if the fee product of a quote is no longer active (decision M15)."""
    product = product_of(world, environment, product_id)
    if product is None or product.status != "active":
        raise UNSUPPORTED_PAIR.error("The fee product of this quote is no longer active. Create a new quote.", param)


def _fits(wanted: str | None, given: str | None) -> bool:
    return wanted is None or given is None or wanted == given


def _require_legal(
    product: str, currency: Currency, network: str | None, asset: str | None, fiat_code: str | None, method: str | None
) -> None:
    """Raise `ApiError` unsupported_pair if no product can have this combination of fields (decision R1)."""
    if (currency.network is None) != (product in IN_FIAT):
        side = "the fiat currency" if product in IN_FIAT else "an asset"
        raise UNSUPPORTED_PAIR.error(f"The amount for {product} must be in {side}.", "currency")
    if fiat_code is not None and (reference.fiat(fiat_code) is None or product not in WITH_FIAT):
        raise UNSUPPORTED_PAIR.error(f"{fiat_code} is not supported for {product}.", "fiat_currency")
    if currency.network is None and currency.code != fiat_code:
        raise UNSUPPORTED_PAIR.error(f"The amount for {product} must be in the fiat currency {fiat_code}.", "currency")
    if asset is not None and (reference.fiat(asset) is not None or currency_of(asset, network) is None):
        raise UNSUPPORTED_PAIR.error(f"{asset} is not available on {network or 'any network'}.", "asset")
    if method is not None and fiat_code is not None and not reference.has_method(fiat_code, _RAMP_METHOD[method]):
        raise UNSUPPORTED_PAIR.error(f"{fiat_code} has no {_RAMP_METHOD[method]}.", "payment_method")


def _require_target(source: Currency, to_asset: str) -> None:
    """Raise `ApiError` unsupported_pair if a swap's target is unknown, or is its source on the same network."""
    if not any(code == to_asset and asset != source for (code, _), asset in reference.ASSETS.items()):
        raise UNSUPPORTED_PAIR.error(f"{source.code} cannot be swapped to {to_asset}.", "to_asset")


def formula(
    world: World, environment: str, product: FeeProduct, currency: Currency, network: str | None = None
) -> Callable[[Decimal], Fee]:
    """Return a function that calculates a product's fee for an amount, at the current rates."""
    network_fee = _network_fee(world, environment, product, currency, network or currency.network)
    return lambda amount: fee_of(currency, breakdown(product, amount, currency).service_fee, network_fee)


def breakdown(product: FeeProduct, amount: Decimal, currency: Currency) -> Breakdown:
    """Return the parts of the processing fee, clamp(amount × percentage / 100 + fixed, min_fee, max_fee)."""
    percentage_fee = currency.round_up(divide_up(multiply(amount, product.percentage), _HUNDRED))
    whole = add(percentage_fee, product.fixed)
    if whole < product.min_fee:
        return Breakdown(percentage_fee, True, False, product.min_fee)
    if product.max_fee is not None and whole > product.max_fee:
        return Breakdown(percentage_fee, False, True, product.max_fee)
    return Breakdown(percentage_fee, False, False, whole)


def _network_fee(
    world: World, environment: str, product: FeeProduct, currency: Currency, network: str | None
) -> Decimal:
    """Return the part of the network fee that the customer pays, in the currency of the amount (decision M2)."""
    fee = product.network_fee
    if fee is None or fee.paid_by != "customer":
        return ZERO
    if fee.currency == currency.code:
        return fee.amount
    source = network_fee_currency(fee.currency, network)
    return currency.round_up(reference.convert_mid(world, environment, fee.amount, source, currency))


def check_limits(product: FeeProduct, amount: Decimal, fee: Fee | None = None) -> None:
    """Raise `ApiError` amount_too_low or amount_too_high if an amount is not allowed (decisions H7, M9, M13).

    An amount must be positive and within the product's limits (inclusive). If a fee is given, the amount must be
    greater than the fee.
    """
    limits, param = product.limits, "amount"
    if amount <= 0 or amount < limits.min_amount:
        raise AMOUNT_TOO_LOW.error(f"The minimum amount is {_shown(product, limits.min_amount)}.", param)
    if amount > limits.max_amount:
        raise AMOUNT_TOO_HIGH.error(f"The maximum amount is {_shown(product, limits.max_amount)}.", param)
    if fee is not None and fee.total >= amount:
        raise AMOUNT_TOO_LOW.error(f"The amount must be greater than the fee of {_shown(product, fee.total)}.", param)


def _shown(product: FeeProduct, amount: Decimal) -> str:
    return f"{product.currency.format(amount)} {product.fee_currency}"


def received(world: World, currency: Currency, exact: Decimal) -> Decimal:
    """Return the amount that a customer receives, rounded down to the currency's smallest unit (decision H9)."""
    if assumes(world, "H9", "received_is_rounded_half_up"):
        return currency.round_half_up(exact)
    return currency.round_down(exact)


def solve_source(currency: Currency, wanted: Decimal, delivers: Callable[[Decimal], Decimal]) -> Decimal:
    """Return the smallest source amount for which the recipient gets at least `wanted`. The result is a multiple of the
    smallest unit of `currency`.

    The function `delivers` returns the received amount for a source amount. For a larger source amount, the received
    amount must not be smaller. Raise `ApiError` amount_too_high if even the largest valid source amount is not enough.
    """
    most = 10 ** (_MOST_DIGITS + currency.decimals)
    unit = currency.unit

    def enough(units: int) -> bool:
        return delivers(multiply(Decimal(units), unit)) >= wanted

    # This is a search, because algebra gives the wrong unit for some amounts: fees are rounded up and clamped, and
    # amounts are rounded down. Doubling and bisecting takes fewer than 200 steps for the largest amount.
    high = 1
    while not enough(high):
        high *= 2
        if high > most:
            raise AMOUNT_TOO_HIGH.error(
                "No source amount is large enough to deliver this amount. Request a lower amount.", "amount"
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        if enough(middle):
            high = middle
        else:
            low = middle
    return multiply(Decimal(high), unit)
