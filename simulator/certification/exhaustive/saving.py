"""Continues sequences of deliveries (paths) from saved states, so that each new path needs only one delivery. The
application's states are saved with commands or copied from its SQLite file, the order's states are snapshots of the
simulator's world.
"""

from __future__ import annotations

import hashlib
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import field, replace
from functools import partial
from itertools import count
from pathlib import Path as FilePath
from random import Random
from typing import TypeAlias

from simulator.certification.exhaustive.bounds import BEFORE_ANSWER, Path
from simulator.certification.exhaustive.judging import Books
from simulator.certification.exhaustive.orders import Case, Tracked, is_prompt
from simulator.certification.exhaustive.replaying import difference, judged
from simulator.certification.exhaustive.search import Outcome
from simulator.certification.sources import Line, Unusable, printed
from simulator.engine.clients.control import segment
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

_CHECKED = 4
NOT_SAVED = (
    "--state or --snapshot: your books changed, but the saved state did not. Save the state from which your "
    "application reads its books."
)


@dataclass(frozen=True)
class Saved:
    """A saved state of the application."""

    key: str
    """Equal states have equal keys."""
    restore: Callable[[], None]


Save: TypeAlias = Callable[[], Saved]
"""Saves the state of the application that is tested. Saving and restoring raise `Unusable` if they fail."""


def _copied(file: FilePath) -> Saved:
    """Save the state of an application whose whole state is in one SQLite file."""
    copy = sqlite3.connect(":memory:", check_same_thread=False)
    with _connected(file) as live:
        live.backup(copy)

    def restore() -> None:
        # A backup takes the locks and updates the counters on which the application's connections rely. Replacing the
        # file would not.
        with _connected(file) as live:
            live.execute("PRAGMA synchronous = OFF")
            copy.backup(live)

    return Saved(hashlib.sha256("\n".join(copy.iterdump()).encode()).hexdigest(), restore)


@contextmanager
def _connected(file: FilePath) -> Iterator[sqlite3.Connection]:
    try:
        with closing(sqlite3.connect(file, isolation_level=None, timeout=10)) as live:
            yield live
    except sqlite3.Error as error:
        raise Unusable(f"--state: {file} cannot be copied: {error}") from None


def _commanded(snapshot: str, restore: str, variables: Mapping[str, str], place: FilePath) -> Saved:
    """Save the state of an application with a command, which may write it to `place`."""
    variables = {**variables, "SNAPSHOT": str(place)}
    printed("--snapshot", snapshot, variables)
    key = hashlib.sha256(place.read_bytes()).hexdigest() if place.is_file() else place.name

    def undo() -> None:
        printed("--restore", restore, variables)

    return Saved(key, undo)


@contextmanager
def opened(
    file: FilePath | None, snapshot: str | None, restore: str | None, variables: Mapping[str, str]
) -> Iterator[Save | None]:
    """Yield the function that saves the application's state, or None if no option specifies how."""
    if file is not None:
        yield partial(_copied, file)
    elif snapshot is not None and restore is not None:
        with tempfile.TemporaryDirectory() as directory:
            places = map(FilePath(directory).joinpath, map(str, count()))
            yield lambda: _commanded(snapshot, restore, variables, next(places))
    else:
        yield None


@dataclass
class World:
    """Snapshots of the simulator's world after each step of an order."""

    case: Case
    _snapshots: dict[tuple[int, int], str] = field(default_factory=dict)
    """Snapshot ids by the numbers of order and step. Order ids repeat, because a restored world assigns them again."""
    _current: tuple[int, int] | None = None

    def save(self, order: int, phase: int) -> None:
        self._snapshots[order, phase] = str(self.case.stage.control.post("/snapshots")["id"])
        self._current = (order, phase)

    def restore(self, order: int, phase: int) -> None:
        if self._current != (order, phase):
            self.case.stage.control.post(f"/snapshots/{segment(self._snapshots[order, phase])}/restore")
            self._current = (order, phase)

    def delete(self) -> None:
        for snapshot in self._snapshots.values():
            self.case.stage.control.delete(f"/snapshots/{segment(snapshot)}")


@dataclass
class SavedOrder(Tracked):
    """An order whose steps are performed only once. To return to the state after a step, restore a snapshot."""

    world: World | None = None
    number: int = 0

    def live(self, phase: int) -> None:
        if phase > self.phase:
            if self.world is not None:
                self.world.restore(self.number, phase)
            self.phase = phase

    def branch(self) -> SavedOrder:
        """Return a copy of this order's progress. Further deliveries change only the copy."""
        return replace(self, refused=dict(self.refused), problems=list(self.problems))


_End: TypeAlias = "tuple[Sequence[Line], JsonObject, list[tuple[str, str]]]"


@dataclass
class Saving:
    """Plays paths from the saved states of their prefixes."""

    case: Case
    books: Books
    save: Save
    batch: int = 32
    _nodes: dict[Path, tuple[SavedOrder, Saved]] = field(default_factory=dict)
    """The states of the order and the application after each path."""
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    _read: dict[str, Sequence[Line]] = field(default_factory=dict)
    """The application's records, by its state."""
    _ends: dict[tuple[str, int, tuple[int, ...]], _End] = field(default_factory=dict)
    """The records after settling, by the application's state, the order and the refused events."""

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Save the state of the application and the world before the run, and restore it afterwards."""
        with ExitStack() as stack:
            self.world = World(self.case)
            stack.callback(self.world.delete)
            self.world.save(0, 0)
            self.start = self.save()
            stack.callback(lambda: self.world.restore(0, 0))
            stack.callback(self.start.restore)
            before = self.books.calm()
            if self.books.quiesce is None:
                self.books.is_prompt = is_prompt(self._fresh(()), self.books)
            if self.books.read() != before and self.save().key == self.start.key:
                raise Unusable(NOT_SAVED)
            yield

    def outcomes(self, paths: Sequence[Path]) -> list[Outcome]:
        """Play each path. Return the outcomes in the same sequence. Raise the same exceptions as `certify`."""
        # Paths that need the same step of the order are consecutive, so the world is restored less often.
        found = {path: self._outcome(path) for path in sorted(paths, key=self._step)}
        return [found[path] for path in paths]

    def _step(self, path: Path) -> int:
        return max((self.case.step(move.event or 0) for move in path), default=0)

    def _outcome(self, path: Path) -> Outcome:
        if path and path[-1].name != BEFORE_ANSWER:
            before, saved = self._nodes[path[:-1]]
            saved.restore()
            order = before.branch()
            # The world may be at a later step of this order, or in the state of another order.
            self.world.restore(order.number, max(order.phase, self.case.step(path[-1].event or 0)))
            order.deliver(path[-1])
        else:
            order = self._fresh(path)
        if not self.books.is_prompt:
            self.books.calm()
        saved = self.save()
        self._nodes[path] = order, saved
        if saved.key not in self._read:
            self._read[saved.key] = self.books.calm()
        return self._ended(order.branch(), saved)

    def _ended(self, order: SavedOrder, saved: Saved) -> Outcome:
        order.at_last_delivery = str(order.phase)
        key = saved.key, order.number, tuple(sorted(order.refused))
        if key not in self._ends:
            known = len(order.problems)
            order.end()
            self.books.settle()
            self._ends[key] = self.books.calm(), order.row(), order.problems[known:]
            order.problems = order.problems[:known]
        after, row, problems = self._ends[key]
        order.problems += problems
        return judged(order, row, self._read[saved.key], after, self.books)

    def _fresh(self, path: Path) -> SavedOrder:
        """Restore the states that were saved before the run. Create an order with the command `early`, and save its
        state after each step.
        """
        self.start.restore()
        self.world.restore(0, 0)
        made, _ = self.case.early(path)
        order = SavedOrder(self.case, made.order, made.phase, "", made.refused, made.problems, made.events, self.world,
                           next(self._numbers))  # fmt: skip
        self.world.save(order.number, order.phase)
        for phase, step in enumerate(self.case.flow.steps):
            if phase > order.phase:
                order.order.live(step)
                self.world.save(order.number, phase)
        self.world.restore(order.number, order.phase)
        return order

    def unlike(self, known: dict[Path, Outcome], seed: int) -> str:
        """Play some paths again, without restoring saved states between their deliveries. If the records after a path
        differ from its outcome in `known`, return a description of the difference, otherwise "".
        """
        paths = [path for path in known if path and path[0].name != BEFORE_ANSWER]
        root, saved = self._nodes[()]
        for path in Random(seed).sample(paths, min(_CHECKED, len(paths))):
            saved.restore()
            order = root.branch()
            self.world.restore(order.number, order.phase)
            for move in path:
                order.deliver(move)
                if not self.books.is_prompt:
                    self.books.calm()
            before = self.books.calm()
            order.end()
            self.books.settle()
            again = judged(order, order.row(), before, self.books.calm(), self.books)
            found = difference(self.case, path, again, known[path])
            if found:
                return f"{found} if the state is not restored in between"
        return ""
