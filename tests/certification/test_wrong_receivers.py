"""Each wrong receiver is found by the rule that is named for it, and by no other; the reference receiver by none."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.certification.rules import NAMES
from tests.certification.conftest import Start
from tests.certification.wrong import WRONG, Wrong

pytestmark = pytest.mark.slow


def test_the_reference_receiver_is_certified(start: Start) -> None:
    report = start().examined(books_seconds=5)
    assert [one.rule.name for one in report.results] == list(NAMES)
    assert {one.rule.name: one.got for one in report.results if one.verdict != "pass"} == {}
    assert report.certified


def test_the_reference_receiver_of_production_is_certified(start: Start) -> None:
    receiver = start(environment="production")
    report = receiver.examined(books_seconds=5)
    assert {one.rule.name: one.got for one in report.results if one.verdict != "pass"} == {}
    assert report.keys["base_url"].endswith("/production/v1")
    told = [json.loads(one.body) for result in report.results for one in result.exchanges if one.ok and one.body]
    assert {event["livemode"] for event in told} == {True}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_a_wrong_receiver_is_caught_by_its_rule_and_by_no_other(wrong: Wrong, start: Start) -> None:
    receiver = start(*wrong.kinds())
    given: dict[str, Any] = {} if wrong.books else {"books": None}
    if wrong.quick_seconds is not None:
        given |= {"quick_seconds": wrong.quick_seconds, "patience_seconds": wrong.quick_seconds + 0.5}
    report = receiver.examined(**given)
    assert {one.rule.name: one.got for one in report.found("fail")}.keys() == {wrong.rule}
    assert not report.certified


def test_every_rule_catches_one_of_them() -> None:
    assert {wrong.rule for wrong in WRONG} == set(NAMES)
