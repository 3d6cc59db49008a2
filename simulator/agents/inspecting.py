"""The tool `inspect`: the state and history of a world, as short lists."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from fnmatch import fnmatchcase

from simulator.agents import inputs
from simulator.agents.answers import page, picked
from simulator.agents.session import Session, ToolRefused, lacking
from simulator.engine.clients.control import segment
from simulator.engine.text.json import JsonObject, Shown, object_in
from simulator.kernel.dataclass import dataclass
from simulator.service import SIGNATURE, TOOLING

NEWEST = 1_000
"""A list searches only this many of the newest items."""
_OF_RESOURCES = (
    "id", "kind", "type", "status", "reference", "amount", "source_amount", "destination_amount", "label", "name",
)  # fmt: skip
_OF_DELIVERIES = (
    "id", "attempted_at", "event_type", "event_id", "url", "attempt", "status", "response_status", "error",
    "next_attempt_at",
)  # fmt: skip

_TEST = "webhook.test"
"""The event type of the test request that is sent when an endpoint is registered. The key is not known until later, so
this request cannot be verified.
"""


def inspect(session: Session, given: inputs.InspectInput) -> JsonObject:
    """Show the state and history of a world without changing it. `what: resource` with an id shows an object's history,
    the cause of each change, and possible actions. `requests`, `events`, `deliveries` and `inbox` list rows, newest
    first. `reference` lists the test values that determine outcomes. Returns rows, and next_cursor if there are more.
    """
    return _LOOKS[given.what](session, given)


def _overview(session: Session, given: inputs.InspectInput) -> JsonObject:
    control = session.control(given.world)
    rows = control.get("/resources")["data"]
    kinds: dict[str, int] = {}
    for row in rows:
        named = f"{row['kind']} {row['status']}" if row.get("status") else str(row["kind"])
        kinds[named] = kinds.get(named, 0) + 1
    deliveries = control.get("/deliveries")["data"]
    findings = control.get("/advice")["data"]
    return {
        "world": given.world or session.world,
        "clock": control.get("/clock"),
        "resources": kinds,
        "requests": len(control.get("/requests")["data"]),
        "events": len(control.get("/events")["data"]),
        "deliveries": {"all": len(deliveries), "failed": sum(row["status"] == "failed" for row in deliveries)},
        "advice": [f"{row['severity']}: {row['message']}" for row in findings],
    }


def _resource(session: Session, given: inputs.InspectInput) -> JsonObject:
    story = session.control(given.world).get(f"/resources/{segment(_id(given))}")
    if given.fields:
        return picked(story, given.fields)
    return {
        "kind": story["kind"],
        "resource": story["resource"],
        "story": [f"{row['at']} {row['state']}: by {row['cause']['text']}" for row in story["history"]],
        "possible_now": story["allowed"],
        "not_now": [f"{row['action']}: {row['reason']}" for row in story["refused"]],
        "events": [f"{row['at']} {row['type']} ({row['id']})" for row in story["events"]],
        "scenario": (story["origin"] or {}).get("scenario"),
    }


def _one(session: Session, given: inputs.InspectInput, path: str) -> JsonObject:
    wanted = _id(given)
    for row in session.control(given.world).get(path)["data"]:
        if row["id"] == wanted:
            return picked(row, given.fields) if given.fields else dict(row)
    raise ToolRefused(
        "not_found", f"This world has no {given.what} with the id {wanted!r}. List them with `what: {path[1:]}`.",
        param="id", status=404,
    )  # fmt: skip


def _resources(session: Session, given: inputs.InspectInput) -> JsonObject:
    rows = session.control(given.world).get("/resources", type=given.type)["data"]
    return _listed(given, rows, lambda row: _present(row, _OF_RESOURCES))


def _requests(session: Session, given: inputs.InspectInput) -> JsonObject:
    rows = session.control(given.world).get("/requests", limit=NEWEST, status=given.status)["data"]
    wanted = given.path or "*"
    rows = [row for row in rows if fnmatchcase(row["path"], wanted) and (given.id or "") in str(row)]
    return _listed(given, rows, _short_request)


def _short_request(row: Shown) -> JsonObject:
    response = row["response"] if isinstance(row["response"], Mapping) else {}
    error = response.get("error")
    short = {"id": row["id"], "at": row["at"], "call": f"{row['method']} {row['path']}", "status": row["status"]}
    more = {"error": error.get("code")} if isinstance(error, Mapping) else {"made": response.get("id")}
    return {**short, **_present(more, more), **({"advice": row["advice"]} if row["advice"] else {})}


def _events(session: Session, given: inputs.InspectInput) -> JsonObject:
    rows = session.control(given.world).get("/events", limit=NEWEST, type=given.type, object_id=given.id)["data"]

    def short(row: Shown) -> JsonObject:
        about = row["data"]["object"]
        of_object = {"object_id": about.get("id"), "object_status": about.get("status")}
        return {"id": row["id"], "at": row["created_at"], "type": row["type"], **of_object}

    return _listed(given, rows, short)


def _deliveries(session: Session, given: inputs.InspectInput) -> JsonObject:
    rows = session.control(given.world).get("/deliveries", limit=NEWEST, status=given.status)["data"]
    rows = [row for row in rows if (given.id or "") in str(row)]
    return _listed(given, rows, lambda row: _present(row, _OF_DELIVERIES))


def _present(row: Shown, names: Iterable[str]) -> JsonObject:
    return {name: row[name] for name in names if row.get(name) is not None}


def _inbox(session: Session, given: inputs.InspectInput) -> JsonObject:
    name = given.id or given.world or session.world
    rows = session.control(given.world).get(f"/inbox/{segment(name)}")["data"]
    keys = webhook_keys(session, given.world)
    shown = [message.shown() for message in messages(rows, keys)]
    return {"inbox": name, **_listed(given, shown, dict, key="event_id")}


@dataclass(frozen=True)
class Message:
    """A received webhook. `why_not` is the reason why verification failed, or empty if it succeeded."""

    type: str
    event_id: str
    object_id: str
    object_status: str | None
    answered: int
    why_not: str

    @property
    def genuine(self) -> bool:
        return not self.why_not

    def shown(self) -> JsonObject:
        row: JsonObject = {
            "event": self.type,
            "event_id": self.event_id,
            "object_id": self.object_id,
            "object_status": self.object_status,
            "genuine": self.genuine,
            "answered": self.answered,
        }
        return row if self.genuine else {**row, "why_not": self.why_not}


def messages(rows: Iterable[Shown], keys: Iterable[str]) -> Iterator[Message]:
    """Yield the messages in an inbox, oldest first, without test requests. A message is genuine if its signature
    matches any of the keys.
    """
    keys = tuple(keys)
    for row in rows:
        event = object_in(row["body"])
        if event.get("type") == _TEST:
            continue
        data = event.get("data")
        about = data.get("object") if isinstance(data, dict) else None
        about = about if isinstance(about, dict) else {}
        came_ms = datetime.fromisoformat(row["at"]).timestamp() * 1000
        problem = SIGNATURE.problem(row["headers"], row["body"].encode(), keys, came_ms)
        names = (str(event.get("type", "")), str(event.get("id", "")), str(about.get("id", "")))
        yield Message(*names, about.get("status"), row["status"], problem)


def webhook_keys(session: Session, world: str | None) -> list[str]:
    """Return the webhook keys of all environments of a world."""
    return [keys["webhook_key"] for keys in session.world_object(world)["credentials"].values()]


def _timers(session: Session, given: inputs.InspectInput) -> JsonObject:
    rows = session.control(given.world).get("/timers")["data"]
    return {"data": rows[:20], "of": len(rows)}


def _search(session: Session, given: inputs.InspectInput) -> JsonObject:
    if not given.query:
        raise lacking("query", "`search` needs `query`.")
    return dict(session.control(given.world).get("/search", q=given.query))


def _reference(session: Session, given: inputs.InspectInput) -> JsonObject:
    control = session.control(given.world)
    more = {**control.get("/reference"), "rates": control.get("/rates")}
    if given.fields:
        return picked({"test_values": TOOLING.test_values(), **more}, given.fields)
    return {"test_values": TOOLING.test_values(), "also": sorted(more)}


def _listed(
    given: inputs.InspectInput, rows: list[JsonObject], short: Callable[[Shown], JsonObject], key: str = "id"
) -> JsonObject:
    """Return one page of items. An item contains the requested fields, or by default those that `short` selects."""
    shown = [{"id": row.get("id"), **picked(row, given.fields)} if given.fields else short(row) for row in rows]
    for number, row in enumerate(shown):
        row.setdefault(key, str(number))
    return page(shown, lambda row: str(row[key]), given.cursor, given.max_characters)


def _id(given: inputs.InspectInput) -> str:
    if given.id is None:
        raise lacking("id", f"`{given.what}` needs `id`.")
    return given.id


_LOOKS: Mapping[str, Callable[[Session, inputs.InspectInput], JsonObject]] = {
    "overview": _overview,
    "resource": _resource,
    "resources": _resources,
    "request": lambda session, given: _one(session, given, "/requests"),
    "requests": _requests,
    "events": _events,
    "event": lambda session, given: _one(session, given, "/events"),
    "deliveries": _deliveries,
    "inbox": _inbox,
    "emails": lambda session, given: _listed(given, session.control(given.world).get("/emails")["data"], dict),
    "timers": _timers,
    "search": _search,
    "reference": _reference,
}
