"""POST /seed: a history of orders over simulated days."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.remote import Answer, Remote


def seed(world: Remote, **body: Any) -> Answer:
    return world.control("POST", "/seed", body)


def transactions(world: Remote) -> list[dict[str, Any]]:
    first: dict[str, Any] = world.api("GET", "/transactions?size=100").body
    pages = range(2, first["pagination"]["total_pages"] + 1)
    rows: list[dict[str, Any]] = list(first["data"])
    for page in pages:
        rows += world.api("GET", f"/transactions?size=100&page={page}").body["data"]
    return rows


def test_orders_of_every_day_exist_with_their_outcomes(world: Remote) -> None:
    before = world.control("GET", "/clock").body["now"]
    answer = seed(world, days=10, per_day=20).body
    assert (answer["from"], answer["now"]) == (before, "2026-01-15T08:00:00.000Z")
    assert (answer["orders"], answer["refused"]) == (200, {})
    rows = transactions(world)
    counted = Counter((row["type"], row["status"]) for row in rows)
    assert counted["onramp", "completed"] > 50
    assert counted["offramp", "completed"] > 30
    assert counted["deposit", "completed"] > 5
    assert {"refunded", "expired"} <= {status for _, status in counted}
    days = Counter(row["created_at"][:10] for row in rows if (row["reference"] or "").startswith("history-"))
    assert len(days) >= 10
    assert all(count >= 8 for count in list(days.values())[1:-1])
    assert {row["created_at"] >= before for row in rows} == {True}


def test_recurring_runs_limits_and_the_ledger_are_those_of_the_orders(world: Remote) -> None:
    seed(world, days=10, per_day=5)
    payment = world.api("GET", "/recurring-payments").body["data"][0]
    assert (payment["status"], payment["runs_completed"]) == ("completed", 9)
    assert float(world.api("GET", "/profile/limits").body["limits"]["monthly"]["used"]) > 0


def test_the_same_seed_gives_the_same_history(world: Remote) -> None:
    worlds = [world, world.another(seed=1, scenarios=["autopilot"]), world.another(seed=2)]
    answers = [seed(one, days=3, per_day=10).body for one in worlds]
    rows = [transactions(one) for one in worlds]
    assert answers[0] == answers[1]
    assert [(row["id"], row["status"], row["created_at"]) for row in rows[0]] == [
        (row["id"], row["status"], row["created_at"]) for row in rows[1]
    ]
    assert rows[0] != rows[2]


def test_a_second_history_continues_the_first(world: Remote) -> None:
    seed(world, days=2, per_day=5)
    again = seed(world, days=2, per_day=5).body
    assert again["from"] == "2026-01-07T08:00:00.000Z"
    references = [row["reference"] for row in transactions(world) if (row["reference"] or "").startswith("history-")]
    assert (
        len(references)
        == len(set(references))
        == again["orders"] * 2 - sum(row["type"] == "deposit" for row in transactions(world))
    )


def test_most_orders_of_the_mix_failures_are_not_completed(world: Remote) -> None:
    seed(world, days=10, per_day=20, mix="failures")
    ramps = Counter(row["status"] for row in transactions(world) if row["type"] in ("onramp", "offramp"))
    assert ramps["completed"] < ramps["refunded"] + ramps["expired"]


def test_webhooks_of_the_history_are_delivered(world: Remote) -> None:
    path = f"/inbox/history-{world.world['id']}"
    url = f"{world.origin}/_simulator{path}"
    assert world.api("POST", "/webhooks", {"url": url, "events": ["transaction.completed"]}).status == 201
    seed(world, days=2, per_day=10)
    completed = world.event_types(type="transaction.completed")
    deliveries = world.control("GET", "/deliveries?limit=1000").body["data"]
    assert {row["status"] for row in deliveries} == {"succeeded"}
    assert len([row for row in deliveries if row["event_type"] == "transaction.completed"]) == len(completed) > 10


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"days": 0}, "days"),
        ({"days": 367}, "days"),
        ({"days": 366, "per_day": 100}, "per_day"),
        ({"per_day": -1}, "per_day"),
        ({"per_day": "many"}, "per_day"),
        ({"mix": "sunny"}, "mix"),
        ({"weeks": 2}, "weeks"),
    ],
)
def test_bad_input_is_refused_and_nothing_happens(world: Remote, body: dict[str, Any], param: str) -> None:
    answer = seed(world, **body)
    assert (answer.status, answer.body["error"]["param"]) == (400, param)
    assert world.control("GET", "/clock").body["now"] == "2026-01-05T08:00:00.000Z"
    assert transactions(world) == []


def test_a_refused_order_is_counted_and_leaves_nothing_behind(world: Remote) -> None:
    world.control("POST", "/actions/set_network", {"network": "celo", "status": "down"})
    answer = seed(world, days=1, per_day=10).body
    assert answer["refused"]["network_unavailable"] > 0
    assert [row for row in transactions(world) if row["type"] in ("onramp", "offramp")] == []


def test_other_calls_do_not_wait_for_a_long_history(world: Remote) -> None:
    answered = 0
    with ThreadPoolExecutor(1) as pool, httpx.Client(trust_env=False) as client:
        history = pool.submit(seed, world, days=30, per_day=40)
        while not history.done():
            client.get(f"{world.origin}/_simulator/health").raise_for_status()
            answered += 1
    assert history.result().body["orders"] == 1200
    assert answered > 45, "more than one call was answered for each day of the history"


def test_a_world_that_ends_meanwhile_ends_its_history(world: Remote) -> None:
    other = world.another(seed=5)
    with ThreadPoolExecutor(1) as pool:
        history = pool.submit(seed, other, days=300, per_day=60)
        while other.control("GET", "/events?limit=1").body["data"] == []:
            pass
        world.control("DELETE", f"/worlds/{other.world['id']}")
        answer = history.result()
    assert (answer.status, answer.body["error"]["code"]) in ((409, "invalid_state"), (409, "advance_cancelled"))
