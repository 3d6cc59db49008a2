"""Snapshots, restoring, forks and documents: over HTTP, and between processes."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from simulator.engine.control import call as control_call
from simulator.engine.worlds.simulator import DEFAULT_SCENARIOS, Blueprint
from simulator.host import Simulator
from tests.remote import Remote, new_client
from tests.service.http.busy import afternoon, busy_morning, ok, onramp, send
from tests.service.http.test_clock_and_webhooks import Receiver
from tests.support import untraced, whole

FRIEND = {"type": "platform_user", "email": "amina@example.test"}


def snapshot(world: Remote, name: str | None = None) -> Any:
    answer = world.control("POST", "/snapshots", {} if name is None else {"name": name})
    assert answer.status == 201, answer.body
    return answer.body


def restore(world: Remote, snapshot_id: str) -> Any:
    return ok(world.control("POST", f"/snapshots/{snapshot_id}/restore"))


def state(world: Remote) -> Any:
    return ok(world.control("GET", "/state"))


def inboxes(world: Remote) -> tuple[str, str]:
    """A receiver that fails after the registration, and one that always works."""
    base = f"{world.origin}/_simulator/inbox"
    name = world.world["id"]
    ok(world.control("PUT", f"/inbox/{name}-failing", {"respond": [200, 500]}))
    return f"{base}/{name}-failing", f"{base}/{name}-good"


@dataclass
class Neighbour(Remote):
    """A world of a server in another process."""

    process: subprocess.Popen[str] | None = None


@contextmanager
def another_process(http: httpx.Client) -> Iterator[Neighbour]:
    """A new server in another process."""
    command = [sys.executable, "-m", "simulator", "serve", "--port", "0", "--clock", "manual"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            ready = next(line for line in process.stdout if line.startswith("Ready on "))
            remote = Neighbour(ready.removeprefix("Ready on ").strip(), http, process=process)
            remote.world = remote.control("GET", "/worlds/default").body
            yield remote
        finally:
            process.terminate()
            process.wait(20)


# --- snapshots ----------------------------------------------------------------------------------------------------


def test_a_snapshot_is_named_listed_and_read(world: Remote) -> None:
    assert world.control("GET", "/snapshots").body == {"data": []}
    world.advance(by="90s")
    first, second = snapshot(world, "before lunch"), snapshot(world)
    assert first == {
        "id": first["id"],
        "name": "before lunch",
        "at": "2026-01-05T08:01:30.000Z",
        "world": world.world["id"],
    }
    assert second["name"] is None
    assert second["id"] != first["id"]
    assert world.control("GET", "/snapshots").body == {"data": [first, second]}
    assert world.control("GET", "/snapshots", params={"limit": 1}).body == {"data": [second]}
    document = world.control("GET", f"/snapshots/{first['id']}").body
    assert (document["format"], document["version"], document["world"]) == ("rampsim.state", 1, world.world["id"])
    assert world.control("DELETE", f"/snapshots/{first['id']}").status == 204
    assert world.control("GET", "/snapshots").body == {"data": [second]}


def test_snapshot_document_has_the_state_of_that_time(autopilot_world: Remote) -> None:
    onramp(autopilot_world)
    taken, then = snapshot(autopilot_world), state(autopilot_world)
    autopilot_world.advance(by="50m")
    assert autopilot_world.control("GET", f"/snapshots/{taken['id']}").body == then
    assert state(autopilot_world) != then


def test_restoring_brings_everything_back(autopilot_world: Remote) -> None:
    made = onramp(autopilot_world)
    taken, before = snapshot(autopilot_world), state(autopilot_world)
    autopilot_world.advance(by="50m")
    assert autopilot_world.api("GET", f"/transactions/{made['id']}").body["status"] == "completed"
    world = restore(autopilot_world, taken["id"])
    assert world["clock"]["now"] == taken["at"]
    assert state(autopilot_world) == before
    assert autopilot_world.api("GET", f"/transactions/{made['id']}").body["status"] == "awaiting_payment"
    autopilot_world.advance(by="50m")
    assert autopilot_world.api("GET", f"/transactions/{made['id']}").body["status"] == "completed"


def test_restored_world_repeats_the_same_events(autopilot_world: Remote) -> None:
    def go_on() -> list[Any]:
        answers = [onramp(autopilot_world), send(autopilot_world, FRIEND), autopilot_world.advance(by="50m")]
        return [*answers, autopilot_world.control("GET", "/events").raw, autopilot_world.api("GET", "/orders").raw]

    onramp(autopilot_world)
    taken = snapshot(autopilot_world)
    first = go_on()
    restore(autopilot_world, taken["id"])
    assert go_on() == first


def test_token_issued_after_the_snapshot_is_never_valid_again(world: Remote) -> None:
    old = world.token()
    taken = snapshot(world)
    world.tokens.clear()
    new = world.token()
    restore(world, taken["id"])
    assert world.call("GET", f"{world.base()}/profile", headers={"Authorization": f"Bearer {new}"}).status == 401
    assert world.call("GET", f"{world.base()}/profile", headers={"Authorization": f"Bearer {old}"}).status == 200
    world.tokens.clear()
    assert world.token() not in (old, new)


def test_a_key_made_after_the_snapshot_is_unknown_again(world: Remote) -> None:
    taken = snapshot(world)
    pair = world.act("create_key").body["resource"]
    keys = {name: pair[name] for name in ("public_key", "secret_key")}
    assert world.call("POST", f"{world.base()}/auth/token", json=keys).status == 200
    restore(world, taken["id"])
    assert world.call("POST", f"{world.base()}/auth/token", json=keys).code == "invalid_credentials"


def test_snapshots_stay_on_reset_and_go_with_their_world(server: Remote, world: Remote) -> None:
    world.act("set_balance", symbol="XLM", network="STELLAR", amount="1")
    taken, before = snapshot(world), state(world)
    ok(world.control("POST", "/reset"))
    assert state(world) != before
    restore(world, taken["id"])
    assert state(world) == before
    assert world.control("DELETE", f"/worlds/{world.world['id']}").status == 204
    assert server.call("GET", f"{server.origin}/_simulator/snapshots/{taken['id']}").status == 404
    forked = server.control("POST", "/worlds", {"from_snapshot": taken["id"]})
    assert forked.refusal == (404, "not_found", "from_snapshot")


def test_a_snapshot_is_unknown_in_another_world(world: Remote, autopilot_world: Remote) -> None:
    taken = snapshot(world)
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/restore")):
        assert autopilot_world.control(method, f"/snapshots/{taken['id']}{path}").code == "not_found"
    assert world.control("POST", "/snapshots/snap_999999/restore").status == 404
    without_header = world.call("POST", f"{world.origin}/_simulator/snapshots/{taken['id']}/restore")
    assert without_header.body["id"] == world.world["id"]


def test_a_name_that_is_not_a_string_is_refused(world: Remote) -> None:
    assert world.control("POST", "/snapshots", {"name": 7}).refusal == (400, "invalid_parameter", "name")


def test_a_snapshot_waits_for_webhooks_in_flight(world: Remote) -> None:
    url = inboxes(world)[1]
    ok(world.api("POST", "/webhooks", {"url": url, "events": ["*"]}))
    for _ in range(20):
        send(world, FRIEND)
    document = world.control("GET", f"/snapshots/{snapshot(world)['id']}").body
    assert "webhook_in_flight" not in document["tables"]
    assert "webhook_ready" not in document["tables"]


@pytest.mark.parametrize("end", ["PUT /state", "POST /snapshots/{taken}/restore", "POST /reset", "DELETE /worlds/{id}"])
def test_world_in_an_advance_can_be_replaced_but_not_saved(world: Remote, end: str) -> None:
    taken, document = snapshot(world), state(world)
    method, path = end.format(taken=taken["id"], id=world.world["id"]).split()
    ok(world.control("POST", "/faults", {"webhook": {}, "deliver": {"delay": "1s"}}))
    with slow_receiver(world) as receiver, ThreadPoolExecutor(1) as pool:
        advancing = pool.submit(world.control, "POST", "/clock/advance?wait=true", {"by": "50m"})
        assert receiver.entered.wait(10)
        with new_client() as client:
            beside = Remote(world.origin, client, world.world)
            for keeping in (beside.control("POST", "/snapshots", {}), beside.control("GET", "/state")):
                assert keeping.refusal[:2] == (409, "clock_busy")
            ok(beside.control(method, path, document if method == "PUT" else None))
            cancelled = advancing.result(10)
            assert (cancelled.status, cancelled.code) == (409, "advance_cancelled")
            assert cancelled.body["error"]["receipt"]["reached"] is False
            if method != "DELETE":
                assert ok(beside.control("POST", "/clock/advance", {"by": "1s"}))["reached"] is True


@pytest.mark.parametrize("call", ["GET /state", "POST /snapshots", "POST /settle"])
def test_call_on_an_old_connection_gives_up_on_a_hanging_receiver(
    world: Remote, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_call, "REST_SECONDS", 0.2)
    method, path = call.split()
    ok(world.control("GET", "/clock"))  # the connection is open before anything is sent
    with slow_receiver(world) as receiver:
        send(world, FRIEND)
        assert receiver.entered.wait(10)
        refused = world.control(method, path, {} if method == "POST" else None)
        assert refused.refusal[:2] == (409, "clock_busy")
        assert "wait=true" in refused.body["error"]["message"]


class Gate:
    """Two events: a request has arrived, and it may be answered."""

    def __init__(self) -> None:
        self.entered, self.leave = threading.Event(), threading.Event()

    def answer(self, event: Any) -> int:
        self.entered.set()
        self.leave.wait(10)
        return 200


@contextmanager
def slow_receiver(world: Remote) -> Iterator[Gate]:
    """An endpoint that responds only when released, with a delivery in flight."""
    gate = Gate()
    with Receiver(gate.answer).listening() as receiver:
        ok(world.api("POST", "/webhooks", {"url": receiver.url, "events": ["*"]}))
        send(world, FRIEND)
        try:
            yield gate
        finally:
            gate.leave.set()


# --- forks --------------------------------------------------------------------------------------------------------


def test_fork_has_the_state_of_the_snapshot_and_new_keys(autopilot_world: Remote) -> None:
    made = onramp(autopilot_world)
    token = autopilot_world.token()
    taken = snapshot(autopilot_world)
    autopilot_world.advance(by="50m")
    fork = autopilot_world.another(from_snapshot=taken["id"])
    assert fork.world["id"] != autopilot_world.world["id"]
    assert fork.world["seed"] == autopilot_world.world["seed"]
    assert fork.world["clock"]["now"] == taken["at"]
    for environment in ("sandbox", "production"):
        for name in ("public_key", "secret_key", "webhook_key"):
            assert (
                fork.world["credentials"][environment][name] != autopilot_world.world["credentials"][environment][name]
            )
    assert fork.api("GET", f"/transactions/{made['id']}").body["status"] == "awaiting_payment"
    assert autopilot_world.api("GET", f"/transactions/{made['id']}").body["status"] == "completed"
    theirs = autopilot_world.call(
        "GET", f"{autopilot_world.base()}/transactions/{made['id']}", headers={"Authorization": f"Bearer {token}"}
    )
    assert theirs.body["status"] == "completed"
    tokens = [name for name in state(fork)["tables"] if name.endswith(":tokens")]
    assert len(tokens) == 1, "only the one that was just asked for"


def test_a_fork_continues_as_the_original_would(autopilot_world: Remote) -> None:
    onramp(autopilot_world)
    fork = autopilot_world.another(from_snapshot=snapshot(autopilot_world)["id"])

    def go_on(world: Remote) -> list[Any]:
        receipt = world.advance(by="50m")
        return [receipt, onramp(world)["id"], world.control("GET", "/events").raw, world.control("GET", "/timers").body]

    autopilot_world.tokens.clear()
    assert go_on(fork) == go_on(autopilot_world)


def test_a_fork_and_its_original_are_independent(world: Remote) -> None:
    fork = world.another(from_snapshot=snapshot(world)["id"], id=f"{world.world['id']}-fork")
    assert fork.world["id"] == f"{world.world['id']}-fork"
    send(fork, FRIEND)
    assert world.event_types() == []
    assert len(fork.event_types()) == 2
    assert world.control("DELETE", f"/worlds/{world.world['id']}").status == 204
    send(fork, FRIEND)


def test_a_fork_gets_the_settings_of_its_request(autopilot_world: Remote) -> None:
    onramp(autopilot_world)
    taken = snapshot(autopilot_world)
    fork = autopilot_world.another(
        from_snapshot=taken["id"],
        seed=99,
        clock={"mode": "scaled", "rate": 0.001, "now": "2026-01-05T09:00:00.000Z"},
        scenarios=["test-values"],
        settings={"strict": True, "journal_limit": 3},
    )
    assert fork.world["seed"] == 99
    assert fork.world["clock"]["mode"] == "scaled"
    assert fork.world["clock"]["rate"] == 0.001
    assert fork.world["clock"]["now"].startswith("2026-01-05T09:00:0")
    assert fork.world["scenarios"] == ["test-values"]
    assert fork.world["settings"]["strict"] is True
    assert "transaction.expired" in fork.event_types(), "what fell due on the way has fired"


@pytest.mark.parametrize(
    ("body", "refusal"),
    [
        ({"from_snapshot": "snap_nope"}, (404, "not_found", "from_snapshot")),
        ({"from_snapshot": 1}, (400, "invalid_parameter", "from_snapshot")),
        ({"id": "default"}, (409, "already_exists", "id")),
        ({"clock": {"now": "2026-01-05T07:00:00Z"}}, (400, "invalid_parameter", "clock.now")),
        ({"scenarios": ["nowhere"]}, (404, "not_found", "scenarios")),
    ],
)
def test_invalid_fork_is_refused(world: Remote, body: Any, refusal: Any) -> None:
    taken = snapshot(world)
    before = world.control("GET", "/health").body["worlds"]
    assert world.control("POST", "/worlds", {"from_snapshot": taken["id"]} | body).refusal == refusal
    assert world.control("GET", "/health").body["worlds"] == before


def test_a_fork_is_reset_to_a_fresh_world_with_its_own_keys(world: Remote) -> None:
    world.advance(by="50m")
    send(world, FRIEND)
    fork = world.another(from_snapshot=snapshot(world)["id"])
    again = ok(fork.control("POST", "/reset"))
    assert again["credentials"] == fork.world["credentials"]
    assert again["clock"]["now"] == "2026-01-05T08:00:00.000Z"
    assert (again["seed"], again["scenarios"]) == (fork.world["seed"], [])
    assert fork.event_types() == []


def test_a_fork_of_a_fork_has_its_own_keys(world: Remote) -> None:
    fork = world.another(from_snapshot=snapshot(world)["id"])
    second = fork.another(from_snapshot=snapshot(fork)["id"])
    keys = [remote.world["credentials"]["sandbox"]["public_key"] for remote in (world, fork, second)]
    assert len(set(keys)) == 3
    for remote in (world, fork, second):
        remote.tokens.clear()
        assert remote.api("GET", "/profile").status == 200


# --- documents ----------------------------------------------------------------------------------------------------


def test_a_world_is_replaced_by_its_own_document(autopilot_world: Remote) -> None:
    onramp(autopilot_world)
    document = state(autopilot_world)
    autopilot_world.advance(by="50m")
    assert ok(autopilot_world.control("PUT", "/state", document))["id"] == autopilot_world.world["id"]
    assert state(autopilot_world) == document
    assert autopilot_world.api("GET", "/orders").status == 200, "the tokens of the document live"


def test_document_with_keys_of_another_world_is_refused(world: Remote, autopilot_world: Remote) -> None:
    document, before = state(world), state(autopilot_world)
    refused = autopilot_world.control("PUT", "/state", document)
    assert (refused.status, refused.code) == (409, "already_exists")
    assert state(autopilot_world) == before
    assert world.control("DELETE", f"/worlds/{world.world['id']}").status == 204
    moved = ok(autopilot_world.control("PUT", "/state", document))
    assert moved["id"] == autopilot_world.world["id"]
    assert moved["seed"] == world.world["seed"]
    assert moved["credentials"] == world.world["credentials"]
    old = {name: autopilot_world.world["credentials"]["sandbox"][name] for name in ("public_key", "secret_key")}
    assert autopilot_world.call("POST", f"{autopilot_world.base()}/auth/token", json=old).code == "invalid_credentials"


def test_imported_world_is_reset_to_its_blueprint(world: Remote) -> None:
    other = world.another(seed=77, scenarios=["test-values"], clock={"mode": "manual", "now": "2026-03-01T00:00:00Z"})
    other.advance(by="50m")
    document = state(other)
    assert other.control("DELETE", f"/worlds/{other.world['id']}").status == 204
    ok(world.control("PUT", "/state", document))
    again = ok(world.control("POST", "/reset"))
    assert (again["id"], again["seed"], again["scenarios"]) == (world.world["id"], 77, ["test-values"])
    assert again["clock"]["now"] == "2026-03-01T00:00:00.000Z"
    assert again["credentials"] == other.world["credentials"]


def test_keys_of_an_imported_world_are_not_created_twice(world: Remote) -> None:
    other = world.another(id=f"{world.world['id']}-twice", seed=5)
    document = state(other)
    assert other.control("DELETE", f"/worlds/{other.world['id']}").status == 204
    ok(world.control("PUT", "/state", document))
    again = world.control("POST", "/worlds", {"id": f"{world.world['id']}-twice", "seed": 5})
    assert (again.status, again.code) == (409, "already_exists")
    assert world.control("GET", f"/worlds/{world.world['id']}-twice").status == 404
    ok(world.control("POST", "/worlds", {"id": f"{world.world['id']}-twice", "seed": 6}))


def test_a_document_that_is_refused_changes_nothing(autopilot_world: Remote) -> None:
    onramp(autopilot_world)
    before = state(autopilot_world)
    spoils: tuple[Callable[[Any], object], ...] = (
        lambda d: d.pop("format"),
        lambda d: d["tables"]["timers"][0][1].update({"$": "World"}),
        lambda d: d["tables"]["timers"][0][1].update({"due_at_ms": "soon"}),
    )
    for spoil in spoils:
        document = state(autopilot_world)
        spoil(document)
        refused = autopilot_world.control("PUT", "/state", document)
        assert (refused.status, refused.code) == (400, "invalid_parameter")
        assert refused.param
        assert state(autopilot_world) == before
    assert autopilot_world.call("PUT", f"{autopilot_world.origin}/_simulator/state", content=b"{").status == 400
    assert state(autopilot_world) == before
    assert (
        autopilot_world.call(
            "PUT", f"{autopilot_world.origin}/_simulator/state", headers={"X-Simulator-World": "none"}
        ).status
        == 404
    )


def test_a_fresh_process_continues_exactly_as_the_first(autopilot_world: Remote, http: httpx.Client) -> None:
    busy_morning(autopilot_world, *inboxes(autopilot_world))
    document = state(autopilot_world)
    with another_process(http) as second:
        imported = ok(second.control("PUT", "/state", document))
        assert (
            imported["credentials"]["sandbox"]["public_key"]
            == autopilot_world.world["credentials"]["sandbox"]["public_key"]
        )
        exported = state(second)
        assert exported.pop("world") == "default"
        assert exported == {name: value for name, value in document.items() if name != "world"}
        second.world, second.tokens = imported, dict(autopilot_world.tokens)
        assert afternoon(second) == afternoon(autopilot_world)


# --- many worlds --------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_thousand_worlds_live_side_by_side(world: Remote) -> None:
    count = whole(1000, short=200)
    began = time.process_time()
    made = [world.another(seed=number, settings={"strict": number % 2 == 0}) for number in range(count)]
    keys = {remote.world["credentials"]["sandbox"]["public_key"] for remote in made}
    assert len(keys) == count
    for remote in made[::100]:
        send(remote, FRIEND)
    assert [len(remote.event_types()) for remote in made[::50]] == [2, 0] * (count // 100)
    assert made[3].control("GET", "/settings").body["strict"] is False
    for remote in made:
        assert remote.control("DELETE", f"/worlds/{remote.world['id']}").status == 204
    assert made[0].api("GET", "/profile").status == 401
    assert time.process_time() - began < 30


def test_an_idle_world_is_small_and_quickly_made_again() -> None:
    simulator, count = Simulator(), 200
    simulator.create_world(Blueprint("default", 1, scenarios=DEFAULT_SCENARIOS))
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for number in range(count):
        simulator.create_world(Blueprint(f"w{number}", number, scenarios=DEFAULT_SCENARIOS))
    each = (tracemalloc.get_traced_memory()[0] - before) / count
    tracemalloc.stop()
    assert each < 40_000, f"{each:.0f} bytes"
    with untraced():
        began = time.process_time()
        for number in range(count):
            simulator.reset_world(f"w{number}")
        seconds = time.process_time() - began
    assert seconds / count < 0.003
    for number in range(count):
        simulator.delete_world(f"w{number}")
    assert list(simulator.worlds) == ["default"]
    assert len(simulator.directory) == 2


# --- reset and running calls --------------------------------------------------------------------------------------


def test_nothing_of_the_old_world_is_delivered_after_a_reset(world: Remote) -> None:
    with slow_receiver(world) as receiver:
        assert receiver.entered.wait(10)
        again = ok(world.control("POST", "/reset"))
        receiver.leave.set()
        assert again["clock"]["timers"] == 0
        assert ok(world.control("POST", "/settle")) == {"deliveries": 0}
        assert world.control("GET", "/deliveries").body == {"data": []}
        assert world.control("GET", "/timers").body == {"data": []}


def test_request_journal_is_bounded_by_its_setting(world: Remote) -> None:
    for _ in range(6):
        world.api("GET", "/profile")
    assert len(world.control("GET", "/requests").body["data"]) == 7
    ok(world.control("PATCH", "/settings", {"journal_limit": 3}))
    kept = world.control("GET", "/requests").body["data"]
    assert [row["path"] for row in kept] == ["/v1/profile"] * 3
    world.api("GET", "/fees")
    assert [row["path"] for row in world.control("GET", "/requests").body["data"]][-1] == "/v1/fees"
    assert len(world.control("GET", "/requests").body["data"]) == 3
    ok(world.control("PATCH", "/settings", {"journal_limit": 5}))
    world.api("GET", "/fees")
    assert len(world.control("GET", "/requests").body["data"]) == 4
    taken = snapshot(world)
    restore(world, taken["id"])
    for _ in range(9):
        world.api("GET", "/fees")
    assert len(world.control("GET", "/requests").body["data"]) == 5
