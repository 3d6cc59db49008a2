"""Interrupts: SIGINT and SIGTERM end a run between two calls, so that no created resource is forgotten."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread
from types import FrameType


class Interrupted(Exception):
    """Raised if the process was asked to end. `signal` is the number of the signal."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.signal = number


class Interrupts:
    """Receives the signals of a run. The first signal ends a pause immediately, and otherwise takes effect before the
    next call. The second one raises `KeyboardInterrupt` anywhere.
    """

    def __init__(self) -> None:
        self._signal = 0
        self._is_waiting = self._is_cleaning = False

    @contextmanager
    def received(self) -> Iterator[None]:
        """Receive the signals. Only the main thread can do so."""
        if current_thread() is not main_thread():
            yield
            return
        before = {one: signal.signal(one, self._receive) for one in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for one, handler in before.items():
                signal.signal(one, handler)

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if self._signal:
            raise KeyboardInterrupt
        self._signal = number
        if self._is_waiting:
            raise Interrupted(number)

    def check(self) -> None:
        """Raise `Interrupted` after a signal, except during clean-up."""
        if self._signal and not self._is_cleaning:
            raise Interrupted(self._signal)

    def sleep(self, sleep: Callable[[float], None], seconds: float) -> None:
        self._is_waiting = not self._is_cleaning
        try:
            self.check()
            sleep(seconds)
        finally:
            self._is_waiting = False

    @contextmanager
    def cleaning(self) -> Iterator[None]:
        """Make calls in spite of a signal. A signal that arrives meanwhile takes effect afterwards."""
        self._is_cleaning = True
        try:
            yield
        finally:
            self._is_cleaning = False
