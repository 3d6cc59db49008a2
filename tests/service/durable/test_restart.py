"""State after a server was killed: all writes of 2xx responses, timers and webhooks."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from simulator.kernel.clock import parse_timestamp
from tests.remote import Remote
from tests.service.durable.crashing import as_killed, document, kept, loopback, seen
from tests.support import CELO, QUOTE

RAIN = {"name": "rain", "timeline": [{"at": "1h", "action": "move_rates", "percent": 5}]}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "worlds.db"


def onramp(world: Remote) -> str:
    quote = world.api("POST", "/quotes", QUOTE).body["id"]
    body = {"wallet_address": CELO, "payer": {"phone_number": "+254712345678"}}
    answer = world.api("POST", f"/quotes/{quote}/confirm", body)
    assert answer.status in (200, 201), answer.body
    made: str = answer.body["id"]
    return made


def test_rows_journals_and_clock_are_there(path: Path) -> None:
    with kept(path) as (world, _):
        made = onramp(world)
        world.act("payment_arrives", made)
        world.advance(by="90s")
        before, token, dead = document(world), world.token(), as_killed(path)
    with kept(dead) as (world, _):
        assert document(world) == before
        world.tokens["sandbox"] = token
        assert world.api("GET", f"/transactions/{made}").body["status"] == "processing"


def test_a_journal_that_is_full_is_the_same_afterwards(path: Path) -> None:
    with kept(path) as (world, _):
        world.control("PATCH", "/settings", {"journal_limit": 3})
        for _ in range(5):
            world.api("GET", "/profile")
        before, dead = world.control("GET", "/requests").body, as_killed(path)
    with kept(dead) as (world, _):
        assert world.control("GET", "/requests").body == before
        assert len(before["data"]) == 3
        assert before["truncated"] is True


def test_a_timer_that_was_planned_fires_when_it_is_due(path: Path) -> None:
    with kept(path) as (world, _):
        quote = world.api("POST", "/quotes", QUOTE).body["id"]
        dead = as_killed(path)
    with kept(dead) as (world, _):
        world.advance(by="31m")
        assert world.control("GET", f"/resources/{quote}").body["resource"]["status"] == "expired"


def test_an_idempotency_key_answers_once(path: Path) -> None:
    key = {"Idempotency-Key": "k1"}
    with kept(path) as (world, _):
        first, token = world.api("POST", "/quotes", QUOTE, key), world.token()
        dead = as_killed(path)
    with kept(dead) as (world, _):
        world.tokens["sandbox"] = token
        again = world.api("POST", "/quotes", QUOTE, key)
        assert (again.status, again.raw) == (first.status, first.raw)
        assert again.headers["Idempotent-Replayed"] == "true"
        assert world.api("POST", "/quotes", {**QUOTE, "amount": "6000"}, key).refusal[:2] == (
            409,
            "idempotency_conflict",
        )


def test_tokens_stay_and_are_never_made_twice(path: Path) -> None:
    with kept(path) as (world, _):
        first = world.token()
        world.control("POST", "/reset")
        dead = as_killed(path)
    with kept(dead) as (world, _):
        assert world.token() != first
        assert world.call("GET", f"{world.base()}/profile", headers={"Authorization": f"Bearer {first}"}).status == 401


def test_snapshots_are_there_and_are_numbered_on(path: Path) -> None:
    with kept(path) as (world, _):
        world.api("POST", "/quotes", QUOTE)
        one, two = (world.control("POST", "/snapshots", {"name": name}).body for name in ("one", "two"))
        world.api("POST", "/quotes", QUOTE)
        world.control("DELETE", f"/snapshots/{two['id']}")
        there = world.control("GET", f"/snapshots/{one['id']}").raw
        dead = as_killed(path)
    with kept(dead) as (world, _):
        assert world.control("GET", "/snapshots").body["data"] == [one]
        assert world.control("GET", f"/snapshots/{one['id']}").raw == there
        assert world.control("POST", "/snapshots", {}).body["id"] not in (one["id"], two["id"])
        assert world.control("POST", f"/snapshots/{one['id']}/restore").status == 200
        assert len(world.control("GET", "/resources", params={"type": "quote"}).body["data"]) == 1
        dead = as_killed(dead)
    with kept(dead) as (world, _):
        assert len(world.control("GET", "/resources", params={"type": "quote"}).body["data"]) == 1
        assert len(world.control("GET", "/snapshots").body["data"]) == 2


def test_scenarios_settings_and_faults_are_restored(path: Path) -> None:
    fault = {"match": {"path": "/profile"}, "respond": {"status": 503, "code": "service_unavailable"}, "times": 1}
    with kept(path) as (world, _):
        assert world.control("POST", "/scenarios", RAIN).status == 201
        world.control("PUT", "/scenarios/active", {"names": [RAIN["name"]]})
        world.control("PATCH", "/settings", {"strict": True})
        assert world.control("POST", "/faults", fault).status == 201
        before = [world.control("GET", part).body for part in ("/scenarios", "/settings", "/faults", "/controls")]
        dead = as_killed(path)
    with kept(dead) as (world, _):
        assert [
            world.control("GET", part).body for part in ("/scenarios", "/settings", "/faults", "/controls")
        ] == before
        assert world.api("GET", "/profile").status == 503
        assert world.api("GET", "/profile").status == 200


def test_worlds_begin_and_end_for_good(path: Path) -> None:
    with kept(path) as (world, _):
        there = world.another(id="there", seed=5, scenarios=["autopilot"], settings={"strict": True})
        gone, again = world.another(id="gone"), world.another(id="again", seed=1)
        gone.control("POST", "/snapshots", {})
        again.api("POST", "/quotes", QUOTE)
        again = world.another(id="again", seed=2, replace=True)
        quote = again.api("POST", "/quotes", QUOTE).body["id"]
        assert world.call("DELETE", f"{world.origin}/_simulator/worlds/gone").status == 204
        before = [there.world, again.control("GET", "/worlds/again").body]
        dead = as_killed(path)
    with kept(dead) as (world, application):
        ids = [one["id"] for one in world.control("GET", "/worlds").body["data"]]
        assert ids == ["default", "there", "again"]
        assert list(application.runtime.simulator.snapshots) == []
        for was in before:
            now = seen(world, was["id"]).world
            assert {**now, "credentials": {}} == {**was, "credentials": {}}
        assert seen(world, "again").api("GET", f"/quotes/{quote}").status == 200
        world.another(id="gone", seed=9)
        dead = as_killed(dead)
    with kept(dead) as (world, _):
        assert seen(world, "gone").world["seed"] == 9


def test_a_reset_a_fork_and_an_import_are_saved(path: Path) -> None:
    with kept(path) as (world, _):
        world.api("POST", "/quotes", QUOTE)
        snapshot = world.control("POST", "/snapshots", {}).body["id"]
        world.another(id="fork", from_snapshot=snapshot)
        copy = document(world)
        world.control("POST", "/reset")
        imported = world.another(id="imported")
        assert imported.control("PUT", "/state", {**copy, "keys_of": "other"}).status in (200, 409)
        dead = as_killed(path)
    with kept(dead) as (world, _):
        assert world.control("GET", "/resources", params={"type": "quote"}).body["data"] == []
        fork = seen(world, "fork")
        assert len(fork.control("GET", "/resources", params={"type": "quote"}).body["data"]) == 1
        assert fork.api("GET", "/profile").status == 200


def deliveries(world: Remote, **query: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.control("GET", "/deliveries", params=query).body["data"]
    return found


def test_retries_of_a_webhook_continue_where_they_were(path: Path) -> None:
    with kept(path) as (world, _):
        world.control("PUT", "/inbox/shop", {"respond": [200, 500]})
        hook = world.api("POST", "/webhooks", {"url": f"{world.origin}/_simulator/inbox/shop", "events": ["*"]})
        assert hook.status in (200, 201), hook.body
        world.act("emit", type="transaction.completed")
        world.advance(by="2m")
        before = deliveries(world)
        assert [one["status"] for one in before] == ["failed", "failed"]
        dead = as_killed(path)
    with kept(dead) as (world, _):
        assert deliveries(world) == before
        world.advance(by="5m")
        made = deliveries(world)
        assert [one["attempt"] for one in made] == [1, 2, 3], "the server that listened there is gone, but it was asked"
        assert {one["event_id"] for one in made} == {before[0]["event_id"]}
        assert made[2]["attempted_at"] == before[1]["next_attempt_at"]


def test_an_attempt_in_flight_is_repeated_after_a_restart(path: Path) -> None:
    with loopback() as receiver, kept(path) as (world, _):
        world.api("POST", "/webhooks", {"url": receiver.url, "events": ["*"]})
        receiver.next()
        receiver.hold()
        event = world.act("emit", type="transaction.completed").body["events"][0]["id"]
        first = receiver.next()
        dead = as_killed(path)
        receiver.let_go()
        world.control("POST", "/settle")
        whole = deliveries(world)
    with loopback(receiver.port) as receiver, kept(dead) as (world, _):
        assert receiver.next() == first
        world.control("POST", "/settle")
        made = deliveries(world)
        assert [(one["event_id"], one["status"]) for one in made] == [(event, "succeeded")]
        assert [one["id"] for one in made] == [one["id"] for one in whole]


def test_a_backup_of_a_running_server_is_complete(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    with kept(path) as (world, _):
        quote = world.api("POST", "/quotes", QUOTE).body["id"]
        before = document(world)
        with closing(sqlite3.connect(path)) as reader:
            reader.execute("VACUUM INTO ?", (str(copy),))
        world.api("POST", "/quotes", QUOTE)
    with kept(copy) as (world, _):
        assert document(world) == before
        assert world.api("GET", f"/quotes/{quote}").status == 200


class Walls:
    """The clock of the machine, set by the test."""

    def __init__(self) -> None:
        self.now_ms = parse_timestamp("2026-03-01T00:00:00Z")


@pytest.mark.parametrize(("clock", "rate", "minutes"), [("real", 1, 31), ("scaled", 10, 3.1)])
def test_a_running_clock_continues_and_fires_missed_timers(
    path: Path, clock: str, rate: int, minutes: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    wall = Walls()
    monkeypatch.setattr(time, "time_ns", lambda: wall.now_ms * 1_000_000)
    with kept(path) as (world, _):
        world.control("PUT", "/clock", {"mode": clock, "rate": rate})
        quote = world.api("POST", "/quotes", QUOTE).body
        written = parse_timestamp(quote["created_at"])
        stood = parse_timestamp(world.control("GET", "/clock").body["now"])
        dead = as_killed(path)
    wall.now_ms += round(minutes * 60_000)
    with kept(dead) as (world, _):
        now = parse_timestamp(world.control("GET", "/clock").body["now"])
        assert stood + 31 * 60_000 - 5_000 * rate <= now <= stood + 31 * 60_000 + 20_000 * rate
        history = world.control("GET", f"/resources/{quote['id']}").body["history"]
        assert [step["state"] for step in history] == ["active", "expired"]
        assert history[-1]["at"] == quote["expires_at"]
    wall.now_ms -= 3_600_000
    with kept(path) as (world, _):
        assert parse_timestamp(world.control("GET", "/clock").body["now"]) >= written, "it never runs backwards"


def test_a_crash_in_the_middle_does_not_change_bytes(path: Path, tmp_path: Path) -> None:
    def first(world: Remote) -> list[bytes]:
        made = onramp(world)
        return [world.act("payment_arrives", made).raw, world.api("GET", f"/transactions/{made}").raw]

    def then(world: Remote) -> list[Any]:
        made = onramp(world)
        world.advance(by="2h")
        lists = [world.control("GET", f"/{name}").body for name in ("events", "timers", "emails", "controls")]
        return [world.api("GET", f"/transactions/{made}").raw, lists, document(world)["tables"]]

    with kept(path, scenarios=None) as (world, _):
        before = first(world)
        token, dead = world.token(), as_killed(path)
        after = then(world)
    with kept(dead) as (world, _):
        world.tokens["sandbox"] = token
        assert then(world) == after
    with kept(tmp_path / "whole.db", scenarios=None) as (world, _):
        world.token()
        assert [first(world), then(world)[:2]] == [before, after[:2]]
