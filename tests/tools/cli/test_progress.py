"""The progress of an exploration on a terminal and in a log."""

from __future__ import annotations

import io
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from simulator.cli.progress import Line, Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_log_gets_a_line_for_each_tenth_and_each_finding(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    progress.begin(40)
    for number in range(40):
        if number == 6:
            progress.found("lost in test_it")
        progress.ran()
    progress.end()
    said = [re.sub(r", about \d+ s left$", "", line) for line in capsys.readouterr().err.splitlines()]
    tenths = [f"{4 * tenth} of 40 runs{', 1 finding' if tenth > 1 else ''}" for tenth in range(1, 11)]
    assert said == [tenths[0], "found: lost in test_it", *tenths[1:]]


def test_few_runs_are_reported_once_each(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    progress.begin(3)
    for _ in range(3):
        progress.ran()
    assert [line[:6] for line in capsys.readouterr().err.splitlines()] == ["1 of 3", "2 of 3", "3 of 3"]


def test_a_replay_has_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    Progress().ran()
    assert capsys.readouterr().err == ""


def test_a_terminal_has_one_line_that_changes_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    progress = Progress()
    progress.begin(2)
    progress.ran()
    progress.found("lost in test_it")
    progress.ran()
    progress.end()
    said = terminal.getvalue()
    assert said.count("\n") == 1
    assert "\r\x1b[Kfound: lost in test_it\n" in said
    assert said.endswith("2 of 2 runs, 1 finding\r\x1b[K")


def test_runs_that_end_at_once_are_each_counted(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress()
    progress.begin(1000)
    with ThreadPoolExecutor(8) as pool:
        for _ in range(1000):
            pool.submit(progress.ran)
    counts = [int(line.split()[0]) for line in capsys.readouterr().err.splitlines()]
    assert counts == list(range(100, 1001, 100))


def test_progress_is_one_line_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "20")
    line = Line()
    line.say("law 1 of 2: auth.once")
    line.say("law 2 of 2")
    line.clear()
    assert terminal.getvalue() == "\r\x1b[Klaw 1 of 2: auth.on\r\x1b[Klaw 2 of 2\r\x1b[K"


def test_a_log_gets_nothing_of_that_line(capsys: pytest.CaptureFixture[str]) -> None:
    line = Line()
    line.say("law 1 of 2: auth.once")
    line.clear()
    assert capsys.readouterr().err == ""
