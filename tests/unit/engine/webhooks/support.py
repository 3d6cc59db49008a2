"""A world with webhooks, and helpers to register, emit, take and report with given outcomes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simulator.engine.faults.in_force import FAULTS
from simulator.engine.rows.event import EventType, emit
from simulator.engine.rows.kind import Kind, Record
from simulator.engine.rows.operation import Probe, ProbeOutcome
from simulator.engine.rows.room import Room
from simulator.engine.webhooks import Attempt, Outcome
from simulator.engine.webhooks.delivery import attempts, queue
from simulator.engine.worlds.settings import SETTINGS
from simulator.kernel.clock import MINUTE_MS
from simulator.kernel.dataclass import replace
from simulator.kernel.journal import Cause, Event
from simulator.kernel.machine import Machine, Move
from simulator.kernel.store import TableKey
from simulator.kernel.world import World
from tests.calls import find_operation, invoke, world_of
from tests.toy import PROVIDER as TOY

URL = "https://receiver.example.com/hooks"
OK = Outcome(200)
BROKEN = Outcome(500)
_CAUSE = Cause("law", "webhook")


NEWS = tuple(EventType(f"news.{name}", f"there is {name} news", of="loan") for name in ("good", "bad", "old", "no"))
ORDER_EVENTS = tuple(
    EventType(f"order.{name}", f"an order is {name}", is_last=name in ("completed", "refunded"))
    for name in ("created", "processing", "completed", "refunded")
)
ORDER = Machine(
    "order",
    (Move("begin", "created", ("order.created",)),),
    {
        "created": (Move("process", "processing", ("order.processing",)),),
        "processing": (Move("complete", "completed", ("order.completed",)),),
        "completed": (Move("refund", "refunded", ("order.refunded",)),),
        "refunded": (),
    },
)
ORDERS = Kind("order", TableKey("orders", Record, per_environment=True), lambda world, order: {"id": order.id}, ORDER)
RETRY_MINUTES = (1, 5, 30, 120, 360, *(5 * (720,)))
PROVIDER = replace(
    TOY,
    rooms=(*TOY.rooms, Room("news", events=NEWS), Room("orders", events=ORDER_EVENTS, kinds=(ORDERS,))),
    signing=replace(TOY.signing, retry_delays_ms=lambda world: tuple(one * MINUTE_MS for one in RETRY_MINUTES)),
)
"""The library with news, orders that take several steps, and more retries."""
ROOMS = PROVIDER.rooms


def webhook_world(world_id: str = "default", **settings: Any) -> World:
    world = world_of(PROVIDER, world_id=world_id)
    if settings:
        with world.change(_CAUSE):
            world.store[SETTINGS].put("settings", settings)
    return world


def call(world: World, method: str, path: str, body: dict[str, Any] | None = None, **more: Any) -> Any:
    return invoke(world, find_operation(ROOMS, method, path), body, **{"environment": "practice", **more})


def probed(world: World, answer: Any, status: int | None = 200, error: str | None = None) -> Any:
    """Return the response of an operation after its test request."""
    assert isinstance(answer, Probe)
    with world.change(Cause("request", "probe")):
        return answer.then(ProbeOutcome(status, error))


def register(world: World, url: str = URL, events: tuple[str, ...] = ("*",), environment: str = "practice") -> str:
    body = {"url": url, "events": list(events)}
    shown = probed(world, call(world, "POST", "/webhooks", body, environment=environment))
    identifier: str = shown["id"]
    return identifier


def happen(world: World, event_type: str = "loan.returned", environment: str = "practice") -> Event:
    with world.change(Cause("action", "test")):
        return emit(world, environment, event_type, {"id": "loan-1"}, "loan-1")


def take(world: World) -> list[Attempt]:
    with world.change(_CAUSE):
        return attempts.take(world)


def report(world: World, attempt: Attempt, outcome: Outcome = OK) -> Any:
    with world.change(_CAUSE):
        return queue.report(world, attempt, outcome)


def drain(world: World, answer: Callable[[Attempt], Outcome] | Outcome = OK) -> list[Attempt]:
    """Answer all attempts in the order of their start, until none may start."""
    made = []
    while attempts := take(world):
        for attempt in attempts:
            made.append(attempt)
            report(world, attempt, answer if isinstance(answer, Outcome) else answer(attempt))
    return made


def deliver_all_until(world: World, to_ms: int, answer: Callable[[Attempt], Outcome] | Outcome) -> list[Attempt]:
    """Advance the clock timer by timer, as the driver does, and answer each attempt at its instant."""
    made = drain(world, answer)
    while world.fire_next(to_ms) is not None:
        made += drain(world, answer)
    world.clock.move_to(to_ms)
    return made


def status_of(world: World, endpoint_id: str) -> str:
    status: str = call(world, "GET", "/webhooks/{id}", id=endpoint_id)["status"]
    return status


def add_fault(world: World, **fault: Any) -> None:
    with world.change(_CAUSE):
        number = world.next_sequence("fault")
        row: Any = {"id": f"flt_{number}", "webhook": {}, "times_left": fault.pop("times", None), "hits": 0, **fault}
        world.store[FAULTS].put(row["id"], row)
