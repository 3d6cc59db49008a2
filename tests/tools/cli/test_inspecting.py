"""Inspecting a running server with commands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simulator.engine.clients.control import ControlClient
from tests.tools.cli.conftest import Command


def test_events_are_listed_and_filtered(rampsim: Command, offramp: str) -> None:
    types = [event["type"] for event in rampsim.json("events", "--object-id", offramp)]
    assert types == ["transaction.created", "transaction.awaiting_deposit"]
    assert len(rampsim.json("events", "--type", "transaction.created", "--limit", "5")) == 1
    assert [event["type"] for event in rampsim.json("events", "--limit", "1")] == types[-1:]


def test_waiting_for_an_event_answers_one_already_emitted(rampsim: Command, offramp: str) -> None:
    event = rampsim.json("events", "wait", "--type", "transaction.created", "--object-id", offramp)
    assert event["data"]["object"]["id"] == offramp


def test_a_wait_that_times_out_exits_with_1(rampsim: Command) -> None:
    result = rampsim("events", "wait", "--type", "kyc.rejected", "--timeout", "0")
    assert (result.exit_code, result.stderr) == (
        1,
        "rampsim: refused (timeout): No matching event occurred within 0 s.\n",
    )


def test_an_event_is_sent_again(rampsim: Command, offramp: str) -> None:
    event = rampsim.json("events", "--object-id", offramp)[0]
    assert rampsim.json("events", "resend", event["id"]) == {"deliveries": 0}
    assert rampsim("events", "resend", "evt_none").exit_code == 1


def test_events_are_followed_one_per_line(rampsim: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def event(number: int, kind: str) -> tuple[str, str]:
        return "event", json.dumps({"id": f"evt_{number}", "type": kind, "data": {"object": {"id": f"txn_{number}"}}})

    stream = [("clock", "{}"), event(1, "transaction.created"), event(2, "quote.expired"), event(3, "quote.expired")]
    monkeypatch.setattr(ControlClient, "stream", lambda self: iter(stream))
    lines = rampsim("events", "--follow", "--type", "quote.expired", "--object-id", "txn_3").stdout.splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["evt_3"]
    assert len(rampsim("events", "--follow").stdout.splitlines()) == 3


def test_resources_lists_all_or_shows_one(rampsim: Command, offramp: str) -> None:
    assert [row["id"] for row in rampsim.json("resources", "--type", "transaction", "--limit", "3")] == [offramp]
    story: dict[str, Any] = rampsim.json("resources", offramp)
    assert story["allowed"] == ["deposit_arrives"]


def test_requests_and_deliveries_are_listed(rampsim: Command, offramp: str) -> None:
    calls = rampsim.json("requests", "--method", "POST", "--path", "*/confirm", "--status", "201", "--limit", "2")
    assert [call["response"]["id"] for call in calls] == [offramp]
    assert rampsim.json("deliveries", "--status", "failed") == []
