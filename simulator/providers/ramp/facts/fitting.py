"""Compares the facts of a running service with the shipped reference data.

Worlds can adopt rates, prices, limits and fee products. Networks, assets, precision, currencies and id prefixes are
fixed, so differences in these are only reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal

from pydantic import ValidationError

from simulator.engine.rows.error import ApiError
from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.dataclass import replace
from simulator.kernel.money import add, divide_down, rate_of
from simulator.providers.ramp import fees, profile, reference
from simulator.providers.ramp.facts.forms import finite, object_in, rows_in, unused

_KEY = ("product", "network", "asset", "fiat_currency", "payment_method")
_NEEDED = ("product", "fee_currency", "percentage", "fixed", "min_fee", "limits", "status")
_NULLABLE = (*_KEY[1:], "max_fee", "network_fee")
_START = ("fee_", "fee_live_")
_OWN = "sandbox"
_OPERATIONAL = "operational"
ID_PREFIXES = {
    "/quotes": "qt_",
    "/wallet/swap/quote": "sq_",
    "/wallet/buy/quote": "bq_",
    "/wallet/withdraw/quote": "wq_",
    "/wallet/send": "txn_",
    "/wallet/swap": "txn_",
    "/wallet/buy": "txn_",
    "/wallet/withdraw": "txn_",
    "/wallets": "wal_",
    "/beneficiaries": "ben_",
    "/webhooks": "wh_",
    "/recurring-payments": "rp_",
}
"""The shipped id prefixes. Each key is the path of the request that creates the resource."""


def fit(facts: Shown) -> tuple[JsonObject, list[str]]:
    """Return two values: the facts that differ from the shipped data, in the format for `put_facts`, and one line of
    text for each fact that a world cannot adopt.
    """
    unfit: list[str] = []
    fitted = {
        "rates": _rates(facts, unfit),
        "limits": _limits(limits, unfit) if isinstance(limits := facts.get("limits"), Mapping) else {},
        "fee_products": _fee_products(facts.get("fee_products"), unfit),
    }
    unfit += [*_networks(facts), *_assets(facts), *_currencies(facts), *_prefixes(facts), *unused(facts)]
    return {name: value for name, value in fitted.items() if value}, unfit


def _number(value: object) -> Decimal | None:
    """Read a positive number from a JSON number or a string. Return None if it is invalid or above the largest rate."""
    number = finite(value)
    return number if number is not None and 0 < number <= reference.LARGEST_RATE else None


def _rates(facts: Shown, unfit: list[str]) -> dict[str, str]:
    seen: dict[str, Decimal] = {}

    def see(key: str, given: object) -> None:
        number = _number(given)
        if key not in reference.FIXED:
            unfit.append(f"rates: the simulator has no pair {key}")
        elif number is None or not reference.SMALLEST_RATE <= number <= reference.LARGEST_RATE:
            unfit.append(f"rates: {key} is {given!r}")
        elif seen.setdefault(key, rate_of(number)) != rate_of(number):
            why = "on one network and different on another; the simulator has one rate for all"
            unfit.append(f"rates: {key} is {given} {why}")
        elif rate_of(number) != number:
            unfit.append(f"rates: {key} is {given}, rounded to ten digits")

    for row in rows_in(facts, "rates"):
        see(f"{row.get('type')}:{row.get('asset')}:{row.get('fiat_currency')}", row.get("rate"))
    for row in rows_in(facts, "assets"):
        price = row.get("price")
        if isinstance(price, Mapping) and price.get("currency") == reference.USD:
            see(f"mid:{row.get('symbol')}:{reference.USD}", price.get("amount"))
    changed = {key: rate for key, rate in seen.items() if rate != reference.FIXED[key]}
    return {key: str(rate) for key, rate in {**changed, **_derived(seen, changed)}.items()}


def _derived(seen: Mapping[str, Decimal], changed: Mapping[str, Decimal]) -> dict[str, Decimal]:
    """Return the mid rate of each pair with a changed onramp or offramp rate, and the swap rates that follow from
    changed asset prices. `seen` contains all rates that were read, and `changed` only those that differ from the
    shipped rates.
    """
    found = {}
    for pair in dict.fromkeys(key.partition(":")[2] for key in changed if not key.startswith("mid:")):
        sides = [seen.get(f"{type_}:{pair}") for type_ in ("onramp", "offramp")]
        if sides[0] is not None and sides[1] is not None:
            found[f"mid:{pair}"] = rate_of(divide_down(add(sides[0], sides[1]), Decimal(2)))
    prices = {code: changed.get(f"mid:{code}:{reference.USD}") for code in reference.ASSET_CODES}
    if any(prices.values()):
        usd = {code: price or reference.FIXED[f"mid:{code}:{reference.USD}"] for code, price in prices.items()}
        crosses = reference.cross_rates(usd)
        found |= {key: rate for key, rate in crosses.items() if rate != reference.FIXED[key]}
    return found


def _limits(limits: Shown, unfit: list[str]) -> JsonObject:
    currency = str(limits.get("currency"))
    if currency not in reference.FIATS:
        unfit.append(f"limits: the currency is {currency!r}")
        return {}
    found: JsonObject = {}
    for at, period in enumerate(profile.PERIODS):
        amount = _number(limits.get(period))
        if amount is None or reference.FIATS[currency].round_down(amount) != amount:
            unfit.append(f"limits: {period} is {limits.get(period)!r}")
        elif currency != profile.LEVEL_CURRENCY or amount != profile.LEVEL_MAXIMA[2][at]:
            found[period] = {"amount": str(amount), "currency": currency}
    return found


def product_id(identifier: str, environment: str) -> str:
    """Convert a product's sandbox id to the product's id in the given environment."""
    return identifier if environment == _OWN else _START[1] + identifier.removeprefix(_START[0])


def template(identifier: str, environment: str, product: str) -> fees.FeeProduct:
    """Return a copy of a shipped product of the type `product` with a new id. The caller replaces the other fields.
    Raise `LookupError` if the type is unknown.
    """
    shipped = fees.base(environment).values()
    for one in shipped:
        if one.product == product:
            return replace(one, id=identifier, sequence=len(shipped) + 1)
    raise LookupError(f"there is no product {product}")


def _fee_products(listed: object, unfit: list[str]) -> JsonObject:
    """Return the fields of each changed or new product, by product id. Add a line of text to `unfit` for each product
    that a world cannot adopt.
    """
    if not isinstance(listed, list):
        return {}
    left = dict(fees.base(_OWN))
    found: JsonObject = {}
    types: set[object] = set()
    for row in listed:
        try:
            fields = _fields(row)
            types.add(fields["product"])
            old = _counterpart(row, fields, left)
            wanted = fees.bodies.SetFeeProduct(**fields)
            if wrong := next(iter(fees.check_new_fields(wanted)), None):
                raise ValueError(str(wrong))
            base = old or template(str(_name(row)), _OWN, wanted.product)
            new = fees.changed_product(base, wanted)
        except (ValidationError, ApiError, ValueError, LookupError, TypeError, ArithmeticError) as error:
            unfit.append(f"fee_products: {_name(row)}: {_said(error)}")
            continue
        if old is None or new != old or wanted.status != old.status:
            found[new.id] = fields
    silent = {one.product for one in left.values()} - types
    remain = "the simulator's products remain"
    unfit += [f"fee_products: the service lists no product for {name}; {remain}" for name in sorted(silent)]
    for one in left.values():
        if one.product in types and one.status == "active":
            found[one.id] = {"status": "inactive"}
    return found


def _fields(row: object) -> JsonObject:
    """Return the fields that a world can adopt from a listed product. Raise `LookupError` if a required field is
    absent.
    """
    if not isinstance(row, Mapping) or (missing := [name for name in (*_NEEDED, "id") if name not in row]):
        raise LookupError(f"it lacks {missing[0]}" if isinstance(row, Mapping) else "it is not an object")
    named = {"name": row["name"]} if "name" in row else {}  # a recording has no names
    return {**named, **{name: row[name] for name in _NEEDED}, **{name: row.get(name) for name in _NULLABLE}}


def _counterpart(row: object, fields: Shown, left: dict[str, fees.FeeProduct]) -> fees.FeeProduct | None:
    """Find the shipped product in `left` that matches a listed product, and remove it from `left`. Return the shipped
    product, or None if no product matches.

    A product with the same id has priority over a product that applies to the same operations.
    """
    same = [str(_name(row))] if _name(row) in left else []
    key = tuple(fields.get(name) for name in _KEY)
    for one in left.values():
        network = "btc" if one.network == "bitcoin" else one.network
        own = (one.product, network, one.asset, one.fiat_currency, one.payment_method)
        if own == key and one.status == fields.get("status"):
            same.append(one.id)
    return left.pop(same[0]) if same else None


def _name(row: object) -> object:
    return row.get("id") if isinstance(row, Mapping) else str(row)


def _said(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return " ".join(str(error).split())


def _networks(facts: Shown) -> Iterator[str]:
    for row in rows_in(facts, "networks"):
        name, fee = row.get("network"), row.get("network_fee")
        shipped = reference.NETWORK_FACTS.get(str(name))
        if shipped is None:
            yield f"networks: the simulator has no network {name}"
            continue
        own_fee = shipped.native_fee, shipped.native_asset
        if isinstance(fee, Mapping) and (_number(fee.get("amount")), fee.get("currency")) != own_fee:
            given = f"{fee.get('amount')} {fee.get('currency')}"
            yield f"networks: the fee of {name} is {given}; in the simulator it is {own_fee[0]} {own_fee[1]}"
        status, seconds = row.get("status", _OPERATIONAL), row.get("avg_confirmation_seconds")
        if status != _OPERATIONAL:
            yield f"networks: the status of {name} is {status}; in a new world it is {_OPERATIONAL}"
        own = shipped.confirmation_seconds * (reference.DEGRADED_SLOWDOWN if status == "degraded" else 1)
        if seconds is not None and seconds != own:
            yield f"networks: avg_confirmation_seconds of {name} is {seconds}; in the simulator it is {own}"
        listed = row.get("assets")
        if isinstance(listed, list) and set(map(str, listed)) != set(reference.NETWORK_ASSETS[str(name)]):
            yield f"networks: {name} has the assets {', '.join(map(str, listed))}"


def _assets(facts: Shown) -> Iterator[str]:
    seen = set()
    for row in rows_in(facts, "assets"):
        key = (str(row.get("symbol")), str(row.get("network")).lower())
        seen.add(key)
        shipped = reference.LISTINGS.get(key)
        if shipped is None:
            yield f"assets: {key[0]} on {key[1]} is not in the simulator"
            continue
        for name in ("decimals", "confirmations", "slippage", "deposit_fees"):
            given, own = row.get(name), getattr(shipped, name)
            if name in row and Decimal(own) != (_number(given) or 0):
                yield f"assets: {name} of {key[0]} on {key[1]} is {given}; in the simulator it is {own}"
    if seen:
        for symbol, network in sorted(reference.LISTINGS.keys() - seen):
            yield f"assets: the service does not list {symbol} on {network}"


def _currencies(facts: Shown) -> Iterator[str]:
    for code, row in object_in(facts, "currencies").items():
        shipped = reference.FIAT_FACTS.get(code)
        methods = row.get("methods") if isinstance(row, Mapping) else None
        methods = [str(one) for one in methods] if isinstance(methods, list) else None
        if shipped is None:
            yield f"currencies: {code} is not in the simulator"
        elif methods is not None and set(methods) != set(shipped.methods):
            listed = ", ".join(methods) or "no method"
            yield f"currencies: {code} has {listed}; in the simulator: {', '.join(shipped.methods)}"


def _prefixes(facts: Shown) -> Iterator[str]:
    for name, prefix in object_in(facts, "id_prefixes").items():
        if name in ID_PREFIXES and prefix != ID_PREFIXES[name]:
            yield f"id_prefixes: {name} has {prefix}; in the simulator it is {ID_PREFIXES[name]}"
