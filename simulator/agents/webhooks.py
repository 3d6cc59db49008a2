"""Verification of the messages in a built-in inbox, in the same way as a receiver would verify them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from simulator.engine.text.json import JsonObject, Shown, object_in
from simulator.kernel.dataclass import dataclass
from simulator.service import SIGNATURE

TEST = "webhook.test"
"""The event type of the test request that is sent when an endpoint is registered. The key is not known until later, so
this request cannot be verified.
"""


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
        if event.get("type") == TEST:
            continue
        data = event.get("data")
        about = data.get("object") if isinstance(data, dict) else None
        about = about if isinstance(about, dict) else {}
        came_ms = datetime.fromisoformat(row["at"]).timestamp() * 1000
        problem = SIGNATURE.problem(row["headers"], row["body"].encode(), keys, came_ms)
        names = (str(event.get("type", "")), str(event.get("id", "")), str(about.get("id", "")))
        yield Message(*names, about.get("status"), row["status"], problem)
