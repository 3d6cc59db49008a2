"""A room with lamps, in addition to the rooms of the library: a state table, listeners, and a lamp in every world."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from simulator.engine.records.records import create, new_fields
from simulator.engine.rows.event import EventType
from simulator.engine.rows.kind import Kind, Record
from simulator.engine.rows.room import Room
from simulator.engine.text.json import JsonObject
from simulator.engine.vocabulary.vocabulary import collected
from simulator.kernel.clock import Clock, format_timestamp, parse_timestamp
from simulator.kernel.dataclass import dataclass
from simulator.kernel.journal import Cause, Event
from simulator.kernel.machine import Machine, Move
from simulator.kernel.store import TableKey
from simulator.kernel.world import Wiring, World
from tests.calls import START as START
from tests.library import library_with

CAUSE = Cause("request", "lamps.create", "req_1")

LAMP = Machine(
    "lamp",
    (Move("mount", "off", ("lamp.mounted",)), Move("mount", "off", when="quietly")),
    {
        "off": (
            Move("switch", "on", ("lamp.lit", "lamp.glowing")),
            Move("take_down", "gone", ("lamp.taken_down",)),
        ),
        "on": (Move("switch", "off"), Move("burn_out", "broken", ("lamp.burnt",))),
        "broken": (Move("take_down", "gone", ("lamp.taken_down",)),),
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
    return Lamp(id=record_id, environment="practice", sequence=0, created_at_ms=0, updated_at_ms=0, status="on")


LAMP_ROWS = TableKey("lamps", Lamp, per_environment=True, per_owner=True)
LAMPS = Kind("lamp", LAMP_ROWS, show, LAMP)
SUN = Kind("sun", TableKey("suns", Lamp, per_environment=True), show, LAMP, standing=standing)
EVENTS = tuple(
    EventType(f"lamp.{name}", "a lamp changed") for name in ("mounted", "lit", "glowing", "burnt", "taken_down")
)
ROOM = Room("lamps", kinds=(LAMPS, SUN), events=EVENTS)
PROVIDER = library_with(ROOM)


class Heard:
    """The notifications of listeners: events, and creations without an event."""

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
            environments=tuple(PROVIDER.environments),
            vocabulary=collected(PROVIDER),
            **wiring,
        ),
    )


def mount(world: World, when: str = "", environment: str = "practice", **members: Any) -> Lamp:
    """A new lamp, in a change of its own."""
    with world.change(CAUSE):
        return create(world, Lamp(**new_fields(world, environment, "lamp_", "ids.lamp"), **members), "mount", when)
