"""Each wrong receiver breaks its rule and no other. The reference receiver breaks none."""

from __future__ import annotations

import json
import threading
from contextlib import suppress
from typing import Any

import pytest

from simulator.certification.receiver import Handler
from simulator.certification.rules import NAMES
from tests.tools.certification.conftest import Start
from tests.tools.certification.wrong import WRONG, Wrong


def test_the_reference_receiver_is_certified(start: Start) -> None:
    report = start().certified(books_seconds=5)
    assert [one.rule.name for one in report.results] == list(NAMES)
    assert {one.rule.name: one.got for one in report.results if one.verdict != "pass"} == {}
    assert report.certified


def test_the_reference_receiver_of_production_is_certified(start: Start) -> None:
    receiver = start(environment="production")
    report = receiver.certified(books_seconds=5)
    assert {one.rule.name: one.got for one in report.results if one.verdict != "pass"} == {}
    assert report.keys["base_url"].endswith("/production/v1")
    events = [json.loads(one.body) for result in report.results for one in result.exchanges if one.ok and one.body]
    assert {event["livemode"] for event in events} == {True}


def test_a_receiver_that_times_out_with_503_passes(start: Start) -> None:
    """After a timely 503 nothing is lost: the event is sent again."""

    class Impatient(Handler):
        def receive(self, body: bytes) -> int:
            if not self.verify(body):
                return 401
            thing = json.loads(body)["data"]["object"]["id"]
            call = threading.Thread(target=lambda: self.read(thing), daemon=True)
            call.start()
            call.join(0.5)
            return 503 if call.is_alive() else super().receive(body)

        def read(self, thing: str) -> None:
            with suppress(OSError):
                self.shop.service.transaction(thing)

    only = ("valid-event", "calls-back-before-answering")
    report = start(Impatient).certified(only=only, books=None, patience_seconds=1.5)
    assert [one.verdict for one in report.results] == ["pass", "pass"]
    assert [one.status for one in report.results[1].exchanges][-2:] == [503, 200]


def found_wrong(wrong: Wrong, start: Start, **more: Any) -> set[str]:
    """Return the rules that a wrong receiver breaks."""
    receiver = start(*wrong.kinds())
    given: dict[str, Any] = more if wrong.books else {"books": None, **more}
    if wrong.quick_seconds is not None:
        given |= {"quick_seconds": wrong.quick_seconds, "patience_seconds": wrong.quick_seconds + 0.5}
    report = receiver.certified(**given)
    assert not report.certified
    return {one.rule.name for one in report.found("fail")}


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_a_wrong_receiver_is_caught_by_its_rule(wrong: Wrong, start: Start) -> None:
    assert found_wrong(wrong, start, only=(wrong.rule,)) == {wrong.rule}


@pytest.mark.farm  # a whole run for each of them
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_a_wrong_receiver_is_caught_by_no_other_rule(wrong: Wrong, start: Start) -> None:
    assert found_wrong(wrong, start) == {wrong.rule}


def test_every_rule_catches_one_of_them() -> None:
    assert {wrong.rule for wrong in WRONG} == set(NAMES)
