"""The progress of an advance, which only a terminal shows."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator

import pytest

from simulator.cli.worlds import steering
from simulator.engine.clients.control import ControlClient, Unreachable

PROGRESS = {"from": "2026-01-05T08:00:00.000Z", "now": "2026-02-05T08:00:00.000Z", "to": "2026-04-05T08:00:00.000Z",
            "fired": 12, "events": 30, "deliveries": 28}  # fmt: skip


class Stream(ControlClient):
    def __init__(self, *messages: tuple[str, str]) -> None:
        super().__init__()
        self.messages, self.read = messages, threading.Event()

    def stream(self, path: str = "/stream") -> Iterator[tuple[str, str]]:
        yield from self.messages
        self.read.set()
        raise Unreachable("gone")


def test_a_progress_line_shows_the_progress() -> None:
    said = "12 timers, 30 events, 28 deliveries"
    assert steering.progress_line(PROGRESS) == f"2026-02-05T08:00 of 2026-04-05T08:00: {said}"
    assert steering.progress_line({**PROGRESS, "to": None}) == f"2026-02-05T08:00: {said}"


@pytest.mark.parametrize("is_terminal", [True, False])
def test_it_shows_at_a_terminal_alone_and_goes(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    client = Stream(("clock", "{}"), ("progress", json.dumps(PROGRESS)))
    with steering.shown(client):
        assert client.read.wait(10 if is_terminal else 0) == is_terminal
    err = capsys.readouterr().err
    assert ("12 timers" in err, err.endswith("\r\x1b[K")) == (is_terminal, is_terminal)
