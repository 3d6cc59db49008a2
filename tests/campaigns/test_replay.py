"""The comparison of two commits finds a difference, and makes the same calls for the same seed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.campaigns.replay import Call, Plan, comparable, compare


class Scripted:
    """A server that answers every call with 200, and one of them with another body."""

    def __init__(self, other: int = 0) -> None:
        self.other, self.calls = other, list[Call]()

    def play(self, call: Call) -> tuple[int, str]:
        self.calls.append(call)
        return 200, json.dumps({"id": f"qt_{len(self.calls)}", "changed": len(self.calls) == self.other})


def play(*servers: Any, calls: int = 50) -> int:
    return compare([*servers], Plan(3), calls, texts=True)


def test_equal_responses_pass_and_the_same_seed_draws_the_same_calls() -> None:
    first, second, third = Scripted(), Scripted(), Scripted()
    assert play(first, second) == 0
    assert play(third, Scripted()) == 0
    assert first.calls == third.calls
    assert len({call.path for call in first.calls}) > 10


def test_one_different_response_stops_the_run_and_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    last = Scripted(other=40)
    assert play(Scripted(), last) == 1
    assert len(last.calls) == 40
    assert "Call 40 differs" in capsys.readouterr().out


@pytest.mark.parametrize(("texts", "same"), [(True, False), (False, True)])
def test_texts_count_unless_they_are_ignored(texts: bool, same: bool) -> None:
    bodies = [
        '{"code": "not_found", "message": "There is no \\"x\\"."}',
        '{"code": "not_found", "message": "Unknown: x."}',
    ]
    assert (comparable(bodies[0], texts) == comparable(bodies[1], texts)) is same


def test_tokens_and_durations_never_count() -> None:
    assert comparable('{"access_token": "a", "duration_ms": 3}', texts=True) == comparable(
        '{"access_token": "b", "duration_ms": 41}', texts=True
    )
