"""One call, one change: the change is kept or undone as a whole, and the effects of a refusal are kept."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from simulator.engine.faults.in_force import FAULTS
from simulator.engine.records import conditions, indexes, listing
from simulator.engine.records.listing import Listing, ListRequest
from simulator.engine.records.records import create, new_fields, page
from simulator.engine.records.requests import requests_of
from simulator.engine.rows.operation import Call, OperationDecorator
from simulator.engine.rows.room import Room
from simulator.engine.server.checks.idempotency import ANSWERS
from simulator.engine.server.runtime import Runtime
from simulator.engine.text.fields import Body, Name
from simulator.engine.text.json import JsonObject
from simulator.engine.text.shapes import Page
from simulator.engine.worlds.simulator import Blueprint
from simulator.kernel.table import Write
from tests.library import Simulator, application_of, library_with
from tests.unit.engine.rows import lamps
from tests.unit.engine.rows.lamps import LAMP_ROWS, Lamp

BOOK = {"title": "Middlemarch"}
_lamps = OperationDecorator("Lamps")


class NewLamp(Body):
    colour: Name


@_lamps("POST /lamps", "Mount a lamp", status=201, answer=lambda: JsonObject)
def mount_lamp(call: Call[NewLamp, None, None]) -> JsonObject:
    fields = new_fields(call.world, call.environment, "lamp_", "ids.lamp")
    return lamps.show(call.world, create(call.world, Lamp(**fields, colour=call.body.colour), "mount"))


COLOURS: Listing[Lamp] = Listing(search=lambda lamp: (lamp.colour,), searched="colour")


@_lamps("GET /lamps", "All lamps", answer=lambda: JsonObject, query=COLOURS)
def list_lamps(call: Call[None, ListRequest, None]) -> Page[JsonObject]:
    return page(call, LAMP_ROWS, lamps.show)


PROVIDER = library_with(lamps.ROOM, Room("hanging", operations=(mount_lamp, list_lamps)))


class Scene:
    """A server in process whose changes are heard: the tables that each of them wrote."""

    def __init__(self) -> None:
        simulator = Simulator(PROVIDER)
        self.world = simulator.create_world(Blueprint("default", 1))
        self.client = TestClient(application_of(Runtime(simulator)))
        self.token = PROVIDER.identity.credentials(self.world)["practice"]["secret_key"]
        self.changes: list[set[str]] = []
        self.world.store.listen(self._heard)

    def _heard(self, writes: list[Write]) -> None:
        self.changes.append({table.name for table, _, _ in writes})

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> int:
        self.changes.clear()
        sent = {"Authorization": f"Bearer {self.token}", **{name.replace("_", "-"): v for name, v in headers.items()}}
        return self.client.request(method, f"/v1{path}", json=body, headers=sent).status_code


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_a_call_and_its_stored_response_are_one_change(scene: Scene) -> None:
    assert scene.ask("POST", "/books", BOOK, Idempotency_Key="once") == 201
    (one,) = [tables for tables in scene.changes if ANSWERS.name in tables]
    assert "practice:books" in one
    assert len(scene.changes) == 1, "with what stays of a call that is refused, and the count of coverage"


def test_a_refusal_is_stored_under_its_key_and_undoes_the_rest(scene: Scene) -> None:
    before = scene.world.store.tables()
    assert scene.ask("POST", "/loans", {"book_id": "none"}, Idempotency_Key="once") == 404
    changed = {name for name, rows in scene.world.store.tables().items() if rows != before.get(name)}
    assert not {name for name in changed if name.startswith("practice:")}


def test_a_refused_call_keeps_its_fault_hit_and_rate_limit_count(scene: Scene) -> None:
    fault = {"match": {"path": "/books"}, "respond": {"status": 503, "code": "service_unavailable"}}
    assert scene.client.post("/_simulator/faults", json=fault).status_code == 201
    scene.client.patch("/_simulator/settings", json={"rate_limit": "5/60"})
    assert scene.ask("POST", "/books", BOOK) == 503
    assert [row["hits"] for row in scene.world.store[FAULTS].values()] == [1]
    assert {"faults", "rate_windows"} <= scene.changes[0], "both in the change before the work"


def test_a_call_that_is_limited_draws_its_request_id_once(scene: Scene) -> None:
    scene.client.patch("/_simulator/settings", json={"rate_limit": "1/60"})
    assert [scene.ask("GET", "/lamps") for _ in range(3)] == [200, 429, 429]
    ids = [row.id for row in requests_of(scene.world).entries]
    assert len(ids) == len(set(ids))


def test_list_that_needs_an_index_waits_for_it_and_is_entered_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((conditions, "FEW"), (listing, "FEW"), (indexes, "MANY")):
        monkeypatch.setattr(module, name, 1)
    monkeypatch.setattr(indexes, "_SLICE", 2)
    for _ in range(5):
        assert scene.ask("POST", "/lamps", {"colour": "Red"}) == 201
    before = len(requests_of(scene.world).entries)
    headers = {"Authorization": f"Bearer {scene.token}"}
    for query, changes in (("search=red&sort_by=updated_at", 3), ("search=red&sort_by=updated_at&size=2", 1)):
        scene.changes.clear()
        found = scene.client.get(f"/v1/lamps?{query}", headers=headers).json()
        assert found["pagination"]["total"] == 5
        assert len(scene.changes) == changes, "the first list is drawn an id, found and entered in changes of their own"
    assert len(requests_of(scene.world).entries) == before + 2
    assert len(scene.client.get("/_simulator/events?environment=practice").json()["data"]) == 5
