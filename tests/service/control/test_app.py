"""Features of all control calls: limits of bodies and journal, and response headers."""

from __future__ import annotations

import pytest

from tests.remote import Remote


@pytest.mark.parametrize(
    ("method", "path", "limit"),
    [("PUT", "/state", 64 * 1024 * 1024), ("POST", "/faults", 1024 * 1024)],
)
def test_bodies_of_control_calls_are_bounded(world: Remote, method: str, path: str, limit: int) -> None:
    answer = world.control(method, path, content=b" " * (limit + 1))
    assert (answer.status, answer.code) == (400, "invalid_request")
    assert str(limit) in answer.body["error"]["message"]
    assert str(limit) not in world.control(method, path, content=b" " * limit).body["error"]["message"]


def test_the_journal_of_control_calls_is_bounded_in_bytes(world: Remote) -> None:
    world.control("PATCH", "/settings", {"journal_bytes": 65_536})
    for _ in range(20):
        world.act("create_key", label="x" * 200)
        world.control("POST", "/faults", {"match": {"public_key": "x" * 10_000}, "delay": "1ms"})
    kept = world.control("GET", "/controls").body
    assert len(kept["data"]) + kept["dropped"] == 41
    assert 1 <= len(kept["data"]) <= 12
    assert kept["truncated"] is True


def test_control_journal_has_the_bound_of_the_request_journal(world: Remote) -> None:
    for number in range(6):
        world.act("create_key", label=f"till {number}")
    assert "truncated" not in world.control("GET", "/controls").body
    world.control("PATCH", "/settings", {"journal_limit": 3})
    kept = world.control("GET", "/controls").body
    assert [row["body"] for row in kept["data"]] == [{"label": "till 4"}, {"label": "till 5"}, {"journal_limit": 3}]
    assert (kept["dropped"], kept["truncated"]) == (4, True)
    assert [row["id"] for row in world.control("GET", "/controls", params={"limit": "2"}).body["data"]] == [
        row["id"] for row in kept["data"][-2:]
    ]


@pytest.mark.parametrize("path", ["/events?type=x", "/events?type=transaction.failed&limit=x", "/events/wait?type=x"])
def test_an_unknown_world_is_refused_before_an_invalid_query(server: Remote, path: str) -> None:
    answer = server.control("GET", path, headers={"X-Simulator-World": "nobody"})
    assert (answer.status, answer.body["error"]["code"]) == (404, "not_found")


def test_every_control_answer_says_how_it_may_be_used(server: Remote) -> None:
    for path in ("/health", "/worlds", "/none", "/dashboard", "/coverage.html", "/reference.html"):
        headers = server.control("GET", path).headers
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")


def test_an_id_may_be_a_separate_path(world: Remote) -> None:
    """`/events/wait` is a call of its own, but in `/events/{id}/resend` `wait` can be an id."""
    answer = world.control("POST", "/events/wait/resend")
    assert (answer.status, answer.body["error"]["message"]) == (
        404,
        "There is no event 'wait'. List them with GET /_simulator/events.",
    )
    assert world.control("PUT", "/events/wait/resend").status == 405


@pytest.mark.parametrize(("mode", "status"), [("no-cors", 403), ("cors", 403), ("navigate", 200)])
def test_foreign_page_cannot_read_but_can_link(world: Remote, mode: str, status: int) -> None:
    said = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": mode}
    assert world.control("GET", "/clock", headers=said).status == status
