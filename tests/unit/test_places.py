"""The number of places to change for something new, counted by adding it: a room with a kind, an action, a timer and an
event.

Everything else is derived: router, lists, histories, coverage, diagrams, paths to an event and examples include the
lamp.
"""

from __future__ import annotations

import ast
import asyncio
import dataclasses
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import TypedDict

from contracts.generator import control
from contracts.generator.diagrams import pages
from simulator import host
from simulator.engine.clients.asynchronous import AsgiClient
from simulator.engine.control.scenarios.faults import operation
from simulator.engine.faults.models import Deliver, InterfaceFault, Match, Respond
from simulator.engine.insight.coverage import catalogue, cells
from simulator.engine.records.records import create, existing, find, move, new_fields, present
from simulator.engine.rows.action import Action, ActionCall
from simulator.engine.rows.event import EventType
from simulator.engine.rows.kind import Kind, Record
from simulator.engine.rows.money import MoneyRow, OrderKind
from simulator.engine.rows.operation import Call, Operation
from simulator.engine.rows.room import Room
from simulator.engine.scenario.run.paths import paths_to
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.json import Shown
from simulator.engine.worlds.settings import ASSUMED
from simulator.engine.worlds.simulator import Blueprint
from simulator.exploration.plans import runs_of
from simulator.host import Simulator, application_of, control_rows, vocabulary
from simulator.kernel.agenda import Timer
from simulator.kernel.dataclass import dataclass
from simulator.kernel.machine import Machine, Move
from simulator.kernel.store import TableKey
from simulator.kernel.world import TimerRow, World
from simulator.providers.ramp import faults as ramp_faults
from simulator.providers.ramp.provider import ROOMS
from tests.measures import nodes_of, sources
from tests.places import ROOT
from tests.run_evidence import EVERYTHING, call
from tests.support import ramp_with
from tests.unit.engine.control.test_places import GREET

PACKAGE = ROOT / "simulator"

ROW = EventType("lamp.switched", "a lamp was switched on", example={"colour": "red"})
CELL = Move("switch", "on", (ROW.name,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Lamp(Record):
    colour: str = "white"

    @property
    def kind(self) -> str:
        return "lamp"


class LampShape(TypedDict):
    id: str
    status: str
    colour: str


def show(world: World, lamp: Lamp) -> Shown:
    return {"id": lamp.id, "status": lamp.status, "colour": lamp.colour}


def hang(call: Call[None, None, None]) -> Shown:
    world = call.world
    lamp = create(world, Lamp(**new_fields(world, call.environment, "lamp_", "ids.lamp")), "hang")
    world.agenda.plan(world.now_ms + 60_000, "lamp.burn_out", lamp.id)
    return show(world, lamp)


def switch(call: ActionCall[Lamp, Any]) -> Lamp:
    return move(call.world, call.target, "switch")


def burn_out(world: World, timer: Timer) -> None:
    move(world, existing(world, Lamp, timer.target), "burn_out")


LAMPS = TableKey("lamps", Lamp, per_environment=True)
LAMP = Machine(
    "lamp",
    (Move("hang", "off"),),
    {"off": (CELL, Move("burn_out", "broken")), "on": (Move("burn_out", "broken"),), "broken": ()},
)
EXAMPLE = {"id": "lamp_1", "status": "off", "colour": "white"}
ROOM = Room(
    "lamps",
    events=(ROW,),
    operations=(
        Operation("POST", "/lamps", "hang_lamp", "Lamps", "Hang a lamp", hang, lambda: LampShape, group="wallets"),
    ),
    actions=(Action("switch", "somebody switches it on", switch, ("lamp",)),),
    timers=(TimerRow("lamp.burn_out", burn_out, "the lamp burns out", ("burn_out",)),),
    kinds=(Kind("lamp", LAMPS, show, LAMP, lambda: LampShape, lambda: EXAMPLE, prefix="lamp_"),),
)


SPENDING = (ROOM.operations[0], MoneyRow("hang_lamp", makes=(OrderKind("lamp", "balance", "price.amount", "colour"),)))
"""All that a new operation that spends takes: its row among the operations, and among those with money."""


@pytest.fixture
def simulator() -> Simulator:
    made = Simulator(ramp_with(ROOM))
    made.create_world(Blueprint("default", 1))
    return made


def test_a_new_room_appears_in_all_views_of_a_world(simulator: Simulator) -> None:
    async def use() -> None:
        application = application_of(Runtime(simulator))
        client = AsgiClient(application)

        async def ask(method: str, path: str, body: Any = None, **headers: str) -> Any:
            answer = await client.request(method, path, body, headers)
            assert answer.status < 300, (path, answer.body)
            return answer.body

        keys = (await ask("GET", "/_simulator/worlds/default"))["credentials"]["sandbox"]
        pair = {name: keys[name] for name in ("public_key", "secret_key")}
        token = await ask("POST", "/v1/auth/token", pair)
        hung = await ask("POST", "/v1/lamps", {}, Authorization=f"Bearer {token['access_token']}")
        assert hung["status"] == "off"
        about = await ask("GET", f"/_simulator/resources/{hung['id']}")
        assert (about["allowed"], [timer["text"] for timer in about["timers"]]) == (["switch"], ["the lamp burns out"])
        assert [row["id"] for row in (await ask("GET", "/_simulator/resources?type=lamp"))["data"]] == [hung["id"]]
        done = await ask("POST", "/_simulator/actions/switch", {"target": hung["id"]})
        assert [event["type"] for event in done["events"]] == ["lamp.switched"]
        assert present(find(simulator.default, hung["id"])).status == "on"
        assert (await ask("GET", "/_simulator/coverage"))["dimensions"]["events"]["items"]
        saved = await ask("GET", "/_simulator/state")
        assert [row["colour"] for _, row in saved["tables"]["sandbox:lamps"]] == ["white"]
        before = find(simulator.default, hung["id"])
        await ask("POST", "/_simulator/reset", {})
        assert find(simulator.default, hung["id"]) is None
        await ask("PUT", "/_simulator/state", saved)
        assert find(simulator.default, hung["id"]) == before
        await application.runtime.close()

    asyncio.run(use())


def test_what_is_derived_from_tables_knows_a_new_event(simulator: Simulator) -> None:
    world = simulator.default
    (subject,) = simulator.vocabulary.subjects[ROW.name]
    assert (subject.kind.name, subject.statuses, subject.shape) == ("lamp", ("on",), LampShape)
    assert subject.example == {"id": "lamp_1", "status": "on", "colour": "red"}
    assert ("lamp", "off", "switch", "on") in list(cells(world))
    assert "lamp.switched" in pages(simulator.rooms)["lamp.md"]
    with world.change(world.cause):
        lamp = create(world, Lamp(**new_fields(world, "sandbox", "lamp_", "ids.lamp")), "hang")
    (path,) = paths_to(world, simulator.actions, lamp, ROW.name)
    assert path.moves == (CELL,)
    assert [kind.table for kind in ROOM.kinds] == [LAMPS]
    done = simulator.actions.perform(world, "emit", None, {"type": ROW.name}, "sandbox", world.cause)
    assert done.resource == {"id": "lamp_1", "status": "on", "colour": "red"}


def test_a_new_spending_operation_is_known_to_all_money_tools(monkeypatch: pytest.MonkeyPatch) -> None:
    operation, row = SPENDING
    money = dataclasses.replace(host.PROVIDER.money, rows=(*host.PROVIDER.money.rows, row))
    provider = dataclasses.replace(ramp_with(ROOM), money=money)
    for module in (host, ramp_faults):
        monkeypatch.setattr(module, "PROVIDER", provider)
    asked = call("hang_lamp", "/lamps", spends={"symbol": "USDC", "network": "CELO"})
    nothing: dict[str, list[object]] = {"deliveries": [], "transactions": [], "lines": [], "holds": []}
    runs = runs_of({"test": {**EVERYTHING, "calls": [asked], **nothing}}, "full")
    assert {run.site.partition(",")[0] for run in runs} == {"POST /lamps #1", "start #1"}
    assert {run.fault for run in runs} >= {
        *("balance-drained", "network-down", "limit-reached", "kyc-withdrawn", "key-revoked", "rate-moves")
    }
    simulator = Simulator(host.PROVIDER)
    world = simulator.create_world(Blueprint("default", 1))
    with world.change(world.cause):
        world.store[ASSUMED].put("S4", "null_without_failure")
        world.store[ASSUMED].put("W8", "only_the_listed_fields")
    wording = simulator.provider.wording
    assert "failure_code" in wording.answer(world, {"id": "lamp_1", "created_at": "2026-01-01T00:00:00.000Z"})
    assert wording.subject(world, ROW.name, {"id": "lamp_1", "colour": "red"}) == {"id": "lamp_1"}
    covered = catalogue(host.vocabulary().operations, (), host.vocabulary())
    assert operation.name in [row.name for row in covered["operations"]]


def test_row_alone_adds_a_call_to_the_contract() -> None:
    document = control.build(control_rows((GREET,)), Simulator().actions)
    shown = document["paths"]["/_simulator/greetings/{name}"]["post"]
    assert (shown["operationId"], shown["summary"], shown["tags"]) == ("greet", "Greet a world", ["Worlds"])
    answer = shown["responses"]["201"]["content"]["application/json"]["schema"]
    assert answer == {"$ref": "#/components/schemas/Greeting"}
    assert document["components"]["schemas"]["Greeting"]["required"] == ["greeting", "world"]
    assert document["components"]["schemas"]["Greeting"]["additionalProperties"] is False
    assert shown["requestBody"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Wish"}
    named = [parameter.get("name", parameter.get("$ref", "").rpartition("/")[2]) for parameter in shown["parameters"]]
    assert named == ["name", "tone", "World"]


def _names(path: Path) -> Iterator[str]:
    """Every attribute, annotated field and text in a source: whatever can name a row or a member of a model."""
    yield from (node.attr for node in nodes_of(path, ast.Attribute))
    yield from (node.target.id for node in nodes_of(path, ast.AnnAssign) if isinstance(node.target, ast.Name))
    yield from (node.value for node in nodes_of(path, ast.Constant) if isinstance(node.value, str))


@cache
def files_naming() -> Mapping[str, set[str]]:
    """Which files of the package name what."""
    found = defaultdict[str, set[str]](set)
    for path in sources():
        for name in _names(path):
            found[name].add(path.relative_to(PACKAGE).as_posix())
    return found


MEMBERS = {name for model in (Match, Respond, InterfaceFault, Deliver) for name in model.model_fields}
COMMON = {"match", "method", "path", "public_key", "status", "code", "message", "respond", "delay", "drop", "hold"}
COMMON |= {"times", "probability", "skip", "act", "copies"}
"""Members whose names are words that stand for other things in other files too."""
EXAMPLES = ("engine/scenario/language/schema.py", "engine/faults/presets.py")
"""Scenario files read durations in their own way, and presets are examples; a new member needs neither."""


def places() -> dict[str, int]:
    """How many places have to be touched for something new; of a room and of an action those outside of the room.

    What others than its makers name too, commands that call a control call, say, counts by the least of its kind; what
    the judges of a service, a receiver and an integration play counts nowhere.
    """
    naming = files_naming()
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    named = sum("ramp.beneficiaries" in str(one) for one in contracts)
    timers = ("quote.expiry", "ramp.deadline", "invoice.expiry")
    actions = ("deposit_confirms", "confirmation_arrives", "invoice_paid", "lightning_payment_arrives")
    return {
        "action": max(
            sum(not file.startswith(("providers/ramp/", "conformance/")) for file in naming[name]) for name in actions
        ),
        "event": min(len(naming[event]) for event in vocabulary().events),
        "timer": max(len(naming[kind]) for kind in timers),
        "room": int(any(room.name == "beneficiaries" for room in ROOMS)) + named,
        "operation that spends": len(SPENDING),
        "control call": min(len(naming[f"{row.method} {row.path}"]) for row in operation.rows),
        "fault member": max(map(_files_of_member, MEMBERS - COMMON)),
        "fault member of calls": max(
            map(_files_of_member, {*InterfaceFault.model_fields, *Respond.model_fields} - COMMON)
        ),
    }


def _files_of_member(name: str) -> int:
    files = files_naming()[name]
    return sum(file not in EXAMPLES and not file.startswith(("certification/", "exploration/")) for file in files)


@pytest.mark.xdist_group("source")
def test_places_to_touch_for_something_new(capsys: pytest.CaptureFixture[str]) -> None:
    found = places()
    with capsys.disabled():
        print("\nplaces to touch for a new", ", ".join(f"{what}: {number}" for what, number in found.items()))  # noqa: T201
    expected = {"action": 0, "event": 1, "timer": 1, "room": 2, "control call": 1, "fault member": 2}
    expected |= {"operation that spends": 2, "fault member of calls": 2}
    assert found == expected
