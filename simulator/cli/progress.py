"""Progress of long commands. A terminal shows one changing line. Without a terminal, `rampsim explore` prints ten
lines, one after each tenth of the runs.
"""

from __future__ import annotations

import sys
import time
from shutil import get_terminal_size
from threading import Lock
from typing import Any

from simulator.cli.output import say, say_passing
from simulator.engine.text import reports
from simulator.engine.text.progress import ProgressListener

_EVERY_SECONDS = 0.2


class Line:
    """A line on standard error that shows the current step. Nothing is printed if standard error is not a terminal."""

    def __init__(self) -> None:
        self.is_live = sys.stderr.isatty()

    def say(self, text: str) -> None:
        """Show this text instead of the previous one."""
        if self.is_live:
            say_passing(text[: get_terminal_size().columns - 1])

    def above(self, text: str) -> None:
        """Clear the progress line and print `text` in its place. Later progress lines appear below it."""
        self.clear()
        say(text)

    def clear(self) -> None:
        if self.is_live:
            say_passing()


class Running(ProgressListener[Any]):
    """Shows the name of the current step."""

    def __init__(self, line: Line) -> None:
        self._line = line

    def running(self, name: str) -> None:
        self._line.say(name)


class Progress:
    """Counts runs and findings, and reports them on standard error."""

    def __init__(self) -> None:
        self._line = Line()
        self._total = self._done = self._found = 0
        self._begun = self._shown = 0.0
        self._turn = Lock()

    def begin(self, total: int) -> None:
        self._total, self._begun = total, time.monotonic()

    def found(self, text: str) -> None:
        """Print a finding on a separate line."""
        with self._turn:
            self._found += 1
            self._line.clear()
            say(f"found: {text}", err=True)

    def ran(self) -> None:
        with self._turn:
            self._done += 1
            self._report(time.monotonic())

    def _report(self, now: float) -> None:
        if not self._total:
            return  # a single run has no progress
        if self._line.is_live:
            if self._done == self._total or now - self._shown >= _EVERY_SECONDS:
                self._shown = now
                say_passing(self._text(now))
        elif self._done * 10 // self._total > (self._done - 1) * 10 // self._total:
            say(self._text(now), err=True)

    def end(self) -> None:
        self._line.clear()

    def _text(self, now: float) -> str:
        found = f", {reports.counted(self._found, 'finding')}" if self._found else ""
        left = (now - self._begun) / self._done * (self._total - self._done)
        lasting = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min"
        ahead = f", about {lasting} left" if self._done < self._total else ""
        return f"{self._done} of {self._total} runs{found}{ahead}"
