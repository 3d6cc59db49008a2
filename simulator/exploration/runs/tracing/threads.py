"""The work of an application in threads that it starts itself, such as workers of a queue."""

from __future__ import annotations

import dis
import inspect
import threading
from collections.abc import Callable
from functools import cache
from types import CodeType, FrameType
from typing import Any

from simulator.exploration.runs.tracing import scenes
from simulator.exploration.runs.tracing.holding import Holding
from simulator.exploration.runs.tracing.scenes import IS_SIMULATOR, WORKER, own_file

Trace = Callable[[FrameType, str, object], Any]
_IN_STEPS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


class Threads:
    """Finds the outermost functions of the application in its threads. Each call of one is a piece of work.

    A function with a loop does a piece of work in each round. `lines`: the function that traces all lines.
    """

    def __init__(self, holding: Holding, lines: Trace) -> None:
        self._holding = holding
        self._lines = lines

    def lines_of(self, frame: FrameType) -> Trace | None:
        """Begin a piece of work if a function of the application has been called in a thread without one. Return the
        function that traces its lines, or None.
        """
        if scenes.current() is not None or not _is_outermost(frame):
            return None
        scene = scenes.begin(WORKER, function=frame.f_code.co_qualname)
        self._holding.begun(scene)
        rounds = _rounds(frame.f_code)

        def trace(frame: FrameType, event: str, argument: object) -> object:
            if event == "return" or (event == "line" and frame.f_lasti in rounds):
                self._holding.round_ended(scene)
            if event == "return":
                scenes.end()
            else:
                self._lines(frame, event, argument)
            return trace

        return trace


def _is_outermost(frame: FrameType) -> bool:
    """Return True if a call is the beginning of a thread's work, or of one of the jobs that a thread pool runs.

    The main thread and the threads of the test kit are not threads of the application.
    """
    if threading.current_thread() is threading.main_thread() or frame.f_code.co_flags & _IN_STEPS:
        return False
    caller = frame.f_back
    while caller is not None:
        if own_file(caller.f_code) == IS_SIMULATOR:
            return False
        caller = caller.f_back
    return True


@cache
def _rounds(code: CodeType) -> frozenset[int]:
    """Return the offsets of the instructions to which the loops of a function jump back."""
    jumps = (one for one in dis.get_instructions(code) if "JUMP_BACKWARD" in one.opname)
    return frozenset(int(one.argval) for one in jumps if "NO_INTERRUPT" not in one.opname)
