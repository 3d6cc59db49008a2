"""Searches: reproducible reports, orders that affect each other, background work, the toy service."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from simulator.certification.exhaustive import orders
from simulator.certification.exhaustive.bounds import Bounds
from simulator.certification.exhaustive.report import document, exit_code
from simulator.certification.exhaustive.running import Bound
from simulator.certification.stage import Service
from tests.remote import new_client
from tests.served_library import running_library
from tests.tools.certification.exhaustive.conftest import Search, searched
from tests.tools.certification.exhaustive.handler import Handler
from tests.tools.certification.exhaustive.shortcuts import HANDLERS
from tests.tools.certification.test_toy import Reader, listening
from tests.toy import PLAYBOOK, PROVIDER


def shown(report: Any) -> str:
    """Return a report without the only member that differs between equal runs."""
    return json.dumps({**document(report), "seconds": 0})


@pytest.mark.farm
def test_the_report_is_the_same_for_any_number_of_workers(search: Search) -> None:
    given = {"events": 2, "replays": True}
    one, four = (search("downgrades-a-final-state", "onramp", workers=workers, **given) for workers in (1, 4))
    assert shown(one) == shown(four)
    assert one.result.findings


@pytest.mark.farm
def test_saved_states_and_replayed_prefixes_give_the_same_report(search: Search) -> None:
    saved, replayed = (
        search("downgrades-a-final-state", "onramp", events=2, replays=replays) for replays in (False, True)
    )
    assert shown(saved) == shown(replayed)


class Distracted(Handler):
    """Books an order wrongly if the event before was about another order."""

    last = ""

    def take(self, event: dict[str, Any]) -> None:
        about = event["data"]["object"]["id"]
        known = self.db.execute("SELECT id FROM orders WHERE id = ?", (about,)).fetchone()
        super().take(event)
        if known and self.last != about:
            self.db.execute("UPDATE orders SET state = 'mixed up' WHERE id = ?", (about,))
        self.last = about


@pytest.mark.farm
def test_orders_that_affect_each_other_make_a_run_incomplete(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HANDLERS, "distracted", Distracted)
    report = search("distracted", "onramp", events=2, replays=True, workers=1)
    assert "beside another order" in report.unsound
    assert (report.complete, report.result.complete) == (False, True)
    assert "deliveries of different orders affect each other" in document(report)["note"]
    assert exit_code([report]) == 1 if report.result.findings else 4


class Forgetful(Handler):
    """Keeps a part of its state in memory, where no copy of the file finds it."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.seen: list[str] = []

    def take(self, event: dict[str, Any]) -> None:
        super().take(event)
        self.seen.append(event["id"])
        self.db.execute("UPDATE orders SET state = ?", (f"seen {len(self.seen)}",))


@pytest.mark.farm
def test_state_outside_the_saved_file_makes_a_run_incomplete(search: Search, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(HANDLERS, "forgetful", Forgetful)
    report = search("forgetful", "onramp", events=2, copies=1)
    assert "if the state is not restored in between" in report.unsound
    assert not report.complete


@pytest.mark.parametrize(("reads", "is_found"), [([1, 1, 2, 2], True), ([1, 1, 1, 2], False), ([0, 1], False)], ids=str)
def test_work_after_a_response_is_found_by_a_second_read(
    reads: list[int], is_found: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An order of two events, and the records at each read: at once and after a while."""
    monkeypatch.setattr("simulator.certification.exhaustive.orders.time.sleep", lambda seconds: None)
    order = SimpleNamespace(case=SimpleNamespace(bounds=Bounds(("made", "done"), 1, 1)), deliver=lambda move: None)
    books = SimpleNamespace(read=iter(reads).__next__)
    assert orders.is_prompt(order, books) is is_found  # type: ignore[arg-type]  # only what the function needs


def test_a_flow_of_the_toy_service_is_covered() -> None:
    with running_library() as origin, new_client() as http:
        keys = http.get(f"{origin}/_simulator/worlds/default").json()["credentials"]["practice"]
        with listening(Reader, keys["webhook_key"]) as url:
            bound = Bound("true", "lending", events=2, copies=2)
            (report,) = searched(bound, origin, keys["webhook_key"], url, Service(PROVIDER, PLAYBOOK))
    result = report.result
    assert report.complete, document(report)
    assert result.bounds.events == ("loan.returned", "loan.held_for_review")
    assert (result.states, result.edges, result.sequences) == (9, 12, 19)
    assert [one.verdict for one in result.findings] == []
