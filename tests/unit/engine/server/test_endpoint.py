"""One call, one change: its work is kept or undone as a whole, and what stays of a refusal stays."""

from __future__ import annotations

from typing import Any

import pytest
from starlette.testclient import TestClient

from simulator import Config, create_app
from simulator.engine.faults.in_force import FAULTS
from simulator.engine.records import conditions, indexes, listing
from simulator.engine.records.requests import requests_of
from simulator.engine.server.app import Application
from simulator.engine.server.checks.idempotency import ANSWERS
from simulator.kernel.table import Write
from tests.support import BENEFICIARY, KEYS, QUOTE


class Scene:
    """A server in process whose changes are heard: the tables that each of them wrote."""

    def __init__(self) -> None:
        self.application: Application = create_app(Config(clock="manual", scenarios=()))
        self.client = TestClient(self.application)
        self.world = self.application.runtime.simulator.default
        self.token = self.client.post("/v1/auth/token", json=KEYS).json()["access_token"]
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
    assert scene.ask("POST", "/quotes", QUOTE, Idempotency_Key="once") == 201
    (one,) = [tables for tables in scene.changes if ANSWERS.name in tables]
    assert "sandbox:ramp_quotes" in one
    assert len(scene.changes) == 1, "with what stays of a call that is refused, and the count of coverage"


def test_a_refusal_is_stored_under_its_key_and_undoes_the_rest(scene: Scene) -> None:
    missing = "/quotes/qt_00000000000000000000/confirm"
    before = scene.world.store.tables()
    scene.ask("POST", missing, {}, Idempotency_Key="once")
    changed = {name for name, rows in scene.world.store.tables().items() if rows != before.get(name)}
    assert not {name for name in changed if name.startswith("sandbox:")}


def test_a_refused_call_keeps_its_fault_hit_and_rate_limit_count(scene: Scene) -> None:
    fault = {"match": {"path": "/quotes"}, "respond": {"status": 503, "code": "service_unavailable"}}
    assert scene.client.post("/_simulator/faults", json=fault).status_code == 201
    scene.client.patch("/_simulator/settings", json={"rate_limit": "5/60"})
    assert scene.ask("POST", "/quotes", QUOTE) == 503
    assert [row["hits"] for row in scene.world.store[FAULTS].values()] == [1]
    assert {"faults", "rate_windows"} <= scene.changes[0], "both in the change before the work"


def test_a_call_that_is_limited_draws_its_request_id_once(scene: Scene) -> None:
    scene.client.patch("/_simulator/settings", json={"rate_limit": "1/60"})
    assert [scene.ask("GET", "/transactions") for _ in range(3)] == [200, 429, 429]
    ids = [row.id for row in requests_of(scene.world).entries]
    assert len(ids) == len(set(ids))


def test_list_that_needs_an_index_waits_for_it_and_is_entered_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module, name in ((conditions, "FEW"), (listing, "FEW"), (indexes, "MANY")):
        monkeypatch.setattr(module, name, 1)
    monkeypatch.setattr(indexes, "_SLICE", 2)
    for _ in range(5):
        assert scene.ask("POST", "/beneficiaries", BENEFICIARY) == 201
    before = len(requests_of(scene.world).entries)
    headers = {"Authorization": f"Bearer {scene.token}"}
    for query, changes in (("search=wanjiru&sort_by=updated_at", 3), ("search=wanjiru&sort_by=updated_at&size=2", 1)):
        scene.changes.clear()
        page = scene.client.get(f"/v1/beneficiaries?{query}", headers=headers).json()
        assert page["pagination"]["total"] == 5
        assert len(scene.changes) == changes, "the first list is drawn an id, found and entered in changes of their own"
    assert len(requests_of(scene.world).entries) == before + 2
    assert len(scene.client.get("/_simulator/events?environment=sandbox").json()["data"]) == 5
