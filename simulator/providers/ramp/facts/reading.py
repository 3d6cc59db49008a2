"""Reads facts from a running service: the reference data of the account, in the format of API responses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, TypeAlias

from simulator.engine.text.json import JsonObject, Shown

Read: TypeAlias = Callable[[str], Any]
Create: TypeAlias = Callable[[str, object], Any]
_MOST_PAGES = 10
_TYPES = ("onramp", "offramp")
_METHODS = {"mobile_money": "phone_number", "bank_transfer": "bank_account"}
"""The payment methods of quotes, and the corresponding names in fee products."""


def read_facts(read: Read, create: Create) -> Iterator[tuple[str, object]]:
    """Yield the facts as pairs of name and value, each as soon as it is complete. Facts that the service does not
    provide are omitted.

    `read` returns the body of a GET response, or None if the request failed. `create` returns the body of a POST
    response even if the request failed.
    """
    products = _pages(read, "/fees?status=active,inactive&")
    if products is not None:
        yield "fee_products", [_without(row, "updated_at") for row in products]
    limits = read("/profile/limits")
    if isinstance(limits, Mapping) and isinstance(limits.get("limits"), Mapping):
        maxima = {name: row.get("max") for name, row in limits["limits"].items() if isinstance(row, Mapping)}
        yield "limits", {"currency": limits.get("currency"), **maxima}
    assets = _pages(read, "/currencies?")
    if assets is not None:
        yield "assets", assets
        yield "precision", {f"{row.get('symbol')} {row.get('network')}": row.get("decimals") for row in assets}
    stats = read("/network/stats")
    networks = _rows(stats, "networks")
    if networks is not None:
        yield "networks", [_without(row, "updated_at", "latest_block") for row in networks]
    currencies = sorted({str(row["fiat_currency"]) for row in products or () if row.get("fiat_currency")})
    pairs = [
        (str(row.get("network")), str(asset), currency)
        for row in networks or ()
        for asset in (row["assets"] if isinstance(row.get("assets"), list) else ())
        for currency in currencies
    ]
    rates = [rate for pair in pairs for rate in _rates_of(read, *pair)]
    if rates:
        yield "rates", rates
        yield "spread", dict(spreads(rates))
    if pairs:
        first = pairs[0]
        methods = {currency: _methods(create, first[0], first[1], currency, products or []) for currency in currencies}
        yield "currencies", {currency: {"methods": found} for currency, found in methods.items()}


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


def _rates_of(read: Read, network: str, asset: str, currency: str) -> Iterator[JsonObject]:
    for type_ in _TYPES:
        body = read(f"/rates?type={type_}&network={network}&asset={asset}&fiat_currency={currency}")
        if isinstance(body, Mapping) and isinstance(body.get("rate"), str):
            yield {
                "type": type_,
                "network": network,
                "asset": asset,
                "fiat_currency": currency,
                "rate": body["rate"],
            }


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
        if len(sides) == len(_TYPES) and all(side.is_finite() and side > 0 for side in sides.values()):
            yield pair, f"{(sides['onramp'] / sides['offramp'] - 1) * 100:.4f}"


def _methods(create: Create, network: str, asset: str, currency: str, products: list[Shown]) -> list[str]:
    """Return the payment methods for which the service creates an onramp quote."""
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
        body = {
            "type": "onramp",
            "network": network,
            "asset": asset,
            "fiat_currency": currency,
            "amount": least[0] if least else "1000.00",
            "amount_currency": currency,
            "method": method,
        }
        quote = create("/quotes", body)
        if isinstance(quote, Mapping) and isinstance(quote.get("id"), str):
            found.append(method)
    return found
