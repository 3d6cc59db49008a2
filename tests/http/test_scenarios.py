"""Uploading scenarios: what is taken, what is refused, and what is warned about."""

from __future__ import annotations

from tests.http.conftest import Remote


def test_an_upload_that_can_match_nothing_is_taken_with_a_warning(world: Remote) -> None:
    rule = {"on": "transaction.completed", "where": {"type": "onrmp"}, "do": []}
    answer = world.control("POST", "/scenarios", {"name": "x", "rules": [rule]})
    assert answer.status == 201
    ((warning),) = answer.body["warnings"]
    assert (warning["path"], warning["line"]) == ("rules[0].where.type", 1)
    assert warning["message"] == "`type` is never `onrmp`; did you mean `onramp`?"


def test_an_upload_without_doubts_has_no_warnings(world: Remote) -> None:
    assert "warnings" not in world.control("POST", "/scenarios", {"name": "x"}).body


def test_an_upload_is_bounded(world: Remote) -> None:
    for text in (b"#" * (256 * 1024 + 1), b"[" * 2_000, b"name: x\nrules: [" + b"x," * 20_001 + b"]"):
        answer = world.control("POST", "/scenarios", content=text)
        assert (answer.status, answer.code, len(answer.body["error"]["errors"])) == (400, "invalid_scenario", 1)


def test_an_action_that_is_no_text_and_a_number_that_is_too_large_are_refused(world: Remote) -> None:
    for text in (
        b"name: x\ndrive: [{action: {a: 1}}]",
        b"name: x\ndrive: [{post: /quotes, body: 99999999999999999999}]",
    ):
        assert world.control("POST", "/scenarios", content=text).refusal == (400, "invalid_scenario", None)
