"""Withholds the deliveries about one object during a test, and makes them after the test in a given sequence."""

from __future__ import annotations

import json
from collections.abc import Callable
from urllib.parse import quote

from simulator.engine.text.json import JsonObject
from simulator.exploration.runs.armed import ArmedWorld
from simulator.exploration.runs.tasks import Document

_MOST_ATTEMPTS = 4
"""The number of times that a refused event is delivered again, because the service also retries."""


def play(one: ArmedWorld, books: Callable[[], JsonObject]) -> Document:
    """Deliver events about one object in the sequence of the plan, and then each refused event once more. Return the
    response to the last delivery (`answer`) and the books after it (`books`, a list or None).
    """
    plan = one.plan["orders"]
    ids = _events(one, plan["object"])
    refused: list[int] = []
    answer: int | None = None
    for number in plan["path"]:
        if number < len(ids):
            answer = _deliver(one, ids[number])
            refused = [*(event for event in refused if event != number), *([] if _is_good(answer) else [number])]
    found: Document = {"answer": answer, "books": books().get("books")}
    for number in refused:
        for _ in range(_MOST_ATTEMPTS):
            if _is_good(_deliver(one, ids[number])):
                break
    return found


def _events(one: ArmedWorld, number: int) -> list[str]:
    """Return the ids of the events of a world's n-th object that are sent to a receiver, oldest first."""
    attempted = {row["event_id"] for row in one.world.deliveries()}
    objects: dict[str, list[str]] = {}
    for event in one.world.events():
        if event["id"] in attempted and event["type"] != "webhook.test":
            objects.setdefault(str(event["data"]["object"].get("id", "")), []).append(event["id"])
    return [*objects.values()][number] if number < len(objects) else []


def _deliver(one: ArmedWorld, event: str) -> int | None:
    """Deliver an event to all its endpoints. Return the first failed status or the last one, None for no response."""
    before = len(one.world.deliveries())
    one.world.control("POST", f"/events/{quote(event, safe='')}/resend", {}, query={"wait": "true"})
    rows = one.world.deliveries()[before:]
    statuses: list[int | None] = [row["response_status"] for row in rows if row["event_id"] == event]
    return next((status for status in statuses if not _is_good(status)), statuses[-1] if statuses else None)


def _is_good(status: int | None) -> bool:
    return status is not None and 200 <= status < 300


def canonical(rows: object) -> str:
    """Return books as a string that does not depend on the order of their rows."""
    if not isinstance(rows, list):
        return ""
    return "; ".join(sorted(json.dumps(row, sort_keys=True) for row in rows))
