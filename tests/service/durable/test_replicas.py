"""Replicas as processes on one PostgreSQL: each serves any request, and none loses state when it ends."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any

import httpx
import pytest

from tests.campaigns.benchmarks.client import QUOTE
from tests.service.durable.replicas import Replica, replicas
from tests.service.durable.test_postgres import end_sessions

pytestmark = pytest.mark.farm


def quote(replica: Replica, headers: dict[str, str], key: str | None = None) -> Any:
    more = {"Idempotency-Key": key} if key else {}
    answer = replica.http.post("/v1/quotes", json=QUOTE, headers={**headers, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


def answered(replica: Replica, path: str, headers: dict[str, str]) -> Any:
    """Return the response of a replica once it is connected again. Until then it returns 503."""
    while True:
        answer = replica.http.get(path, headers=headers)
        if answer.status_code != 503:
            assert answer.status_code == 200, answer.text
            return answer.json()
        assert answer.json()["error"]["code"] == "service_unavailable"
        assert "PostgreSQL" in answer.text


@contextmanager
def receiver() -> Iterator[tuple[str, Queue[tuple[str, bytes]]]]:
    """Run a webhook receiver. Give its URL and a queue of (event type, body)."""
    came: Queue[tuple[str, bytes]] = Queue()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()
            came.put((json.loads(body)["type"], body))

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/hooks", came
        finally:
            server.shutdown()
            thread.join()


def test_any_replica_takes_any_call(database: str) -> None:
    with replicas(database, 2) as (one, two):
        keys = one.world("team")
        mine = one.sign_in(keys)
        made = quote(two, mine, "once")
        assert quote(one, mine, "once") == made
        assert two.http.get(f"/v1/quotes/{made['id']}", headers=mine).json() == made
        default = two.sign_in()
        assert quote(one, default)["id"] != made["id"]
        for replica in (one, two):
            shown = replica.http.get("/_simulator/worlds").json()["data"]
            assert [world["id"] for world in shown] == ["team", "default"]
            calls = replica.http.get("/_worlds/team/_simulator/requests").json()["data"]
            assert [call["path"] for call in calls].count("/v1/quotes") == 2
        again = two.http.post("/_simulator/worlds", json={"id": "team"})
        assert (again.status_code, again.json()["error"]["code"]) == (409, "already_exists")
        assert two.http.delete("/_simulator/worlds/team").status_code == 204
        assert one.http.get("/_simulator/worlds/team").status_code == 404
        assert one.http.get(f"/v1/quotes/{made['id']}", headers=mine).status_code == 401


def test_any_replica_restores_and_forks_a_snapshot(database: str) -> None:
    with replicas(database, 2) as (one, two):
        mine = one.sign_in(one.world("team"))
        kept = quote(one, mine)
        snapshot = two.http.post("/_worlds/team/_simulator/snapshots", json={}).json()
        gone = quote(two, mine)
        fork = {"id": "fork", "from_snapshot": snapshot["id"]}
        assert two.http.post("/_simulator/worlds", json=fork).status_code == 201
        assert two.http.post(f"/_simulator/snapshots/{snapshot['id']}/restore").status_code == 200
        assert one.http.get(f"/v1/quotes/{kept['id']}", headers=mine).status_code == 200
        assert one.http.get(f"/v1/quotes/{gone['id']}", headers=mine).status_code == 404
        assert one.http.get("/_simulator/worlds/fork").status_code == 200


def test_responses_of_a_killed_replica_are_durable(database: str) -> None:
    with replicas(database, 2) as (one, two):
        mine = one.sign_in(one.world("team"))
        made = [quote(one, mine, f"key-{number}") for number in range(5)]
        one.kill()
        for number, before in enumerate(made):
            assert two.http.get(f"/v1/quotes/{before['id']}", headers=mine).json() == before
            assert quote(two, mine, f"key-{number}") == before
        assert two.sign_in(two.world("other"))


def test_a_stopping_replica_hands_over_its_worlds(database: str) -> None:
    with replicas(database, 2) as (one, two):
        mine = one.sign_in(one.world("team"))
        made = quote(one, mine)
        one.send(signal.SIGTERM)
        assert one.process.wait() == 0
        assert two.http.get(f"/v1/quotes/{made['id']}", headers=mine).json() == made


def test_a_paused_replica_does_not_serve_stale_state(database: str) -> None:
    with replicas(database, 2) as (one, two):
        mine = one.sign_in(one.world("team"))
        first = quote(one, mine)
        one.send(signal.SIGSTOP)
        try:
            second = quote(two, mine, "while it sleeps")
        finally:
            one.send(signal.SIGCONT)
        for made in (first, second):
            assert answered(one, f"/v1/quotes/{made['id']}", mine) == made


def test_timers_and_webhooks_continue_after_a_replica_is_killed(database: str) -> None:
    flags = ("--clock", "scaled", "--rate", "600")
    with receiver() as (url, came), replicas(database, 2, *flags) as (one, two):
        mine = one.sign_in(one.world("team", clock={"mode": "scaled", "rate": 600}))
        hook = {"url": url, "events": ["quote.expired"]}
        assert one.http.post("/v1/webhooks", json=hook, headers=mine).status_code == 201
        made = quote(one, mine)  # it lapses after three seconds of these
        one.kill()
        assert came.get(timeout=30)[0] == "webhook.test"
        kind, body = came.get(timeout=30)
        assert (kind, made["id"] in body.decode()) == ("quote.expired", True)
        assert two.http.get(f"/v1/quotes/{made['id']}", headers=mine).json()["status"] == "expired"


def test_a_connection_cut_by_the_owner_is_cut_for_the_client(database: str) -> None:
    """A request is forwarded once. It is not repeated because its connection was an old one."""
    with replicas(database, 2) as (one, two):
        mine = one.sign_in(one.world("team"))
        assert two.http.get("/v1/profile", headers=mine).status_code == 200
        fault = {"match": {"path": "/profile"}, "drop": True, "times": 1}
        assert one.http.post("/_worlds/team/_simulator/faults", json=fault).status_code == 201
        with pytest.raises(httpx.RemoteProtocolError):
            two.http.get("/v1/profile", headers=mine)
        assert two.http.get("/v1/profile", headers=mine).status_code == 200


def test_a_stream_of_another_replica_is_not_buffered(database: str) -> None:
    with replicas(database, 2) as (one, two):
        mine = one.sign_in(one.world("team"))
        with two.http.stream("GET", "/_simulator/stream?world=team") as answer:
            lines = answer.iter_lines()
            assert next(line for line in lines if line.startswith("event: ")) == "event: clock"
            made = quote(one, mine)
            assert next(line for line in lines if line.startswith("event: state"))
            assert made["id"] in next(line for line in lines if line.startswith("data: "))


def test_a_takeover_changes_nothing_under_a_manual_clock(database: str) -> None:
    """Requests give the same bytes as in memory, even if a replica is killed between them."""

    def play(first: Replica, second: Replica, between: Any) -> list[bytes]:
        keys = first.world("team", seed=7)
        mine = first.sign_in(keys)
        answers: list[httpx.Response] = [first.http.post("/v1/quotes", json=QUOTE, headers=mine)]
        between()
        answers.append(second.http.post("/v1/quotes", json=QUOTE, headers=mine))
        answers.append(second.http.post("/_worlds/team/_simulator/clock/advance", json={"by": "31m"}))
        answers.append(second.http.get("/_worlds/team/_simulator/events"))
        answers.append(second.http.post("/v1/auth/token", json=keys))
        return [answer.content for answer in answers]

    with replicas(database, 2) as (one, two):
        with_takeover = play(one, two, one.kill)
    with replicas(None, 1) as (alone,):
        assert play(alone, alone, lambda: None) == with_takeover


def test_a_replica_recovers_after_its_database_returns(database: str) -> None:
    with replicas(database, 1) as (one,):
        mine = one.sign_in(one.world("team"))
        made = quote(one, mine)
        asyncio.run(end_sessions(database))
        assert answered(one, f"/v1/quotes/{made['id']}", mine) == made
