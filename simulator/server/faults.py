"""Faults of the interface: which call is disturbed, and how (control interface, chapter "Faults").

The rows are data in the store table "faults", each the fault as given plus `id`, `times_left`, `hits` and, for a fault
that belongs to a scenario, `scenario`. Webhook faults lie in the same table and are the webhooks room's.
"""

from __future__ import annotations

from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import Field

from simulator.kernel.clock import MINUTE_MS, SECOND_MS, format_duration, parse_duration
from simulator.kernel.world import ENVIRONMENTS, World
from simulator.resources.auth import key_pair
from simulator.resources.webhooks import LONGEST_SLOWNESS_MS
from simulator.server.messages import WITHOUT_BODY, Outgoing
from simulator.wire.errors import invalid
from simulator.wire.events import EVENT_TYPES
from simulator.wire.fields import Body, FreeText, Text, parse
from simulator.wire.globs import can_match, meant_path
from simulator.wire.json import JsonObject, dumps
from simulator.wire.operation import Operation
from simulator.wire.records import find
from simulator.wire.strict import did_you_mean, refuse_unknown

TABLE = "faults"
LONGEST_DELAY_MS = 10 * MINUTE_MS


class Match(Body):
    """Which calls: all that are named must fit; `path` is a glob on the path below the base (`/quotes/*/confirm`)."""

    method: Text | None = None
    path: Annotated[Text, Field(max_length=500)] | None = None
    public_key: Text | None = None


class Respond(Body):
    """The error envelope that is answered instead of the true answer; any code may stand in it.

    `retry_after` (seconds) becomes the header Retry-After.
    """

    status: Annotated[int, Field(ge=200, le=599)]
    code: Text
    message: FreeText | None = None
    retry_after: Annotated[int, Field(ge=0)] | None = None


class InterfaceFault(Body):
    """A fault of interface calls: the first one that matches acts, after authentication, on the call.

    `delay`: wall time, at most 10 minutes. `drop`: the connection is cut and no work done. `malformed`: the body is cut
    in half, or is no JSON. `after_commit`: the work is done and the true answer stored for its Idempotency-Key, then
    the answer is replaced by `respond`, or lost with `drop`. `times`: how many calls it acts on; `probability` is
    drawn from the world's seed.
    """

    match: Match
    respond: Respond | None = None
    delay: Text | float | None = None
    drop: bool = False
    malformed: Literal["truncate", "garbage"] | None = None
    after_commit: bool = False
    times: Annotated[int, Field(ge=1)] | None = None
    probability: Annotated[float, Field(ge=0, le=1)] | None = None


class WebhookMatch(Body):
    """Which deliveries."""

    event: Text | None = None
    endpoint_id: Text | None = None


class Deliver(Body):
    """What happens to a delivery.

    `copies`: how often it is sent in all. `delay`: simulated time before it goes. `reorder`: it is held until the next
    first attempt to the endpoint has been answered; one that is held itself does not count. `drop`: it is lost and not
    retried. `corrupt_signature`: X-Signature is wrong. `stale_timestamp`: X-Timestamp is 10 minutes old, and signed.
    `alter_body`: the body differs from what was signed. `slow`: wall time before it is sent, at most one minute.
    """

    copies: Annotated[int, Field(ge=1, le=100)] | None = None
    delay: Text | float | None = None
    reorder: bool = False
    drop: bool = False
    corrupt_signature: bool = False
    stale_timestamp: bool = False
    alter_body: bool = False
    slow: Text | float | None = None


class WebhookFault(Body):
    """A fault of webhook deliveries; `times` counts attempts."""

    webhook: WebhookMatch
    deliver: Deliver
    times: Annotated[int, Field(ge=1)] | None = None
    probability: Annotated[float, Field(ge=0, le=1)] | None = None


def check_fault(raw: JsonObject, operations: Iterable[Operation]) -> JsonObject:
    """A fault as it will be kept; ApiError 400 with dotted `param` when it is malformed or can match no call."""
    fault = read_fault(raw)
    if "match" in fault:
        _check_match(Match.model_validate(fault["match"]), operations)
    return fault


def read_fault(raw: JsonObject) -> JsonObject:
    """A fault of the right shape, whether or not any call can meet it; ApiError 400 with dotted `param`."""
    if "webhook" in raw or "deliver" in raw:
        refuse_unknown(WebhookFault, raw)
        webhook = parse(WebhookFault, raw, code="invalid_parameter")
        event = webhook.webhook.event
        if event is not None and event not in EVENT_TYPES:
            raise invalid("webhook.event", f"there is no event type {event!r}{did_you_mean(event, EVENT_TYPES)}")
        if all(getattr(webhook.deliver, name) in (None, False) for name in Deliver.model_fields):
            raise invalid("deliver", f"it says at least one of {', '.join(Deliver.model_fields)}")
        _check_delay(webhook.deliver.delay, "deliver.delay")
        _check_delay(webhook.deliver.slow, "deliver.slow", LONGEST_SLOWNESS_MS)
        return webhook.model_dump(exclude_unset=True)
    refuse_unknown(InterfaceFault, raw)
    fault = parse(InterfaceFault, raw, code="invalid_parameter")
    _check_delay(fault.delay, "delay", LONGEST_DELAY_MS)
    if fault.respond is None and not _spans(fault.delay) and not fault.drop and fault.malformed is None:
        raise invalid("respond", "a fault responds, delays, drops or malforms")
    if fault.after_commit and fault.respond is None and not fault.drop:
        raise invalid("respond", "after_commit replaces the answer by respond, or loses it with drop")
    return fault.model_dump(exclude_unset=True)


def _check_match(match: Match, operations: Iterable[Operation]) -> None:
    """400 for a path that no operation has, and for a method that is not possible there."""
    rows = list(operations)
    if match.path is not None:
        rows = [row for row in rows if can_match(match.path, row.path)]
        if not rows:
            meant = meant_path(match.path, [row.path for row in operations])
            hint = f"; did you mean {meant}?" if meant else ""
            raise invalid("match.path", f"no path below the base (/v1) can be {match.path!r}{hint}")
    methods = dict.fromkeys(method for row in rows for method in (row.method, *(("HEAD",) * (row.method == "GET"))))
    if match.method is not None and match.method.upper() not in methods:
        where = "" if match.path is None else f" at {match.path}"
        raise invalid("match.method", f"{match.method} is not possible{where}, only {', '.join(methods)}")


def _check_delay(delay: str | float | None, param: str, longest_ms: int | None = None) -> None:
    if delay is None:
        return
    try:
        span_ms = parse_duration(delay)
    except ValueError as error:
        raise invalid(param, str(error)) from None
    if longest_ms is not None and span_ms > longest_ms:
        raise invalid(param, f"it is wall time, at most {format_duration(longest_ms)}")


def _spans(delay: str | float | None) -> bool:
    return delay is not None and parse_duration(delay) > 0


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


def add_fault(world: World, fault: JsonObject, scenario: str | None = None) -> JsonObject:
    """Put a checked fault in force; inside a change."""
    row = {
        "id": world.streams.identifier("flt_", "ids.fault"),
        **fault,
        "times_left": fault.get("times"),
        "hits": 0,
        "scenario": scenario,
    }
    world.store.table(TABLE).put(row["id"], row)
    return row


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
    """The first fault in force that matches this call; it counts as hit."""
    table = world.store.table(TABLE)
    if not table.rows:
        return None
    for row in list(table.values()):
        if "match" not in row or row["times_left"] == 0 or not _fits(row["match"], method, path, public_key):
            continue
        with world.store.change():
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
