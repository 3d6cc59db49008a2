"""A long soak: the memory of a world is bounded, except for resources and their events."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from simulator.engine.records import advice
from simulator.engine.records.advice import ADVICE, advise
from simulator.engine.records.requests import requests_of
from simulator.kernel.journal import Cause
from tests.service.control.test_snapshots import FRIEND
from tests.service.http.busy import ok, send
from tests.service.test_documents import Inside
from tests.support import whole

CALLS = whole(20_000, short=1_200)


@pytest.fixture
def inside() -> Iterator[Inside]:
    inside = Inside()
    yield inside
    inside.close()


def rows(inside: Inside) -> dict[str, int]:
    return {name: len(table) for name, table in inside.simulator.default.store.tables().items()}


def objects() -> int:
    gc.collect()
    return len(gc.get_objects())


@pytest.mark.long
def test_thousands_of_calls_leave_nothing_behind(inside: Inside) -> None:
    ok(inside.control("PATCH", "/settings", {"journal_limit": 200, "rate_limit": "1000000/60"}))
    ok(inside.api("POST", "/webhooks", {"url": "http://127.0.0.1:9/good", "events": ["*"]}))
    made = send(inside, FRIEND)

    def some_calls(number: int) -> None:
        for _ in range(number // 5):
            assert inside.api("GET", f"/transactions/{made['id']}").status == 200
            assert inside.api("GET", "/orders?colour=red").status == 200
            assert inside.api("GET", "/nothing/here").status == 404
            assert inside.api("POST", "/wallet/send", {"symbol": 5}).status == 400
            assert inside.api("POST", "/quotes", {"type": "onramp"}, {"Idempotency-Key": "k"}).status == 400

    some_calls(CALLS // 4)
    rows_before, objects_before = rows(inside), objects()
    some_calls(CALLS - CALLS // 4)
    assert rows(inside) == rows_before
    assert objects() - objects_before < 2_000
    assert len(requests_of(inside.simulator.default).entries) == 200


@pytest.mark.long
def test_worlds_that_come_and_go_leave_nothing_behind(inside: Inside) -> None:
    def some_worlds(number: int) -> None:
        for seed in range(number):
            world_id = ok(inside.control("POST", "/worlds", {"seed": seed}))["id"]
            header = {"X-Simulator-World": world_id}
            taken = ok(inside.control("POST", "/snapshots", {}, header))["id"]
            ok(inside.control("POST", "/reset", None, header))
            ok(inside.control("POST", f"/snapshots/{taken}/restore", None, header))
            assert inside.control("DELETE", f"/worlds/{world_id}").status == 204
        ok(inside.control("GET", "/coverage?world=*"))  # waits for what is remembered of worlds that have ended

    some_worlds(whole(100, short=30))
    before = objects()
    some_worlds(whole(300, short=60))
    assert objects() - before < 2_000
    assert inside.simulator.snapshots == {}
    assert list(inside.simulator.worlds) == ["default"]


def test_findings_are_bounded(inside: Inside, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "KEPT", 3)
    world = inside.simulator.default
    for number in range(5):
        with world.change(Cause("action", "test")):
            advise(world, "kind", "info", f"finding {number}", "nothing")
    kept = [row["message"] for row in world.store[ADVICE].values()]
    assert kept == ["finding 2", "finding 3", "finding 4"]
