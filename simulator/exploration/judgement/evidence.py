"""The evidence from a test, collected from its worlds: calls, deliveries, transactions, and the money of each party."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any
from urllib.parse import unquote_plus

from simulator.engine.rows.provider import split_base
from simulator.engine.text.json import JsonObject
from simulator.exploration.runs.armed import ArmedWorld
from simulator.exploration.runs.tasks import Document, Result
from simulator.host import vocabulary
from simulator.testing.worlds import World

_CHANGES = (
    (re.compile(r"(127\.0\.0\.1|localhost|\[::1\]):\d+"), r"\1:PORT"),
    (re.compile(r"\bx\d+-\d+-[br][\w-]*"), "WORLD"),
    (re.compile(r"\bat 0x[0-9a-f]{6,}"), "at ADDRESS"),
    (re.compile(r"\bpytest-of-[^/\s]+/pytest-\d+/([\w.-]*?)\d+\b"), r"pytest/\1"),
)
"""Patterns and their replacements: local ports, world ids, memory addresses, pytest's temporary directories."""


def same(text: str) -> str:
    """Replace the parts of a string that change from run to run, such as ports and durations, with fixed text."""
    for pattern, instead in _CHANGES:
        text = pattern.sub(instead, text)
    return text


def same_result(result: Result) -> Result:
    """Normalise a run's result: the failure, the reason why records are unreadable, and the history."""
    result = {**result, "failure": same(result["failure"])}
    evidence = result["evidence"]
    if evidence:
        unread = {"unread": same(evidence["unread"])} if evidence.get("unread") else {}
        rows = evidence.get("timeline")
        timeline = {} if rows is None else {"timeline": [[*row[:-1], same(row[-1])] for row in rows]}
        result["evidence"] = {**evidence, **unread, **timeline}
    return result


Found = JsonObject
"""Plain JSON, because a worker sends the evidence to the process that determines the verdict."""

_KIT_KEY = "receiver-"
"""The prefix of the idempotency keys that test kit receivers use to register themselves."""
_NOT_GENUINE = frozenset({"corrupt_signature", "alter_body", "stale_timestamp"})
"""Mutations of a delivery that make it forged or stale, so that a receiver must refuse it."""


def evidence_of(armed: Sequence[ArmedWorld], paid: Collection[str] = ()) -> Found:
    """Return the evidence for the verdict on a run, from the test's worlds in the order of their creation. `paid`: the
    ids of transactions that were paid after the test ended.
    """
    found: Found = {"transactions": [], "standing": [], "switched_off": []}
    for one in armed:
        resources = one.world.control("GET", "/resources")["data"]
        found["transactions"] += (
            {**row, "world": one.name, "paid_after": row["id"] in paid} for row in _transactions(one.world, resources)
        )
        found["switched_off"] += _switched_off(one.world, resources)
        found["standing"] += [
            {"reference": row["reference"] or "", "status": row["status"]}
            for row in resources
            if row["kind"] in vocabulary().provider.money.standing
        ]
    return found


def history_of(armed: Sequence[ArmedWorld], ends: Sequence[tuple[int, int]]) -> Found:
    """Return the history: calls and deliveries of the test, and a timeline of everything. `ends`: the number of calls
    and delivery attempts in each world when the test ended.
    """
    found: Found = {"calls": [], "deliveries": [], "timeline": []}
    for one, (calls_end, deliveries_end) in zip(armed, ends, strict=True):
        world = one.world
        delivered = _delivered_at(world.deliveries()[:deliveries_end])
        found["calls"] += ({**row, "world": one.name} for row in _calls(world.requests()[:calls_end], delivered))
        found["deliveries"] += ({**row, "world": one.name} for row in _deliveries(world, deliveries_end))
        calls = {row["id"]: row for row in world.requests()}
        found["timeline"] += [
            [row["at"], row["what"], row["text"] + _details(calls.get(row["id"]))]
            for row in world.control("GET", "/timeline")["data"]
        ]
    return found


CALLER = "x-rampsim-caller"
"""The request header that contains the source line that makes a call. See `runs.callers`."""


def _details(call: Document | None) -> str:
    """Return the amount in a call, and the source line that makes the call, for the timeline."""
    if call is None:
        return ""
    body = call["body"] if isinstance(call["body"], dict) else {}
    currency = body.get("amount_currency") or body.get("symbol") or ""
    shown = [f"{body['amount']} {currency}".strip()] if body.get("amount") else []
    line = call["headers"].get(CALLER)
    shown += [f"by {line}"] if line else []
    return f" ({', '.join(shown)})" if shown else ""


def effects_of(armed: Sequence[ArmedWorld]) -> str:
    """Return a digest of all responses, deliveries and balances. A fault without a visible effect does not change it.
    References, and the random values that `same` replaces, do not affect it.
    """
    shown: list[object] = []
    for one in armed:
        world = one.world
        resources = world.control("GET", "/resources")["data"]
        rows = world.requests()
        calls = [
            [row["at"], row["method"], row["path"], row["query"], row["status"], row["response"]]
            for row, call in zip(rows, _calls(rows, {}), strict=True)
            if not call["of_kit"] and call["token"]
        ]
        attempts = [
            [row["attempted_at"], row["request_body"], row["attempt"], row["response_status"], row["error"]]
            for row in world.deliveries()
        ]
        balances = [[row["currency"], row["account"], f"{row['amount']:f}"] for row in world.ledger().accounts]
        text = json.dumps([calls, attempts, balances], sort_keys=True)
        references = dict.fromkeys(row["reference"] for row in resources if row.get("reference"))
        for number, reference in enumerate(references):
            text = text.replace(reference, f"<reference {number}>")
        shown.append(same(text))
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()


def _delivered_at(rows: Sequence[Document]) -> dict[str, list[tuple[str, set[str]]]]:
    """Return the delivered events by time of delivery, each as its type and the id and reference of its object."""
    found: dict[str, list[tuple[str, set[str]]]] = {}
    for row in rows:
        about = _object_in(row["request_body"])
        names = {str(about[name]) for name in ("id", "reference") if about.get(name)}
        found.setdefault(row["attempted_at"], []).append((row["event_type"], names))
    return found


def _cause_of(row: Document, delivered: Mapping[str, list[tuple[str, set[str]]]]) -> str:
    """Return the type of the event that a call reacts to: the last event about its object delivered at the same time.

    The simulated clock is paused while an event is being handled, so the result does not depend on the receiver's
    speed. A test that reads the same object at the same time looks like a handler. That only creates one more group of
    calls.
    """
    asked = f"{row['path']} {unquote_plus(row['query'])}"
    types = [kind for kind, names in delivered.get(row["at"], ()) if any(name in asked for name in names)]
    return types[-1] if types else ""


def _calls(rows: Sequence[Document], delivered: Mapping[str, list[tuple[str, set[str]]]]) -> list[Found]:
    found = [{**_call(row), "cause": _cause_of(row, delivered)} for row in rows]
    for before, after in pairwise(found):
        if after["of_kit"] and not before["token"]:
            before["of_kit"] = True  # the token exchange before a call of the test kit
    return found


def _call(row: Document) -> Found:
    headers, body = row["headers"], row["body"] if isinstance(row["body"], dict) else {}
    key = headers.get("idempotency-key", "")
    path = split_base(vocabulary().provider.environments, row["path"])[1]
    symbol = body.get("symbol") or (body.get("source") or {}).get("symbol") if isinstance(body, dict) else None
    network = body.get("network") or (body.get("source") or {}).get("network")
    answer = row["response"] if isinstance(row["response"], dict) else {}
    return {
        "operation": row["operation"],
        "method": row["method"],
        "path": path,
        "status": row["status"],
        "token": row["operation"] != "create_token",
        "keyed": bool(key),
        "of_kit": key.startswith(_KIT_KEY) and row["operation"] == "create_webhook",
        "network": str(network or answer.get("network") or "").lower() or None,
        "names": sorted({*(part for part in path.split("/") if "_" in part), *_named_in(body), *_named_in(answer)}),
        "spends": {"symbol": symbol, "network": network} if symbol and network else None,
    }


def _named_in(value: object) -> Iterator[str]:
    """Yield the ids and references in a request or response body."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if (name == "id" or name.endswith("_id") or name == "reference") and isinstance(inner, str):
                yield inner
            yield from _named_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _named_in(inner)


def _deliveries(world: World, most: int) -> Iterator[Found]:
    """Yield the first delivery attempt for each event and endpoint."""
    rows = world.deliveries()[:most]
    caused = _caused_by_calls(world, {row["event_id"] for row in rows})
    told = [(str(_object_in(row["request_body"]).get("id", "")), row["event_type"]) for row in rows]
    for place, row in enumerate(rows):
        if row["attempt"] == 1 and row["event_type"] != "webhook.test":
            ends = vocabulary().ends_after(row["event_type"]) if row["event_type"] in vocabulary().events else ()
            yield {
                "type": row["event_type"],
                "object": told[place][0],
                "by_call": row["event_id"] in caused,
                "has_later_end": any((told[place][0], end) in told[place:] for end in ends),
            }


def _caused_by_calls(world: World, events: set[str]) -> set[str]:
    """Return which events were caused by a call: emitted at the time of a successful call other than GET."""
    moments = {row["at"] for row in world.requests() if row["method"] != "GET" and row["status"] < 300}
    return {row["id"] for row in world.events() if row["id"] in events and row["created_at"] in moments}


def _object_in(body: str) -> Document:
    """Return the object in a delivered event, or an empty object if there is none."""
    try:
        about = json.loads(body)["data"]["object"]
    except (ValueError, KeyError, TypeError):
        return {}
    return about if isinstance(about, dict) else {}


def _transactions(world: World, resources: Sequence[Document]) -> Iterator[Found]:
    details = {row["id"]: json.dumps(row["details"], sort_keys=True) for row in resources if "details" in row}
    orders = vocabulary().provider.money.orders
    held: dict[str, Decimal] = {}
    for entry in world.ledger().entries:
        for posting in entry["postings"]:
            if entry["resource_id"] and posting["account"] in ("clearing", "held"):
                held[entry["resource_id"]] = held.get(entry["resource_id"], Decimal(0)) + posting["amount"]
    for row in resources:
        order = orders.get(row["kind"])
        if order is None:
            continue
        amount, currency = str(_at(row, order.amount)), str(_at(row, order.currency))
        to = _at(row, order.to)
        to = details.get(to or "", to) or json.dumps(_asked_for(world, row["id"], order.asked), sort_keys=True)
        yield {
            "id": row["id"],
            "type": row["kind"],
            "status": row["status"],
            "reference": row.get("reference") or "",
            "destination": f"{row['kind']} {currency} to {to}",
            "amount": amount,
            "currency": currency,
            "holds": bool(held.get(row["id"])),
            "due": row.get("source_amount"),
            "asset": row.get("asset") or row.get("symbol"),
            "memo": _at(row, order.memo),
            "shown": {name: value for name, value in row.items() if name not in ("kind", "user_id", "environment")},
        }


def _asked_for(world: World, order: str, member: str) -> Any:
    """Return a field from the request that created an order, even if the response was lost. Missing fields are None."""
    origin = world.resource(order)["origin"] if member else None
    body = origin["body"] if origin else None
    return body.get(member) if isinstance(body, dict) else None


def _at(row: Document, path: str) -> Any:
    """Return the value at a dotted path, such as `a.b`, in a JSON object, or None if there is none."""
    found: Any = row
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _switched_off(world: World, resources: Sequence[Document]) -> list[str]:
    """Return the types of events that an application refused until its webhook endpoint was disabled."""
    disabled = {row["id"] for row in resources if row["kind"] == "webhook" and row["status"] == "disabled"}
    if not disabled:
        return []
    rows = [row for row in world.deliveries() if row["endpoint_id"] in disabled]
    last = max((row["attempt"] for row in rows), default=0)
    refused = [row for row in rows if row["attempt"] == last and (row["response_status"] or 200) >= 300]
    return [row["event_type"] for row in refused[: len(disabled)]]


def not_genuine(world: World) -> list[str]:
    """Return the event types of forged or stale deliveries that the application acknowledged. The simulator records
    them when it sends them, because keys, clock and settings can change later.
    """
    return [
        row["event_type"]
        for row in world.deliveries()
        if row["response_status"] in range(200, 300) and not _NOT_GENUINE.isdisjoint(row["faults"])
    ]
