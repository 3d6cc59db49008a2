"""What all control calls have in common: bounds of their bodies and of their journal, and the headers of answers."""

from __future__ import annotations

import pytest

from tests.remote import Remote


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "path", "limit"),
    [("PUT", "/state", 64 * 1024 * 1024), ("POST", "/faults", 1024 * 1024)],
)
def test_bodies_of_control_calls_are_bounded(world: Remote, method: str, path: str, limit: int) -> None:
    answer = world.control(method, path, content=b" " * (limit + 1))
    assert (answer.status, answer.code) == (400, "invalid_request")
    assert str(limit) in answer.body["error"]["message"]
    assert str(limit) not in world.control(method, path, content=b" " * limit).body["error"]["message"]


def test_the_journal_of_control_calls_is_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch, world: Remote) -> None:
    monkeypatch.setattr("simulator.control.journal.BYTES_KEPT", 50_000)
    for _ in range(20):
        world.act("create_key", label="x" * 200)
        world.control("POST", "/faults", {"match": {"public_key": "x" * 10_000}, "delay": "1ms"})
    kept = world.control("GET", "/controls").body
    assert len(kept["data"]) + kept["dropped"] == 40
    assert 1 <= len(kept["data"]) <= 5


def test_every_control_answer_says_how_it_may_be_used(server: Remote) -> None:
    for path in ("/health", "/worlds", "/none", "/dashboard", "/coverage.html", "/reference.html"):
        headers = server.control("GET", path).headers
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
