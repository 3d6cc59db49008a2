"""How far long work is, for whoever waits: a line that changes at a terminal; of explore else one for each tenth."""

from __future__ import annotations

import sys
import time
from shutil import get_terminal_size
from threading import Lock

from simulator.cli.output import say, say_passing

_EVERY_SECONDS = 0.2


class Line:
    """A line on standard error, at a terminal only, that says what is being done and goes when that is over."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()

    def say(self, text: str) -> None:
        """Show this in place of what was there."""
        if self._live:
            say_passing(text[: get_terminal_size().columns - 1])

    def above(self, text: str) -> None:
        """Print a line of output, which stays, where this one was."""
        self.clear()
        say(text)

    def clear(self) -> None:
        """Let the line go."""
        if self._live:
            say_passing()


class Progress:
    """Counts runs and findings, and tells of them on standard error."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty()
        self._total = self._done = self._found = 0
        self._begun = self._shown = 0.0
        self._turn = Lock()

    def begin(self, total: int) -> None:
        """So many runs are to be made."""
        self._total, self._begun = total, time.monotonic()

    def found(self, text: str) -> None:
        """Something was found, told at once in a line."""
        with self._turn:
            self._found += 1
            if self._live:
                say_passing()
            say(f"found: {text}", err=True)

    def ran(self) -> None:
        """One more run is done."""
        with self._turn:
            self._done += 1
            self._tell(time.monotonic())

    def _tell(self, now: float) -> None:
        if not self._total:
            return  # a single run is no matter of progress
        if self._live:
            if self._done == self._total or now - self._shown >= _EVERY_SECONDS:
                self._shown = now
                say_passing(self._text(now))
        elif self._done * 10 // self._total > (self._done - 1) * 10 // self._total:
            say(self._text(now), err=True)

    def end(self) -> None:
        """Nothing more comes: the line goes."""
        if self._live:
            say_passing()

    def _text(self, now: float) -> str:
        found = f", {self._found} finding{'' if self._found == 1 else 's'}" if self._found else ""
        left = (now - self._begun) / self._done * (self._total - self._done)
        lasting = f"{left:.0f} s" if left < 90 else f"{left / 60:.0f} min"
        ahead = f", about {lasting} left" if self._done < self._total else ""
        return f"{self._done} of {self._total} runs{found}{ahead}"
