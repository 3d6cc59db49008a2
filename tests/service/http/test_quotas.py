"""Quotas limit a world's share of a server. A call that a quota refuses changes nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import httpx
import pytest

from simulator.engine.server.app import Application
from simulator.engine.server.checks.quotas import CallQuota
from simulator.engine.worlds.settings import DEFAULTS
from tests.remote import EMPTY, Remote, running
from tests.service.http.busy import recurring
from tests.support import QUOTE

CODE = "simulator_quota_exceeded"
ROOM = 8
"""So many resources a world with the least quota of 10 has room for beside its two keys."""


@pytest.fixture(scope="module")
def bounded(http: httpx.Client) -> Iterator[tuple[Remote, Application]]:
    """A server with quotas, whose clock the test controls."""
    most: dict[str, Any] = {"quota_calls_per_second": 3, "quota_objects": 14, "quota_journal_bytes": 70_000}
    with running(replace(EMPTY, settings={**DEFAULTS, **most})) as (origin, application):
        yield Remote(origin, http), application


def timed(application: Application) -> list[float]:
    """Replace the clock of the quota. The first item of the returned list is its time in seconds."""
    clock = [100.0]
    application.endpoint.quota = CallQuota(lambda: clock[0])
    return clock


def test_a_call_beyond_the_quota_is_429_and_says_whose_quota_that_is(bounded: tuple[Remote, Application]) -> None:
    server, application = bounded
    clock = timed(application)
    world = server.another()
    assert [world.api("GET", "/profile").status for _ in range(2)] == [200, 200]  # the third is the one for the token
    refused = world.api("GET", "/profile")
    assert (refused.status, refused.code) == (429, CODE)
    assert (refused.headers["retry-after"], refused.headers["x-simulator-quota"]) == ("1", "quota_calls_per_second")
    assert "not the rate limit of the service" in refused.body["error"]["message"]
    assert "3 calls per second" in refused.body["error"]["message"]
    clock[0] += 0.99
    assert world.api("GET", "/profile").status == 429
    clock[0] += 0.01
    assert world.api("GET", "/profile").status == 200


def test_another_world_is_not_hindered(bounded: tuple[Remote, Application]) -> None:
    server, application = bounded
    timed(application)
    loud, quiet = server.another(), server.another()
    assert [loud.api("GET", "/profile").status for _ in range(4)][-1] == 429
    assert quiet.api("GET", "/profile").status == 200


def test_a_call_beyond_the_quota_leaves_no_trace(bounded: tuple[Remote, Application]) -> None:
    """A refusal caused by real time must not affect later responses of the world."""
    server, application = bounded
    seen = []
    for patience in (True, False):
        clock = timed(application)
        world = server.another(id="twin", seed=5, replace=True)
        world.token()
        for _ in range(3):
            answer = world.api("POST", "/quotes", QUOTE)
            if patience or answer.status == 429:
                clock[0] += 1
        requests = world.control("GET", "/requests").body["data"]
        seen.append([(row["id"], row["status"]) for row in requests])
    assert seen[0][:3] == seen[1]
    assert len(seen[1]) == 3


def test_control_calls_are_not_counted(bounded: tuple[Remote, Application]) -> None:
    server, application = bounded
    timed(application)
    world = server.another()
    assert {world.control("GET", "/clock").status for _ in range(9)} == {200}


def quotes(world: Remote, count: int) -> list[Any]:
    return [world.api("POST", "/quotes", QUOTE) for _ in range(count)]


def everything(world: Remote) -> list[Any]:
    """All that a refused call could have changed: rows and books; the journal of calls has it of course."""
    paths = ("/resources", "/events", "/ledger", "/timers", "/deliveries")
    return [world.control("GET", path).body for path in paths]


def test_one_object_too_many_is_507_and_nothing_is_made(world: Remote) -> None:
    full = world.another(settings={"quota_objects": 10}, scenarios=[])
    assert {answer.status for answer in quotes(full, ROOM)} == {201}
    before = everything(full)
    (refused,) = quotes(full, 1)
    assert (refused.status, refused.code, refused.headers["x-simulator-quota"]) == (507, CODE, "quota_objects")
    assert "not a limit of the service" in refused.body["error"]["message"]
    assert everything(full) == before
    full.control("PATCH", "/settings", {"quota_objects": 11})
    assert quotes(full, 1)[0].status == 201


def test_a_key_is_not_bound_by_a_refusal_of_the_quota(world: Remote) -> None:
    full = world.another(settings={"quota_objects": 10}, scenarios=[])
    quotes(full, ROOM)
    key = {"Idempotency-Key": "once"}
    assert full.api("POST", "/wallets", {"network": "celo"}, key).status == 507
    full.control("PATCH", "/settings", {"quota_objects": None})
    assert full.api("POST", "/wallets", {"network": "celo"}, key).status == 201


def test_an_action_that_makes_one_too_many_is_undone(world: Remote) -> None:
    full = world.another(settings={"quota_objects": 10}, scenarios=[])
    wallet = full.api("POST", "/wallets", {"network": "celo"}).body["id"]
    quotes(full, ROOM - 1)
    before = everything(full)
    refused = full.act("deposit_arrives", wallet, asset="CELO", amount="1")
    assert (refused.status, refused.code) == (507, CODE)
    assert everything(full) == before


def test_a_trigger_that_needs_more_than_there_is_room_for_leaves_nothing(world: Remote) -> None:
    full = world.another(settings={"quota_objects": 10}, scenarios=[])
    quotes(full, ROOM)
    before = everything(full)
    refused = full.control("POST", "/trigger", {"event": "transaction.completed"})
    assert refused.status == 409
    assert "quota_objects" in refused.body["error"]["message"]
    assert everything(full) == before


def test_an_emitted_event_of_a_rule_ends_an_advance(world: Remote) -> None:
    """A run of a recurring payment makes a transaction: the law has no exceptions, but a clock need not go on."""
    full = world.another(scenarios=[])
    recurring(full)
    quotes(full, ROOM - 2)  # the beneficiary and the recurring payment are there
    full.control("PATCH", "/settings", {"quota_objects": 10})
    answer = full.control("POST", "/clock/advance", {"by": "9d"})
    assert (answer.status, answer.code) == (409, "advance_cancelled")
    assert "quota_objects" in answer.body["error"]["message"]
    assert answer.body["error"]["receipt"]["now"] < "2026-01-08"
    full.control("PATCH", "/settings", {"quota_objects": None})
    assert full.control("POST", "/clock/advance", {"by": "9d"}).status == 200


def test_the_quota_of_the_journal_is_the_most_that_is_kept(world: Remote) -> None:
    full = world.another(settings={"quota_journal_bytes": 65_536}, scenarios=[])
    for _ in range(4):
        full.api("PATCH", "/profile", {"note": "x" * 30_000})
    shown = full.control("GET", "/requests").body
    assert shown["truncated"] is True
    assert len(shown["data"]) < 4
    assert full.control("GET", "/settings").body["journal_bytes"] == 67_108_864


@pytest.mark.parametrize(
    ("wanted", "param"),
    [
        ({"quota_calls_per_second": 4}, "quota_calls_per_second"),
        ({"quota_objects": 15}, "quota_objects"),
        ({"quota_journal_bytes": 70_001}, "quota_journal_bytes"),
        ({"journal_bytes": 70_001}, "journal_bytes"),
    ],
)
def test_no_world_gets_more_than_the_server_was_started_with(
    bounded: tuple[Remote, Application], wanted: dict[str, Any], param: str
) -> None:
    server, application = bounded
    timed(application)
    world = server.another()
    assert world.control("PATCH", "/settings", wanted).refusal == (400, "invalid_parameter", param)
    made = world.control("POST", "/worlds", {"settings": wanted})
    assert made.refusal == (400, "invalid_parameter", f"settings.{param}")
    assert "this server was started with --" in made.body["error"]["message"]


def test_null_is_as_much_as_the_server_allows(bounded: tuple[Remote, Application]) -> None:
    server, application = bounded
    timed(application)
    world = server.another(settings={"quota_objects": 10, "quota_calls_per_second": None})
    assert (world.world["settings"]["quota_objects"], world.world["settings"]["quota_calls_per_second"]) == (10, 3)
    assert world.control("PATCH", "/settings", {"quota_objects": None}).body["quota_objects"] == 14


def test_no_state_that_is_put_in_place_raises_a_quota(bounded: tuple[Remote, Application], world: Remote) -> None:
    server, application = bounded
    timed(application)
    document = world.another(scenarios=[]).control("GET", "/state").body
    guest = server.another()
    assert guest.control("PUT", "/state", document).body["settings"]["quota_objects"] == 14
    assert guest.control("POST", "/reset").body["settings"]["quota_objects"] == 14
    snapshot = guest.control("POST", "/snapshots", {}).body["id"]
    assert guest.control("POST", "/worlds", {"from_snapshot": snapshot}).body["settings"]["quota_objects"] == 14


def test_a_state_with_more_objects_than_may_be_is_refused_whole(
    bounded: tuple[Remote, Application], world: Remote
) -> None:
    server, application = bounded
    timed(application)
    large = world.another(scenarios=[])
    quotes(large, 13)
    document = large.control("GET", "/state").body
    guest = server.another()
    before = guest.control("GET", "/state").body
    refused = guest.control("PUT", "/state", document)
    assert (refused.status, refused.code) == (507, CODE)
    assert guest.control("GET", "/state").body == before


# --- snapshots, scenarios, events, inboxes ----------------------------------------------------------------------------

HELD: dict[str, Any] = {
    "quota_objects": 20, "quota_journal_bytes": 70_000, "quota_snapshots": 3, "quota_scenarios": 3,
    "quota_events": 20, "quota_bytes": 300_000,
}  # fmt: skip


@pytest.fixture
def holding(http: httpx.Client) -> Iterator[Remote]:
    """A world of a server that bounds what a world holds."""
    with running(replace(EMPTY, settings={**DEFAULTS, **HELD})) as (origin, _):
        yield Remote(origin, http).another()


def scenario(name: str, size: int = 100) -> dict[str, Any]:
    return {"name": name, "description": "x" * size}


def quota_of(answer: Any) -> tuple[int, str, str]:
    return answer.status, answer.code, answer.headers["x-simulator-quota"]


def test_snapshots_beyond_the_quota_are_refused(holding: Remote) -> None:
    taken = [holding.control("POST", "/snapshots", {}).body["id"] for _ in range(3)]
    before = holding.control("GET", "/state").raw
    assert quota_of(holding.control("POST", "/snapshots", {})) == (507, CODE, "quota_snapshots")
    assert holding.control("GET", "/state").raw == before
    holding.control("DELETE", f"/snapshots/{taken[0]}")
    assert holding.control("POST", "/snapshots", {}).status == 201


def test_uploads_beyond_the_quota_are_refused(holding: Remote) -> None:
    assert [holding.control("POST", "/scenarios", scenario(f"s{n}")).status for n in range(3)] == [201] * 3
    before = holding.control("GET", "/state").raw
    assert quota_of(holding.control("POST", "/scenarios", scenario("s3"))) == (507, CODE, "quota_scenarios")
    assert holding.control("GET", "/state").raw == before
    assert holding.control("POST", "/scenarios", scenario("s2", 200)).status == 201


def test_uploads_beyond_the_bytes_are_refused(holding: Remote) -> None:
    answers = [holding.control("POST", "/scenarios", scenario(f"s{n}", 120_000)) for n in range(3)]
    assert [answer.status for answer in answers] == [201, 201, 507]
    assert quota_of(answers[-1]) == (507, CODE, "quota_bytes")
    assert quota_of(holding.control("POST", "/snapshots", {})) == (507, CODE, "quota_bytes")


def test_worlds_made_with_more_scenarios_than_the_quota_are_refused(holding: Remote) -> None:
    wanted = {"id": "many", "scenarios": [scenario(f"s{n}") for n in range(4)]}
    assert quota_of(holding.control("POST", "/worlds", wanted)) == (507, CODE, "quota_scenarios")
    assert holding.control("GET", "/worlds/many").status == 404


def test_emits_beyond_the_quota_are_refused(holding: Remote) -> None:
    emit = ("POST", "/actions/emit", {"type": "transaction.completed"})
    answers = [holding.control(*emit) for _ in range(22)]
    assert [answer.status for answer in answers].count(200) <= 20
    assert quota_of(answers[-1]) == (507, CODE, "quota_events")
    before = holding.control("GET", "/state").raw
    assert holding.control(*emit).status == 507
    assert holding.control("GET", "/state").raw == before


def test_inboxes_keep_no_more_than_the_quota_of_journals(holding: Remote) -> None:
    headers = {"X-Simulator-World": holding.world["id"]}
    for number in range(30):
        holding.call(
            "POST", f"{holding.origin}/_simulator/inbox/box{number % 3}", json={"text": "x" * 10_000}, headers=headers
        )
    kept = [holding.control("GET", f"/inbox/box{number}").body for number in range(3)]
    assert 0 < sum(len(one["data"]) for one in kept) * 10_000 <= HELD["quota_journal_bytes"]
    assert sum(one["dropped"] for one in kept) > 20
    answers = [holding.control("PUT", f"/inbox/own{number}", {"respond": [200]}) for number in range(21)]
    assert quota_of(answers[-1]) == (507, CODE, "quota_objects")


def test_faults_beyond_the_quota_are_refused(holding: Remote) -> None:
    fault = {"match": {"path": "/profile"}, "respond": {"status": 503, "code": "service_unavailable"}}
    answers = [holding.control("POST", "/faults", fault) for _ in range(21)]
    assert [answer.status for answer in answers[:20]] == [201] * 20
    assert quota_of(answers[-1]) == (507, CODE, "quota_objects")


def test_usage_shows_what_the_quotas_bound(holding: Remote) -> None:
    holding.control("POST", "/scenarios", scenario("one", 5_000))
    holding.control("POST", "/snapshots", {})
    holding.control("POST", "/actions/emit", {"type": "transaction.completed"})
    rows = {row["id"]: row for row in holding.control("GET", "/usage").body["data"]}
    row = rows[holding.world["id"]]
    assert (row["snapshots"], row["scenarios"], row["events"]) == (1, 1, 1)
    assert 10_000 < row["bytes"] < HELD["quota_bytes"]
