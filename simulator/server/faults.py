"""Faults of the interface: which call is disturbed, and how (control interface, chapter "Faults").

The rows are data in the table FAULTS, each the fault as given plus `id`, `times_left`, `hits` and, for a fault
that belongs to a scenario, `scenario`. Webhook faults lie in the same table and are the webhooks room's.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any

from simulator.kernel.clock import SECOND_MS, parse_duration
from simulator.kernel.world import ENVIRONMENTS, World
from simulator.resources.auth import key_pair
from simulator.server.messages import WITHOUT_BODY, Outgoing
from simulator.wire.faults import FAULTS, LONGEST_DELAY_MS
from simulator.wire.json import JsonObject, dumps
from simulator.wire.records import find


def doubts(world: World, fault: JsonObject) -> list[str]:
    """Why a checked fault may never be hit as the world is now: a key or an endpoint that it does not have."""
    found = []
    key = fault.get("match", {}).get("public_key")
    if key is not None:
        pairs = [pair for environment in ENVIRONMENTS if (pair := key_pair(world, environment, key)) is not None]
        if not pairs:
            found.append(f"match.public_key: no key pair of the world {world.id} has the public key {key!r}")
        elif pairs[0].status == "revoked":
            found.append(f"match.public_key: the key pair {key!r} is revoked")
    endpoint = fault.get("webhook", {}).get("endpoint_id")
    if endpoint is not None and getattr(find(world, endpoint), "kind", "") != "webhook":
        found.append(f"webhook.endpoint_id: no endpoint of the world {world.id} has the id {endpoint!r}")
    return found


class Interference:
    """What one fault does to one call."""

    def __init__(self, fault: JsonObject) -> None:
        self._fault = fault
        delay = fault.get("delay")
        span_ms = 0 if delay is None else parse_duration(delay)
        self.delay_seconds = min(span_ms, LONGEST_DELAY_MS) / SECOND_MS
        self.after_commit: bool = fault.get("after_commit", False)
        self.replaces = fault.get("respond") is not None or bool(fault.get("drop"))

    def answer(self, request_id: str) -> Outgoing:
        """The answer in place of the true one."""
        respond: dict[str, Any] | None = self._fault.get("respond")
        if respond is None or self._fault.get("drop"):
            return Outgoing(0, cut=True, headers={"X-Request-Id": request_id})
        message = respond.get("message") or "A fault that was asked for."
        body = dumps({"error": {"code": respond["code"], "message": message, "request_id": request_id}})
        headers = {"X-Request-Id": request_id}
        if respond.get("retry_after") is not None:
            headers["Retry-After"] = str(respond["retry_after"])
        return self.disturb(Outgoing(respond["status"], body, headers))

    def disturb(self, outgoing: Outgoing) -> Outgoing:
        """The answer with a body that was cut short or is no JSON; one without a body stays as it is."""
        if outgoing.status in WITHOUT_BODY:
            return outgoing
        if self._fault.get("malformed") == "truncate":
            outgoing.body = outgoing.body[: len(outgoing.body) // 2]
        elif self._fault.get("malformed") == "garbage":
            outgoing.body = b"<html><body>Bad gateway</body></html>"
        return outgoing


def choose(world: World, method: str, path: str, public_key: str | None) -> Interference | None:
    """The first fault in force that matches this call; it counts as hit. Inside a change."""
    table = world.store[FAULTS]
    if not table.rows:
        return None
    for row in list(table.values()):
        if "match" not in row or row["times_left"] == 0 or not _fits(row["match"], method, path, public_key):
            continue
        probability = row.get("probability")
        if probability is not None and world.streams.fraction("faults") >= probability:
            continue
        left = row["times_left"]
        table.put(row["id"], row | {"hits": row["hits"] + 1, "times_left": None if left is None else left - 1})
        return Interference(row)
    return None


def _fits(match: JsonObject, method: str, path: str, public_key: str | None) -> bool:
    wanted_method, wanted_path, wanted_key = match.get("method"), match.get("path"), match.get("public_key")
    return (
        (wanted_method is None or wanted_method.upper() == method)
        and (wanted_path is None or fnmatchcase(path, wanted_path))
        and (wanted_key is None or wanted_key == public_key)
    )
