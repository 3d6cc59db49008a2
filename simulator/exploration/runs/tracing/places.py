"""The places at which a piece of the application's work can be held, as a recording run finds them."""

from __future__ import annotations

from collections import Counter
from types import CodeType
from typing import Any

from simulator.exploration.runs.tasks import Document
from simulator.exploration.runs.tracing.scenes import HANDLER, Scene

Place = tuple[str, int]
"""A file and a line."""
UNTIL = {
    "copy": "",
    "deliveries": "",
    "call": " while the call goes on",
    "queue": " while another worker goes on",
    "worker": " while another worker goes on",
    "event": " while an event is handled",
}
"""When a hold ends, and how the name of the place says so.

`copy`: a handler is held until the copy of its event has been handled. `deliveries`: a test's call is held until no
delivery is in flight. `call`: a handler is held until the test's call has made its next write. `queue`: any work except
threads is held until the suite's hook for the application's queue has run. `worker`: any work is held until a thread of
the application, other than its own, has done a piece of work that writes. `event`: a thread is held until an event has
been handled.
"""


class Places:
    """The places of one run. `has_queue`: True if the suite has a hook for the application's queue."""

    def __init__(self, *, has_queue: bool) -> None:
        self.threads: set[int] = set()
        """The threads of the application."""
        self.writes: Counter[tuple[str, Place]] = Counter()
        """How often these threads have written directly after a place."""
        self.during: list[Document] = []
        """The places of handlers during the last wait for deliveries."""
        self.call_place: list[Any] = []
        """The file, line and visit at which the test's call last waited for deliveries."""
        self._has_queue = has_queue
        self._places: list[Document] = []
        self._in_threads: list[Document] = []
        self._queued: list[Document] = []
        """The places of handlers and of the test's call where the queue may have a task, because they have written
        before, and the places of workers that the hook for the queue runs.
        """

    def listed(self, *, handles: bool) -> list[Document]:
        """Return the places, in an order that does not depend on thread speed. `handles`: True after any event."""
        kinds = [*(["worker"] if len(self.threads) > 1 else []), *(["event"] if handles else [])]
        rows = sorted(self._in_threads, key=_line)
        worker = "worker" if self.threads else "queue"
        queued = self._queued if self.threads or self._has_queue else []
        return [
            *_in_order(self._places),
            *(_until(place, worker) for place in _in_order(queued)),
            *(_until(place, kind) for kind in kinds for place in rows),
        ]

    def note(self, scene: Scene, code: CodeType, file: str, line: int) -> None:
        """Remember a place as the last one before the next write of a piece of work."""
        what = f"{file}:{line} in {code.co_name}" + (f" at {scene.event}" if scene.event else "")
        visit = scene.visits[file, line]
        scene.last = {
            "scene": scene.number, "within": scene.within, "file": file, "line": line, "visit": visit,
            "what": what, "event": scene.event, "group": scene.event or code.co_name,
        }  # fmt: skip

    def record(self, scene: Scene) -> None:
        """Record the last place before a write."""
        place = scene.last
        if place is not None and scene.kind == HANDLER:
            self._places.append(_until(place, "copy"))
            self.during.append(place)
        elif place is not None:
            if scene.others:
                self._places.append(_until(place, "deliveries"))
            self._places += [{**_until(held, "call"), "at": self.call_place} for held in self.during]
            self.during = []
        if place is not None and (scene.queue_calls or scene.queued):
            self._queued.append(place)
        scene.last, scene.others = None, 0
        scene.queued += 1

    def record_in_thread(self, scene: Scene) -> None:
        """Count a write of a thread, and record the last place before it. Its number is that of the writes after it,
        because the threads share the work by chance.
        """
        if (place := scene.last) is not None:
            key = (scene.within, (place["file"], place["line"]))
            self.writes[key] += 1
            self._in_threads.append({**place, "scene": 0, "visit": self.writes[key]})
        scene.last = None
        scene.queued += 1


def _in_order(places: list[Document]) -> list[Document]:
    """Sort the places of each handler, because a handler can run several tasks at once."""
    names = dict.fromkeys((place["within"], place["scene"]) for place in places)
    numbers = {name: number for number, name in enumerate(names)}
    return sorted(
        places, key=lambda one: (numbers[one["within"], one["scene"]], *(_line(one) if one["event"] else ("", 0, 0)))
    )


def _line(place: Document) -> tuple[str, int, int]:
    return place["file"], place["line"], place["visit"]


def _until(place: Document, kind: str) -> Document:
    return {**place, "what": place["what"] + UNTIL[kind], "group": place["group"] + UNTIL[kind], "until": kind}
