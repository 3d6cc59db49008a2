"""A small world of lamps, on which records, actions and lists are tried without any room of the service."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from simulator.engine.records.records import create, new_fields
from simulator.engine.rows.kind import Kind, Record
from simulator.engine.text.json import JsonObject
from simulator.engine.vocabulary.vocabulary import collected
from simulator.kernel.clock import Clock, format_timestamp, parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause, Event
from simulator.kernel.machine import Machine, Move
from simulator.kernel.store import TableKey
from simulator.kernel.world import Wiring, World
from tests.support import ENVIRONMENTS
from tests.toy import PROVIDER

START = "2026-01-05T08:00:00.000Z"
CAUSE = Cause("request", "lamps.create", "req_1")

LAMP = Machine(
    "lamp",
    (Move("mount", "off", ("wallet.created",)), Move("mount", "off", when="quietly")),
    {
        "off": (
            Move("switch", "on", ("deposit.detected", "deposit.confirmed")),
            Move("take_down", "gone", ("beneficiary.deleted",)),
        ),
        "on": (Move("switch", "off"), Move("burn_out", "broken", ("deposit.failed",))),
        "broken": (Move("take_down", "gone", ("beneficiary.deleted",)),),
        "gone": (),
    },
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp(Record):
    """A lamp: its colour and its price."""

    colour: str = "white"
    price: Decimal = Decimal("1.00")

    @property
    def kind(self) -> str:
        return "lamp"


def show(world: World, lamp: Lamp) -> JsonObject:
    return {
        "id": lamp.id,
        "status": lamp.status,
        "colour": lamp.colour,
        "updated_at": format_timestamp(lamp.updated_at_ms),
        "seen_at": format_timestamp(world.now_ms),
    }


def standing(world: World, record_id: str) -> Lamp | None:
    """The lamp that every world has: `lamp_sun`."""
    if record_id != "lamp_sun":
        return None
    return Lamp(id=record_id, environment="sandbox", sequence=0, created_at_ms=0, updated_at_ms=0, status="on")


LAMP_ROWS = TableKey("lamps", Lamp, per_environment=True, per_owner=True)
LAMPS = Kind("lamp", LAMP_ROWS, show, LAMP)
SUN = Kind("sun", TableKey("suns", Lamp, per_environment=True), show, LAMP, standing=standing)


class Heard:
    """What listeners were told: events, and creations without one."""

    def __init__(self) -> None:
        self.events: list[tuple[str, JsonObject]] = []
        self.created: list[tuple[str, JsonObject, str]] = []

    def on_event(self, world: World, event: Event, subject: Any) -> None:
        self.events.append((event.type, subject))

    def on_created(self, world: World, environment: str, subject: Any, record_id: str) -> None:
        self.created.append((environment, subject, record_id))


def make(heard: Heard | None = None, **wiring: Any) -> World:
    heard = heard or Heard()
    return World(
        "w",
        1,
        Clock(parse_timestamp(START)),
        Wiring(
            on_event=(heard.on_event,),
            on_created=(heard.on_created,),
            kinds={"lamp": LAMPS, "sun": SUN},
            environments=ENVIRONMENTS,
            vocabulary=collected(PROVIDER),
            **wiring,
        ),
    )


def mount(world: World, when: str = "", environment: str = "sandbox", **members: Any) -> Lamp:
    """A new lamp, in a change of its own."""
    with world.change(CAUSE):
        return create(world, Lamp(**new_fields(world, environment, "lamp_", "ids.lamp"), **members), "mount", when)
