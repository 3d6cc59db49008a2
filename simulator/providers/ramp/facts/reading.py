"""Reads facts from a running service: the reference data of the account, in the format of API responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from simulator.engine.text.json import JsonObject, Shown

Read: TypeAlias = Callable[[str], Any]
Create: TypeAlias = Callable[[str, object], Any]
_MOST_PAGES = 10
_PRODUCTS = "/fees?status=active,inactive&"
RATE_TYPES = ("onramp", "offramp")
RATE = ("type", "network", "asset", "fiat_currency")
_METHODS = {"mobile_money": "phone_number", "bank_transfer": "bank_account"}
"""The payment methods of quotes, and the corresponding names in fee products."""


def read_facts(read: Read, create: Create, known: Shown) -> Iterator[tuple[str, object]]:
    """Yield the facts as pairs of name and value, each as soon as it is complete. Rates and payment methods are yielded
    repeatedly, each time with those read so far. Facts that the service does not provide are omitted.

    `read` returns the body of a GET response, or None if the request failed. `create` returns the body of a POST
    response, or None if the response does not show whether the service accepts the request. The facts in `known` are
    not read again.
    """
    products = _rows(known, "fee_products") if "fee_products" in known else _pages(read, _PRODUCTS)
    if products is not None and "fee_products" not in known:
        yield "fee_products", [_without(row, "updated_at") for row in products]
    limits = {} if "limits" in known else read("/profile/limits")
    if isinstance(limits, Mapping) and isinstance(limits.get("limits"), Mapping):
        maxima = {name: row.get("max") for name, row in limits["limits"].items() if isinstance(row, Mapping)}
        if seen := _present({"currency": limits.get("currency"), **maxima}):
            yield "limits", seen
    assets = None if "assets" in known else _pages(read, "/currencies?")
    if assets is not None:
        yield "assets", assets
        precision = {f"{row.get('symbol')} {row.get('network')}": row.get("decimals") for row in assets}
        yield "precision", _present(precision)
    networks = _rows(known if "networks" in known else read("/network/stats"), "networks")
    if networks is not None and "networks" not in known:
        yield "networks", [_without(row, "updated_at", "latest_block") for row in networks]
    currencies = sorted({str(row["fiat_currency"]) for row in products or () if row.get("fiat_currency")})
    pairs = [
        (str(row.get("network")), str(asset), currency)
        for row in networks or ()
        for asset in (row["assets"] if isinstance(row.get("assets"), list) else ())
        for currency in currencies
    ]
    rates = [dict(row) for row in _rows(known, "rates") or ()]
    seen_rates = {tuple(row.get(name) for name in RATE) for row in rates}
    for pair in pairs:
        for type_ in RATE_TYPES:
            if (type_, *pair) not in seen_rates and (rate := _rate(read, type_, *pair)):
                rates.append(rate)
                yield "rates", list(rates)
    if rates and len(seen_rates) < len(rates):
        yield "spread", dict(spreads(rates))
    methods = {code: row for code, row in known.get("currencies", {}).items() if code in currencies}
    for currency in currencies if pairs else ():
        if currency not in methods and (found := _methods(create, *pairs[0][:2], currency, products or [])):
            methods[currency] = {"methods": found}
            yield "currencies", {code: methods[code] for code in currencies if code in methods}


def _present(row: Shown) -> JsonObject:
    """Return the fields that are not None."""
    return {name: value for name, value in row.items() if value is not None}


def _without(row: Shown, *names: str) -> JsonObject:
    return {name: value for name, value in row.items() if name not in names}


def _rows(body: object, name: str) -> list[Shown] | None:
    rows = body.get(name) if isinstance(body, Mapping) else body
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else None


def _pages(read: Read, path: str) -> list[Shown] | None:
    """Return the items on all pages of a list, or None if a page could not be read."""
    rows: list[Shown] = []
    for page in range(1, _MOST_PAGES + 1):
        body = read(f"{path}limit=100&page={page}")
        found = _rows(body, "data")
        if found is None:
            return None
        rows += found
        paging = body.get("pagination") if isinstance(body, Mapping) else None
        pages = paging.get("total_pages") if isinstance(paging, Mapping) else None
        if not isinstance(pages, int) or page >= pages:
            return rows
    return None


def _rate(read: Read, *pair: str) -> JsonObject | None:
    """Read one rate. Return None if the service does not provide it."""
    named = dict(zip(RATE, pair, strict=True))
    body = read("/rates?" + "&".join(f"{name}={value}" for name, value in named.items()))
    is_rate = isinstance(body, Mapping) and isinstance(body.get("rate"), str)
    return {**named, "rate": body["rate"]} if is_rate else None


def spreads(rates: list[JsonObject]) -> Iterator[tuple[str, str]]:
    """Yield each currency pair with the difference between its onramp rate and its offramp rate, in percent of the
    offramp rate.
    """
    by_pair: dict[str, dict[str, Decimal]] = {}
    for row in rates:
        try:
            by_pair.setdefault(f"{row['asset']}/{row['fiat_currency']}", {})[row["type"]] = Decimal(row["rate"])
        except InvalidOperation:
            continue
    for pair, sides in by_pair.items():
        if len(sides) == len(RATE_TYPES) and all(side.is_finite() and side > 0 for side in sides.values()):
            yield pair, f"{(sides['onramp'] / sides['offramp'] - 1) * 100:.4f}"


def _methods(create: Create, network: str, asset: str, currency: str, products: list[Shown]) -> list[str]:
    """Return the payment methods for which the service creates an onramp quote. Return no methods if the responses do
    not show which methods the service accepts.
    """
    found = []
    for method, paid_by in _METHODS.items():
        least = [
            row["limits"].get("min_amount")
            for row in products
            if (row.get("product"), row.get("fiat_currency"), row.get("status")) == ("onramp", currency, "active")
            and row.get("payment_method") in (None, paid_by)
            and row.get("network") in (None, network)
            and isinstance(row.get("limits"), Mapping)
        ]
        body = {"type": "onramp", "network": network, "asset": asset, "fiat_currency": currency, "method": method}
        quote = create("/quotes", {**body, "amount": (least or ["1000.00"])[0], "amount_currency": currency})
        if quote is None:
            return []
        if isinstance(quote, Mapping) and isinstance(quote.get("id"), str):
            found.append(method)
    return found
