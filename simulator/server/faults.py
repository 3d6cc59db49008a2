"""Faults of the interface: which call is disturbed, and how (control interface, chapter "Faults").

The rows are data in the store table "faults", each the fault as given plus `id`, `times_left`, `hits` and, for a fault
that belongs to a scenario, `scenario`. Webhook faults lie in the same table and are the webhooks room's.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import Field

from simulator.kernel.clock import SECOND_MS, parse_duration
from simulator.kernel.world import World
from simulator.server.messages import Outgoing
from simulator.wire.errors import invalid
from simulator.wire.events import EVENT_TYPES
from simulator.wire.fields import Body, FreeText, Text, parse
from simulator.wire.json import JsonObject, dumps

TABLE = "faults"
_MAX_DELAY_SECONDS = 600


class Match(Body):
    """Which calls: all that are named must fit; `path` is a glob on the path below the base."""

    method: Text | None = None
    path: Text | None = None
    public_key: Text | None = None


class Respond(Body):
    """The answer instead of the true one; `body` replaces the error envelope byte for byte."""

    status: Annotated[int, Field(ge=200, le=599)]
    code: Text
    message: FreeText | None = None
    retry_after: Annotated[int, Field(ge=0)] | None = None


class InterfaceFault(Body):
    """A fault of interface calls."""

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
    """What happens to the delivery."""

    copies: Annotated[int, Field(ge=1, le=100)] | None = None
    delay: Text | float | None = None
    reorder: bool = False
    drop: bool = False
    corrupt_signature: bool = False
    stale_timestamp: bool = False
    alter_body: bool = False
    slow: Text | float | None = None


class WebhookFault(Body):
    """A fault of webhook deliveries."""

    webhook: WebhookMatch
    deliver: Deliver
    times: Annotated[int, Field(ge=1)] | None = None
    probability: Annotated[float, Field(ge=0, le=1)] | None = None


def check_fault(raw: JsonObject) -> JsonObject:
    """A fault as it will be kept; ApiError 400 with dotted `param` when it is malformed."""
    if "webhook" in raw or "deliver" in raw:
        webhook = parse(WebhookFault, raw, code="invalid_parameter")
        if webhook.webhook.event is not None and webhook.webhook.event not in EVENT_TYPES:
            raise invalid("webhook.event", f"there is no event type {webhook.webhook.event!r}")
        if not webhook.deliver.model_fields_set:
            raise invalid("deliver", f"it says at least one of {', '.join(Deliver.model_fields)}")
        _check_delay(webhook.deliver.delay, "deliver.delay")
        _check_delay(webhook.deliver.slow, "deliver.slow")
        _refuse_unknown(webhook)
        return webhook.model_dump(exclude_unset=True)
    fault = parse(InterfaceFault, raw, code="invalid_parameter")
    _check_delay(fault.delay, "delay")
    _refuse_unknown(fault)
    if fault.respond is None and fault.delay is None and not fault.drop and fault.malformed is None:
        raise invalid("respond", "a fault responds, delays, drops or malforms")
    if fault.after_commit and fault.respond is None and not fault.drop:
        raise invalid("respond", "after_commit replaces the answer by respond, or loses it with drop")
    return fault.model_dump(exclude_unset=True)


def _check_delay(delay: str | float | None, param: str) -> None:
    if delay is None:
        return
    try:
        parse_duration(delay)
    except ValueError as error:
        raise invalid(param, str(error)) from None


def _refuse_unknown(fault: Body, prefix: str = "") -> None:
    for name in fault.model_extra or ():
        raise invalid(prefix + name, "a fault has no such member")
    for name in type(fault).model_fields:
        value = getattr(fault, name)
        if isinstance(value, Body):
            _refuse_unknown(value, f"{prefix}{name}.")


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
        self.delay_seconds = min(span_ms / SECOND_MS, _MAX_DELAY_SECONDS)
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
        """The answer with a body that was cut short or is no JSON."""
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
