"""What came of a test, read from its worlds: calls, deliveries, transactions, and where the money is."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote_plus

from simulator.engine.rows.bases import split_base
from simulator.exploration.judgement.normalisation import same
from simulator.exploration.runs.tasks import Document
from simulator.host import vocabulary

if TYPE_CHECKING:
    from simulator.exploration.runs.armed import ArmedWorld
    from simulator.testing.worlds import World

Found = dict[str, Any]
"""Plain JSON, so that it goes from a worker to the process that judges."""

_KIT_KEY = "receiver-"
"""How the idempotency keys begin under which receivers of the test kit register themselves."""
_NOT_GENUINE = frozenset({"corrupt_signature", "alter_body", "stale_timestamp"})
"""What a fault does to a delivery that a receiver has to refuse."""


class Mark(NamedTuple):
    """How many calls and attempts to deliver there were when a test ended: what came later is not its own."""

    calls: int
    deliveries: int

    @classmethod
    def of(cls, world: World) -> Mark:
        return cls(len(world.requests()), len(world.deliveries()))


def evidence_of(armed: Sequence[ArmedWorld], paid: Collection[str] = ()) -> Found:
    """Return what is judged: the money, in the worlds of a test in the order in which they were made.

    `paid`: the ids of transactions that were paid when the test was over.
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


def story_of(armed: Sequence[ArmedWorld], marks: Sequence[Mark]) -> Found:
    """What happened besides: calls and deliveries until the test ended, and all of it line by line."""
    found: Found = {"calls": [], "deliveries": [], "timeline": []}
    for one, mark in zip(armed, marks, strict=True):
        world = one.world
        delivered = _delivered_at(world.deliveries()[: mark.deliveries])
        found["calls"] += ({**row, "world": one.name} for row in _calls(world.requests()[: mark.calls], delivered))
        found["deliveries"] += ({**row, "world": one.name} for row in _deliveries(world, mark.deliveries))
        found["timeline"] += [
            [row["at"], row["what"], row["text"]] for row in world.control("GET", "/timeline")["data"]
        ]
    return found


def effects_of(armed: Sequence[ArmedWorld]) -> str:
    """Return a digest of all answers, deliveries and balances: the same if a fault changed none of them.

    Random references and what `same` leaves out do not count, so that two runs without faults have one digest.
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
    """Return by moment the events that were delivered then: the type, and how a call may name the object."""
    found: dict[str, list[tuple[str, set[str]]]] = {}
    for row in rows:
        about = _object_in(row["request_body"])
        names = {str(about[name]) for name in ("id", "reference") if about.get(name)}
        found.setdefault(row["attempted_at"], []).append((row["event_type"], names))
    return found


def _cause_of(row: Document, delivered: Mapping[str, list[tuple[str, set[str]]]]) -> str:
    """Return the type of the event to which a call reacts: the last one delivered at its moment about its object.

    The simulated clock waits while an event is handled, so this does not depend on how fast the receiver is. The
    journal cannot tell a handler from a test that asks for the same object at the same moment; that only makes one
    more group of calls.
    """
    asked = f"{row['path']} {unquote_plus(row['query'])}"
    types = [kind for kind, names in delivered.get(row["at"], ()) if any(name in asked for name in names)]
    return types[-1] if types else ""


def _calls(rows: Sequence[Document], delivered: Mapping[str, list[tuple[str, set[str]]]]) -> list[Found]:
    found = [{**_call(row), "cause": _cause_of(row, delivered)} for row in rows]
    for before, after in pairwise(found):
        if after["of_kit"] and not before["token"]:
            before["of_kit"] = True  # its sign-in
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
        "spends": {"symbol": symbol, "network": network} if symbol and network else None,
    }


def _deliveries(world: World, most: int) -> Iterator[Found]:
    """The first deliveries that were attempted, one for each event and endpoint."""
    rows = world.deliveries()[:most]
    caused = _caused_by_calls(world, {row["event_id"] for row in rows})
    told = [(str(_object_in(row["request_body"]).get("id", "")), row["event_type"]) for row in rows]
    for place, row in enumerate(rows):
        if row["attempt"] == 1 and row["event_type"] != "webhook.test":
            yield {
                "type": row["event_type"],
                "by_call": row["event_id"] in caused,
                "has_later_end": any((told[place][0], end) in told[place:] for end in _ends_after(row["event_type"])),
            }


def _ends_after(event: str) -> Collection[str]:
    """The types of the events for which a delivery can be held back."""
    return vocabulary().ends_after(event) if event in vocabulary().events else ()


def _caused_by_calls(world: World, events: set[str]) -> set[str]:
    """Those of these events that calls have caused: told at the moment of one that changed something."""
    moments = {row["at"] for row in world.requests() if row["method"] != "GET" and row["status"] < 300}
    return {row["id"] for row in world.events() if row["id"] in events and row["created_at"] in moments}


def _object_in(body: str) -> Document:
    """Return the object of an event as it was delivered; empty if the body has none."""
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
    """What the call that made an order asked for, also one whose answer nobody has read; None without a member."""
    origin = world.resource(order)["origin"] if member else None
    body = origin["body"] if origin else None
    return body.get(member) if isinstance(body, dict) else None


def _at(row: Document, path: str) -> Any:
    """The value at a dotted path of an order; None where it has none."""
    found: Any = row
    for name in path.split("."):
        found = found.get(name) if isinstance(found, dict) else None
    return found


def _switched_off(world: World, resources: Sequence[Document]) -> list[str]:
    """The types of the events that an application refused until their endpoint was disabled."""
    disabled = {row["id"] for row in resources if row["kind"] == "webhook" and row["status"] == "disabled"}
    if not disabled:
        return []
    rows = [row for row in world.deliveries() if row["endpoint_id"] in disabled]
    last = max((row["attempt"] for row in rows), default=0)
    refused = [row for row in rows if row["attempt"] == last and (row["response_status"] or 200) >= 300]
    return [row["event_type"] for row in refused[: len(disabled)]]


def not_genuine(world: World) -> list[str]:
    """Return the event types of deliveries that were acknowledged although a fault forged them or made them stale.

    The delivery itself records what was done to it when it was sent. Keys, clock and settings may all have changed
    since, so its headers cannot be judged afterwards.
    """
    return [
        row["event_type"]
        for row in world.deliveries()
        if row["response_status"] in range(200, 300) and not _NOT_GENUINE.isdisjoint(row["faults"])
    ]
