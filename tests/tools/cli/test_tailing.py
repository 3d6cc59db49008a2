"""`rampsim tail`: its output, reconnecting, and its end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from simulator.cli.worlds import tailing
from simulator.cli.worlds.tailing import Wanted, line_of
from simulator.engine.clients.control import ControlClient, Unreachable
from tests.places import ROOT
from tests.tools.cli.conftest import Command, make_offramp

CALL = {"id": "req_1", "at": "2026-01-05T08:00:00.000Z", "method": "POST", "path": "/v1/quotes", "status": 422,
        "advice": ["unknown_field:x"]}  # fmt: skip
EVENT = {"id": "evt_1", "type": "transaction.completed", "created_at": "2026-01-05T08:00:01.000Z",
         "data": {"object": {"id": "txn_1", "status": "completed"}}}  # fmt: skip
DELIVERY = {"id": "dlv_1", "event_id": "evt_1", "event_type": "transaction.completed", "endpoint_id": "we_1",
            "url": "http://127.0.0.1:5000/hooks", "attempt": 2, "status": "failed", "response_status": 500,
            "error": None, "attempted_at": "2026-01-05T08:01:00.000Z",
            "next_attempt_at": "2026-01-05T08:06:00.000Z"}  # fmt: skip
MOVE = {"id": "txn_1", "from": None, "state": "created", "trigger": "create", "at": "2026-01-05T08:00:00.000Z"}
CLOCK = {"mode": "manual", "now": "2026-01-05T08:00:00.000Z", "timers": 3}
ALL: dict[str, dict[str, Any]] = {"request": CALL, "event": EVENT, "delivery": DELIVERY, "state": MOVE, "clock": CLOCK}


@pytest.mark.parametrize(
    ("wanted", "shown"),
    [
        (Wanted(tuple(ALL)), [*ALL]),
        (Wanted(("clock", "event")), ["event", "clock"]),
        (Wanted(tuple(ALL), event_type="transaction.*"), ["event", "delivery"]),
        (Wanted(tuple(ALL), event_type="beneficiary.*"), []),
        (Wanted(tuple(ALL), object_id="txn_1"), ["event", "state"]),
        (Wanted(tuple(ALL), path="/v1/*"), ["request"]),
        (Wanted(tuple(ALL), failed=True), ["request", "delivery"]),
    ],
)
def test_it_shows_what_is_wanted(wanted: Wanted, shown: list[str]) -> None:
    assert [sort for sort, message in ALL.items() if wanted.has(sort, message)] == shown


def test_no_text_of_others_steers_a_terminal() -> None:
    line = line_of("request", {**CALL, "path": "/v1/\x1b[2J\n\x9b31m"})
    assert line == "2026-01-05T08:00:00.000Z  request   POST   /v1/\\u001b[2J\\n\\u009b31m  422  unknown_field:x"


def test_a_message_is_a_line() -> None:
    assert [line_of(sort, message) for sort, message in ALL.items()] == [
        "2026-01-05T08:00:00.000Z  request   POST   /v1/quotes  422  unknown_field:x",
        "2026-01-05T08:00:01.000Z  event     transaction.completed  txn_1  completed",
        "2026-01-05T08:01:00.000Z  delivery  transaction.completed  to http://127.0.0.1:5000/hooks  attempt 2: 500"
        "  again at 2026-01-05T08:06:00.000Z",
        "2026-01-05T08:00:00.000Z  state     txn_1  new -> created  (create)",
        "2026-01-05T08:00:00.000Z  clock     manual, 3 timers",
    ]


def test_tail_orders_lines_and_hides_ticks() -> None:
    def clock(second: int, mode: str = "real") -> tuple[str, str]:
        return "clock", json.dumps({"mode": mode, "rate": 1, "now": f"2026-01-05T08:00:0{second}.000Z", "timers": 0})

    stream = [
        clock(1), ("event", json.dumps({**EVENT, "created_at": "2026-01-05T08:00:01.000Z"})),
        clock(2), ("request", json.dumps({**CALL, "at": "2026-01-05T08:00:02.000Z"})),
        clock(3), ("delivery", json.dumps({**DELIVERY, "attempted_at": "2026-01-05T08:00:01.000Z"})),
        clock(8), clock(9, "manual"), clock(9, "manual"),
    ]  # fmt: skip
    lines = [line_of(*one) for one in tailing.dated(stream, ticks=False, wall=lambda: 0.0)]
    assert [tuple(line.split()[:2]) for line in lines] == [
        (f"2026-01-05T08:00:0{second}.000Z", sort)
        for second, sort in (
            (1, "clock"),
            (1, "event"),
            (2, "request"),
            (3, "delivery"),
            (8, "clock"),
            (9, "clock"),
            (9, "clock"),
        )
    ]
    assert len(list(tailing.dated(stream, ticks=True))) == len(stream)


def test_colours_change_nothing_but_colours() -> None:
    for sort, message in ALL.items():
        line = line_of(sort, message)
        painted = list(tailing._painted(sort, message, line))
        assert any(style for _, style in painted)
        assert "".join(text for text, _ in painted) == line


def test_a_stream_that_breaks_off_is_taken_up_again_behind_its_last_message(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Client(ControlClient):
        def get(self, path: str, /, **query: Any) -> Any:
            if len(asked) == 1 and "gone" not in asked:
                asked.append("gone")
                raise Unreachable("refused")
            return {}

        def stream(self, path: str = "/stream") -> Iterator[tuple[str, str]]:
            asked.append(path)
            if len(asked) > 2:
                raise KeyboardInterrupt
            self.last_event_id = "7"
            yield "clock", "{}"

    monkeypatch.setattr(tailing, "_AGAIN_SECONDS", 0)
    with pytest.raises(KeyboardInterrupt):
        list(tailing._messages(Client()))
    assert asked == ["/stream", "gone", "/stream?last_event_id=7"]


def test_a_server_that_was_never_there_is_not_waited_for(rampsim: Command) -> None:
    assert rampsim("tail", "--url", "http://127.0.0.1:1").exit_code == 3
    assert rampsim("tail", "--world", "nowhere").exit_code == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_follows_a_world_and_ends_quietly(rampsim: Command, number: signal.Signals) -> None:
    words = ["tail", "--json", "--url", rampsim.origin, "--world", rampsim.world]
    with subprocess.Popen(
        [sys.executable, "-m", "simulator", *words],
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as follower:  # fmt: skip
        assert follower.stdout is not None
        assert json.loads(follower.stdout.readline())["stream"] == "clock", "it follows from now on"
        offramp = make_offramp(rampsim)
        seen = []
        for line in follower.stdout:
            seen.append(json.loads(line))
            if seen[-1].get("type") == "transaction.created":
                break
        assert seen[-1]["data"]["object"]["id"] == offramp
        assert {"request", "event"} <= {one["stream"] for one in seen}
        follower.send_signal(number)
        assert (follower.communicate(timeout=20)[1], follower.returncode) == ("", 0)
