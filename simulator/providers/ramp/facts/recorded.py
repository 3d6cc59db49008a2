"""Extracts facts (reference data) from recorded traffic, in the format of `reading.py`. This module does not call the
service.

In a recording, names and values that are not in the contract are replaced with pseudonyms. The facts do not contain
pseudonyms, because the original values are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from simulator.engine.text.json import JsonObject, Shown
from simulator.providers.ramp import reference
from simulator.providers.ramp.facts.fitting import ID_PREFIXES
from simulator.providers.ramp.facts.forms import LISTS
from simulator.providers.ramp.facts.reading import spreads

_FEE = tuple(name for name in LISTS["fee_products"] if name != "name")  # a recording has no names
_ASSET = ("symbol", "network", "decimals", "status", "deposit_fees", "slippage", "confirmations")
_PAGING = frozenset({"page", "limit", "size"})
_WHOLE = frozenset({"active", "active,inactive", "inactive,active"})
"""Values of the `status` filter that exclude no active product."""
_PREFIX = re.compile(r"[a-z]+(_[a-z]+)*_")


class Seen(NamedTuple):
    """One successful call in a recording."""

    method: str
    path: str
    query: Shown
    response: Any


def recorded_facts(calls: Iterable[Seen], report: Callable[[str], None]) -> Iterator[tuple[str, object]]:
    """Yield the reference data in a recording, as names (such as `fee_products` or `limits`) and values. Lists of which
    the recording lacks some pages are omitted, and `report` is called with a line for each of them. If a request was
    repeated, its last response is used.
    """
    calls = list(calls)
    products = [row for row in _whole(calls, "/fees", {"status": _WHOLE}, report) if _is_named(row)]
    if products:
        yield "fee_products", [_only(row, _FEE) for row in products]
    for one in reversed(calls):
        limits = one.response.get("limits") if one.path == "/profile/limits" else None
        currency = str(one.response.get("currency"))
        if one.method == "GET" and isinstance(limits, Mapping) and currency in reference.FIATS:
            maxima = {name: row.get("max") for name, row in limits.items() if isinstance(row, Mapping)}
            yield "limits", {"currency": currency, **maxima}
            break
    assets = [_only(row, _ASSET) for row in _whole(calls, "/currencies", {}, report) if _is_named(row)]
    if assets:
        yield "assets", assets
        yield "precision", {f"{row.get('symbol')} {row.get('network')}": row.get("decimals") for row in assets}
    stats: Shown = next((one.response for one in reversed(calls) if one[:2] == ("GET", "/network/stats")), {})
    listed = stats.get("networks")
    networks = [
        row for row in (listed if isinstance(listed, list) else ()) if isinstance(row, Mapping) and _is_named(row)
    ]
    if networks:
        yield "networks", [_only(row, LISTS["networks"]) for row in networks]
    if rates := _rates(calls):
        yield "rates", rates
        if spread := dict(spreads(rates)):
            yield "spread", spread
    prefixes = {one.path: _PREFIX.match(str(one.response.get("id"))) for one in calls if one.method == "POST"}
    shipped = set(ID_PREFIXES.values())  # others are pseudonyms
    if own := {path: found[0] for path, found in sorted(prefixes.items()) if found and found[0] in shipped}:
        yield "id_prefixes", own


def _only(row: Shown, names: Iterable[str]) -> JsonObject:
    return {name: row[name] for name in names if name in row}


def _is_named(row: Shown) -> bool:
    """Return True if all assets, networks and currencies in a list item are codes from the contract, not pseudonyms."""
    return (
        row.get("asset", row.get("symbol")) in (None, *reference.ASSET_CODES)
        and str(row.get("network") or "celo").lower() in ("btc", *reference.NETWORK_FACTS)
        and row.get("fiat_currency") in (None, *reference.FIATS)
    )


def _whole(
    calls: Iterable[Seen], path: str, filters: Mapping[str, frozenset[str]], report: Callable[[str], None]
) -> list[Shown]:
    """Return the items of a list. If the list was read several times, use the last time that all its pages were read.
    If it was read, but never all its pages, report it and return no items. `filters` maps each allowed filter to its
    allowed values.
    """
    found: list[Shown] | None = None
    is_read = False
    pages: dict[tuple[tuple[str, str], ...], dict[int, list[Shown]]] = {}
    for one in calls:
        if one[:2] != ("GET", path):
            continue
        is_read = True
        narrowed = {name: str(value) for name, value in one.query.items() if name not in _PAGING}
        paging, rows = one.response.get("pagination"), one.response.get("data")
        if any(value not in filters.get(name, ()) for name, value in narrowed.items()) or not isinstance(rows, list):
            continue
        if not isinstance(paging, Mapping) or not isinstance(paging.get("page"), int):
            continue
        key = tuple(sorted((name, str(value)) for name, value in one.query.items() if name != "page"))
        own = pages.setdefault(key, {})
        own[paging["page"]] = [row for row in rows if isinstance(row, Mapping)]
        if list(range(1, len(own) + 1)) == sorted(own) and paging.get("total_pages") == len(own):
            found = [row for number in sorted(own) for row in own[number]]
    if found is None and is_read:
        report(f"GET {path}: only part of the list was recorded, so it is not a fact")
    return found or []


def _rates(calls: Iterable[Seen]) -> list[JsonObject]:
    """Return the last rate of each pair, in the order in which the pairs were first read."""
    found: dict[tuple[object, ...], JsonObject] = {}
    for one in calls:
        names = ("type", "network", "asset", "fiat_currency")
        if one[:2] == ("GET", "/rates") and isinstance(one.response.get("rate"), str) and _is_named(one.response):
            row = {name: str(one.response.get(name, one.query.get(name))) for name in names}
            found[tuple(row.values())] = {**row, "rate": one.response["rate"]}
    return list(found.values())
