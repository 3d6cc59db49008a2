"""Simulated crashes of an application that runs in the tests' process.

If an application crashes between two statements, its earlier writes remain and the rest of its work is lost. A traced
run records the lines at which a crash matters: the first line of a webhook handler, and the first line after each
write. Lines with no write between them count as one line. A later run raises `Died` at one of these lines.

`Died` propagates up to the webhook receiver or the test. So `finally`, `with` and `except BaseException` blocks still
run, unlike in a killed process. Memory is also preserved, unless the suite's hook rebuilds the application.
"""

from __future__ import annotations

import dis
import inspect
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from types import CodeType, FrameType
from typing import Any
from unittest.mock import patch

from simulator.exploration.runs.tasks import Document
from simulator.exploration.runs.tracing import scenes
from simulator.exploration.runs.tracing.holding import Holding
from simulator.exploration.runs.tracing.scenes import IS_SIMULATOR, WORKER, Scene, current, own_file
from simulator.exploration.runs.tracing.steps import contexts_in_executors
from simulator.exploration.runs.tracing.writes import Databases, OpenedFiles, begin, watched_locks, watched_sockets
from simulator.testing.explored import Died, has_died

Trace = Callable[[FrameType, str, object], Any]
_IN_STEPS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def restarted(is_quiet: Callable[[], object], after_death: Callable[[], None]) -> Callable[[], object]:
    """Wrap a check of the application's queue, in which the application may crash. After a crash, the new check calls
    `after_death` and returns False, so it is called again later, as if the application ran in its own process.
    """

    def check() -> object:
        try:
            return is_quiet()
        except BaseException as error:
            if not has_died(error):
                raise
            after_death()
            return False

    return check


class Tracer:
    """Traces the application's lines during one run. `plan`: the line at which the application crashes, or None to
    record the lines at which it can crash. `own`: the code of the test itself, which is not part of the application.
    `holding`: holds back work in the same run, or records where it can be held back.
    """

    def __init__(self, plan: Document | None, own: CodeType | None, holding: Holding | None = None) -> None:
        self.holding = holding
        self.places: list[Document] = []
        self.deaths = 0
        self._plan = plan
        self._own = own
        self._visits: Counter[tuple[str, str, int]] = Counter()
        self._begins: dict[CodeType, frozenset[int]] = {}
        self.databases = Databases()
        self._active = False

    @contextmanager
    def following(self) -> Iterator[None]:
        """Trace all threads that start in this block, and the current thread."""
        # The functions of this thread and of new threads differ while coverage is measured: a tracer of one thread that
        # another uses crashes the process.
        before, before_in_threads = sys.gettrace(), threading.gettrace()
        self._active = True
        begin()
        with ExitStack() as patches:
            patches.enter_context(patch.object(Databases, "traced", self.databases))
            patches.enter_context(contexts_in_executors())
            for one in [*watched_locks(), *(watched_sockets() if self._plan is None else ())]:
                patches.enter_context(one)
            if self._plan is None:
                OpenedFiles.tell = OpenedFiles.written
                OpenedFiles.begin()
            threading.settrace(self._calls)
            sys.settrace(self._calls)
            try:
                yield
            finally:
                sys.settrace(before)
                threading.settrace(before_in_threads)
                OpenedFiles.tell = lambda: None
                self._active = False

    def _calls(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        """Return the function that traces the lines of a function, or None if it is not part of the application."""
        if not self._active or not self._name_of(frame.f_code):
            return None
        in_thread = None if self.holding is None else self._lines_in_thread(frame, self.holding)
        return in_thread or self._lines

    def _lines_in_thread(self, frame: FrameType, holding: Holding) -> Trace | None:
        """Begin a piece of work if a thread without one calls a function of the application. Return what traces its
        lines, or None. A function with a loop does a piece of work in each round.
        """
        if scenes.current() is not None or not _is_outermost(frame):
            return None
        scene = scenes.begin(WORKER, function=frame.f_code.co_qualname)
        holding.begun(scene)
        rounds = _rounds(frame.f_code)

        def trace(frame: FrameType, event: str, argument: object) -> object:
            if event == "return" or (event == "line" and frame.f_lasti in rounds):
                holding.round_ended(scene)
            if event == "return":
                scenes.end()
            else:
                self._lines(frame, event, argument)
            return trace

        return trace

    def _name_of(self, code: CodeType) -> str:
        """Return the file of the application's code, relative to the current directory, or "" for other code."""
        name = own_file(code)
        return "" if code is self._own or name == IS_SIMULATOR else name

    def _lines(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        scene = current() if event == "line" and self._active else None
        if scene is not None and self._begins_a_line(frame):
            name = self._name_of(frame.f_code)
            if self.holding is not None:
                self.holding.at_line(scene, frame.f_code, name, frame.f_lineno)
            key = (scene.within, name, frame.f_lineno)
            self._visits[key] += 1
            if scene.kind == WORKER:
                pass  # it is only held, and does not crash
            elif self._plan is None:
                self._record(scene, frame, key)
            elif not self.deaths and self._is_planned(key):
                self.deaths += 1
                raise Died(f"the application crashes at {name}:{frame.f_lineno}")
        return self._lines

    def _begins_a_line(self, frame: FrameType) -> bool:
        """Return True if the frame is at the beginning of a line. At the end of a `with` block, Python visits the line
        of the `with` again to release its resources. The application must not crash before that.
        """
        code = frame.f_code
        begins = self._begins.get(code)
        if begins is None:  # the last of the reversed rows is the first of its line
            firsts = {line: start for start, _, line in reversed([*code.co_lines()]) if line is not None}
            begins = self._begins[code] = frozenset(firsts.values())
        return frame.f_lasti in begins

    def _record(self, scene: Scene, frame: FrameType, key: tuple[str, str, int]) -> None:
        if self.databases.have_changed():
            scene.wrote = 1
        if scene.wrote:
            scene.wrote -= 1
            within, name, line = key
            what = f"{name}:{line} in {frame.f_code.co_name}" + (f" at {scene.event}" if scene.event else "")
            place = {"within": within, "file": name, "line": line, "visit": self._visits[key]}
            self.places.append({"scene": scene.kind, "what": what, **place})

    def _is_planned(self, key: tuple[str, str, int]) -> bool:
        assert self._plan is not None
        meant = (self._plan["within"], self._plan["file"], self._plan["line"])
        return key == meant and self._visits[key] == self._plan["visit"]


def _is_outermost(frame: FrameType) -> bool:
    """Return True if a call begins the work of a thread, or a job of a thread pool, that belongs to the application."""
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
