"""The active faults: their table rows, the selection of the fault that applies, and its effects on a delivery. A server
without faults never loads the models in `models`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Annotated, Literal, NotRequired, TypeVar, cast

from pydantic import Field, with_config
from typing_extensions import TypedDict

from simulator.engine.faults import models as faults
from simulator.engine.faults import mutations
from simulator.engine.faults.effects import Effects
from simulator.engine.records.codec import StateError
from simulator.engine.records.saved import SavedCount, hold_against
from simulator.engine.rows.error import ApiError
from simulator.engine.text.fields import refusal_of
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Count
from simulator.kernel.clock import parse_duration
from simulator.kernel.dataclass import dataclass
from simulator.kernel.fields import Id, Milliseconds
from simulator.kernel.store import TableKey
from simulator.kernel.world import World


class FaultEntry(TypedDict):
    """An active fault: its state, and the fields with which it was created.

    The contents of the fields `match`, `webhook` and `deliver` are not declared here.
    """

    id: str
    """The id of the fault."""
    times_left: Count | None
    """The remaining number of times that the fault can apply. null means no limit."""
    hits: Count
    """The number of times that the fault has applied."""
    scenario: str | None
    """The scenario that contains the fault. null for a fault created by a control call."""
    match: NotRequired[JsonObject]
    """The calls that match, as given. Only in request faults."""
    webhook: NotRequired[JsonObject]
    """The deliveries that match, as given. Only in webhook faults."""
    deliver: NotRequired[JsonObject]
    """The effects on a delivery, as given. Only in webhook faults."""


@with_config(strict=True)
class _State(TypedDict):
    id: Annotated[str, Field(pattern=r"^flt_[0-9a-z]+$")]
    times_left: SavedCount | None
    hits: SavedCount
    scenario: str | None


def _check_row(key: str, row: FaultEntry) -> None:
    hold_against(_State, row)
    try:
        faults.check_fault({name: value for name, value in row.items() if name not in _State.__annotations__}, None)
    except ApiError as error:
        raise StateError(error.param or "", error.message) from None
    if row["id"] != key:
        raise StateError("id", "it must equal the key of the row")


def check_event(row: FaultEntry, path: str, known: Iterable[str]) -> None:
    """Raise `StateError` if a delivery fault names an unknown event."""
    found = list(faults.wrong_event(row.get("webhook", {}).get("event"), known))
    if found:
        error = refusal_of(found)
        raise StateError(f"{path}.{error.param}", error.message)


FAULTS = TableKey("faults", FaultEntry, check=_check_row)
"""The active faults, by id. `scenario` is the scenario that a fault belongs to, or None."""

UNDER_KEYS = TableKey("faults.keys", int)
"""Fault counters.

`<fault>|<environment>:<key>` counts hits per Idempotency-Key, and `<fault>|skipped` counts the matches that the fault
let through first. `<fault>|since` is the simulated time of its first match, in milliseconds.
"""


@dataclass(frozen=True, slots=True)
class DeliveryPlan(Effects):
    """The remaining effects of a fault on one delivery attempt. Effects on time are cleared when they were applied."""

    fault_id: Id = ""
    delay_ms: Milliseconds = 0
    slow_ms: Milliseconds = 0
    """The real time to wait before the request is sent. The simulated clock waits, too."""
    hold: int = 0
    """The number of other first attempts that must be completed before this attempt is sent."""
    until_end: bool = False
    """True for `hold: terminal`: hold until the endpoint has acknowledged the final event of the object."""
    surprise: mutations.Mutation | None = None

    @property
    def named(self) -> str:
        """A readable name for the fault. The id is empty if the fault was passed with a resend request."""
        return f"the fault {self.fault_id}" if self.fault_id else "the fault given for the resend"

    @classmethod
    def of(cls, fault_id: str, deliver: faults.Deliver) -> DeliveryPlan:
        """Return the effects of a fault as a plan for one attempt. Durations are in milliseconds."""
        return cls(
            **{one.name: getattr(deliver, one.name) for one in fields(Effects)},
            fault_id=fault_id,
            delay_ms=parse_duration(deliver.delay or 0),
            slow_ms=min(parse_duration(deliver.slow or 0), faults.LONGEST_SLOWNESS_MS),
            hold=deliver.hold if isinstance(deliver.hold, int) else 0,
            until_end=deliver.hold == "terminal",
            surprise=mutations.Mutation.of(deliver),
        )


def put_in_force(world: World, given: JsonObject, scenario: str | None = None) -> FaultEntry:
    """Activate a validated fault for a scenario or request. Return its table row. Call this inside a transaction."""
    state = {"times_left": given.get("times"), "hits": 0, "scenario": scenario}
    row = {"id": world.streams.identifier("flt_", "ids.fault"), **given, **state}
    entry = cast("FaultEntry", row)  # The models have validated these values.
    world.store[FAULTS].put(entry["id"], entry)
    return entry


def end(world: World, fault_id: str) -> None:
    """Remove a fault and its counters. Call this inside a transaction."""
    world.store[FAULTS].delete(fault_id)
    counted = world.store[UNDER_KEYS]
    for place in [place for place in counted.rows if place.startswith(f"{fault_id}|")]:
        counted.delete(place)


def give_back(world: World, fault_id: str) -> None:
    """Subtract one from the hits of a fault, because the fault had no effect. Call this inside a transaction."""
    row = world.store[FAULTS].get(fault_id)
    if row is not None and row["hits"]:
        left = row["times_left"]
        back: FaultEntry = {**row, "hits": row["hits"] - 1, "times_left": None if left is None else left + 1}
        world.store[FAULTS].put(fault_id, back)


def _lets_through(world: World, fault_id: str, most: int) -> bool:
    """Count a match of a fault. Return True for the first `most` matches, to which the fault is not applied."""
    counted, place = world.store[UNDER_KEYS], f"{fault_id}|skipped"
    count = counted.get(place) or 0
    if count < most:
        counted.put(place, count + 1)
    return count < most


def _is_over(world: World, fault_id: str, span_ms: int) -> bool:
    """Return True if a fault first matched at least `span_ms` simulated milliseconds ago. Save the first match."""
    counted, place = world.store[UNDER_KEYS], f"{fault_id}|since"
    since = counted.get(place)
    if since is None:
        counted.put(place, world.now_ms)
    return since is not None and world.now_ms - since >= span_ms


FaultT = TypeVar("FaultT", "faults.InterfaceFault", "faults.WebhookFault")


def first_hit(
    world: World, sort: Literal["match", "webhook"], fits: Callable[[str, FaultT], bool]
) -> tuple[str, FaultT] | None:
    """Return the first active fault of this sort that fits (given its id), and count the hit, in a transaction."""
    table = world.store[FAULTS]
    if not table.rows:
        return None
    model: type[FaultT] = faults.InterfaceFault if sort == "match" else faults.WebhookFault  # type: ignore[assignment]  # callers pass a `fits` for faults of this sort
    chance = "faults" if sort == "match" else "faults.webhooks"
    for row in list(table.values()):
        left = row["times_left"]
        if sort not in row or left == 0 or not fits(row["id"], fault := model.model_validate(row)):
            continue
        if fault.skip and _lets_through(world, row["id"], fault.skip):
            continue
        lasts = getattr(fault, "lasts", None)
        if lasts is not None and _is_over(world, row["id"], parse_duration(lasts)):
            continue
        if fault.probability is not None and world.streams.fraction(chance) >= fault.probability:
            continue
        table.put(row["id"], {**row, "hits": row["hits"] + 1, "times_left": None if left is None else left - 1})
        return row["id"], fault
    return None
