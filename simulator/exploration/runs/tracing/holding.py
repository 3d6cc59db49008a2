"""Holds back one piece of the application's work while other pieces of work go on.

A piece of work is held at the last place before one of its writes, when it has read everything that the write depends
on. A traced run records these places. The work is not held while it has an open transaction or holds a lock, because
the other work would wait for it. The hold ends when the other work has reached a certain point (see `places.UNTIL`), so
the schedule depends on what happens, not on time. The time limit only ends a deadlock.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from types import CodeType

from simulator.exploration.runs.tasks import Document
from simulator.exploration.runs.tracing.places import Place, Places
from simulator.exploration.runs.tracing.scenes import CALL, HANDLER, WORKER, Scene, apart, current

LIMIT_SECONDS = 2.0
"""The largest number of real seconds for which a piece of work is held."""
_ENDED_BY = {"deliveries": HANDLER, "event": HANDLER, "worker": WORKER, "call": CALL}
"""The kind of work whose end ends the hold. For `copy`, it is the handling of the same event."""


class Holding:
    """Holds one piece of work in a run. `plan`: the place at which it is held, or None to record the places. `drain`:
    waits until no delivery is in flight. Returns False after the given number of seconds. `work`: the suite's hook for
    the application's queue, or None.
    """

    def __init__(
        self, plan: Document | None, drain: Callable[[float], bool], work: Callable[[], object] | None = None
    ) -> None:
        self.times = 0
        """How often other work has reached the point that ends the hold."""
        self._plan = plan
        self._until = "" if plan is None else str(plan["until"])
        self._drain = drain
        self._work = work
        self._begun: Counter[str] = Counter()
        self._ended: Counter[str] = Counter()
        self._changed = threading.Condition()
        self._target: Scene | None = None
        """The piece of work that is held, once it has begun."""
        self._is_past = False
        """True once the target is held or has ended."""
        self._is_over = False
        """True once the target has ended."""
        self._call = _Call()
        self._found = Places(has_queue=work is not None)

    @property
    def places(self) -> list[Document]:
        """The places at which work can be held, as a recording run has found them."""
        return self._found.listed(handles=self._ended[HANDLER] > 0)

    def begun(self, scene: Scene) -> None:
        """Count a piece of work that begins in the current thread."""
        self._begun[scene.within] += 1
        scene.number = self._begun[scene.within]
        scene.thread = threading.get_ident()
        plan = self._plan
        if scene.kind == WORKER:
            self._found.threads.add(scene.thread)
            scene.on_write = self._found.record_in_thread
            return
        scene.on_write = self._found.record if plan is None else _forget
        if plan is not None and (scene.within, scene.number) == (plan["within"], plan["scene"]):
            self._target = scene

    def may_begin(self, scene: Scene) -> Callable[[], object] | None:
        """Return None if a handler may begin, or else a function that waits until it may. A copy of the event that is
        to be held waits until the event's first handler is held or has ended.
        """
        if self._until != "copy" or self._target in (None, scene) or self._is_past:
            return None
        return lambda: self._wait(lambda: self._is_past)

    def ended(self, scene: Scene) -> None:
        """Count the end of a handler or a test's call. The response to a delivery is sent afterwards."""
        scene.last = None
        if scene.kind == CALL:
            self.waits(scene)
            return
        with self._changed:
            if scene is self._target:
                self._is_past = self._is_over = True
            else:
                self._ended.update((scene.kind, scene.within))
            self._changed.notify_all()

    def round_ended(self, scene: Scene) -> None:
        """Count a piece of a thread's work: a round of its loop, or its whole function. It counts only if it writes."""
        scene.last = None
        with self._changed:
            self._ended[WORKER] += bool(scene.queued)
            self._changed.notify_all()
        scene.queued = 0

    def at_line(self, scene: Scene, code: CodeType, file: str, line: int) -> None:
        """Record or hold a piece of work, which is at the beginning of a line of the application."""
        if scene.kind == HANDLER and threading.get_ident() == scene.thread:
            return  # in the receiver's event loop, where `suspended` holds it
        place = (file, line)
        scene.visits[place] += 1
        if self._plan is None:
            self._look_on(scene, place)
        elif scene.kind == CALL and self._until == "call":
            self._go_on(scene, place)
        if scene.is_busy:
            return
        if self._is_target(scene, place):
            self._hold(scene)
        self._found.note(scene, code, file, line)

    def suspended(self, scene: Scene, code: CodeType, file: str, line: int) -> Callable[[], object] | None:
        """Record a handler in an event loop, which is about to continue. Return a function that holds it, or None. One
        `await` can suspend it several times. Only the first time since the last write counts, because it does not
        depend on the speed of the network.
        """
        place, last = (file, line), scene.last
        if scene.is_busy or (last is not None and (last["file"], last["line"]) == place):
            return None
        scene.visits[place] += 1
        is_target = self._is_target(scene, place)
        self._found.note(scene, code, file, line)
        return (lambda: self._hold(scene)) if is_target else None

    def _look_on(self, scene: Scene, place: Place) -> None:
        """After each request of a test's call, wait for the deliveries that it caused, to find out if there are any."""
        if scene.kind == CALL and scene.has_sent:
            scene.has_sent = False
            before, self._found.during = self._ended[HANDLER], []
            self._found.call_place = [*place, scene.visits[place]]
            self._drained()
            scene.others += self._ended[HANDLER] - before

    def _is_target(self, scene: Scene, place: Place) -> bool:
        plan = self._plan
        if plan is None or self._is_past or place != (plan["file"], plan["line"]):
            return False
        if scene.kind == WORKER:
            visit = self._found.writes[scene.within, place] + 1
            return scene.within == plan["within"] and self._until in ("worker", "event") and visit == plan["visit"]
        return scene is self._target and scene.visits[place] == plan["visit"]

    def _hold(self, scene: Scene) -> None:
        """Hold a piece of work in the current thread until the other work has reached the point in the plan."""
        with self._changed:
            self._is_past = True
            before = self._ended.copy()
            self._changed.notify_all()
        if self._until == "queue":
            self.times += self._worked(scene)
            return
        kind = scene.within if self._until == "copy" else _ENDED_BY[self._until]
        if self._until == "deliveries":
            self._drained()
        else:
            self._wait(lambda: self._ended[kind] > before[kind] or self._call.is_over)
        self.times += self._ended[kind] > before[kind]

    def _wait(self, reached: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(reached, LIMIT_SECONDS)

    def _drained(self) -> None:
        with apart():
            self._drain(LIMIT_SECONDS)

    def _worked(self, held: Scene) -> bool:
        """Run the hook for the application's queue, as a second worker would. Return True if it wrote anything. If the
        hook itself runs the held work, it runs in the same thread once more. Otherwise, it runs in its own thread for a
        limited time, because it might wait for the held work.
        """
        other = Scene(WORKER)
        other.is_awaited = held.kind == HANDLER
        wrote: list[Scene] = []
        other.on_write = wrote.append
        if not other.is_awaited:
            self._drained()
        if held.queue_calls:
            self._work_as(other)
        else:
            thread = threading.Thread(target=self._work_as, args=(other,), daemon=True)
            thread.start()
            thread.join(LIMIT_SECONDS)
        if not other.is_awaited:
            self._drained()
        return bool(wrote)

    def _work_as(self, scene: Scene) -> None:
        assert self._work is not None
        with apart(scene), suppress(Exception):  # an error of the second worker does not reach the first one
            self._work()

    def _go_on(self, scene: Scene, place: Place) -> None:
        """Wait until the handler is held, and then go on until the line after the next write."""
        assert self._plan is not None
        if self._call.goes_on and self._call.wrote:
            self.waits(scene)
        elif [*place, scene.visits[place]] == self._plan["at"]:
            self._wait(lambda: self._is_past)
            self._call.goes_on = not self._is_over
            scene.on_write = self._call.writes

    def waits(self, scene: Scene) -> None:
        """Let the held handler go on until it has ended, before the test's call ends or calls the control interface."""
        self._found.during = []
        if self._call.goes_on:
            self._call.goes_on = False
            with self._changed:
                self._call.is_over = True
                self._ended[CALL] += self._call.wrote
                self._changed.notify_all()
            self._wait(lambda: self._is_over)


class _Call:
    """The test's call in a run in which a handler is held meanwhile."""

    def __init__(self) -> None:
        self.goes_on = False
        """True while the handler is held for it."""
        self.wrote = False
        self.is_over = False

    def writes(self, scene: Scene) -> None:
        scene.last = None
        self.wrote = self.wrote or self.goes_on


def _forget(scene: Scene) -> None:
    scene.last = None


def may_call(holding: Holding, path: str) -> bool:
    """Report a control call of the current work. Return False if it would wait for a delivery that waits for it."""
    scene = current()
    if scene is not None and scene.kind == CALL:
        holding.waits(scene)
    return scene is None or not scene.is_awaited or path != "/settle"
