"""Runs an exhaustive check: for each flow, a search through the sequences of deliveries, within a time budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import field
from pathlib import Path as FilePath

from simulator.certification.exhaustive.bounds import Path
from simulator.certification.exhaustive.judging import QUEUE_SECONDS, Books
from simulator.certification.exhaustive.orders import Case, bounds_of
from simulator.certification.exhaustive.replaying import Replaying
from simulator.certification.exhaustive.saving import Saving, opened
from simulator.certification.exhaustive.search import Outcome, Result, Search
from simulator.certification.service import Flow
from simulator.certification.session import Post
from simulator.certification.sources import Unusable
from simulator.certification.stage import Stage
from simulator.kernel.dataclass import dataclass

ALL = "all"


@dataclass(frozen=True)
class Bound:
    """The options of an exhaustive run."""

    books: str | None
    """The source of the records. Without it, only the responses are judged."""
    flow: str = ALL
    events: int = 5
    copies: int = 2
    settle: str | None = None
    quiesce: str | None = None
    snapshot: str | None = None
    restore: str | None = None
    state: FilePath | None = None
    budget_seconds: float = 300.0
    depth: int | None = None
    """The largest number of deliveries in a sequence, or None for no limit within the bounds."""
    seed: int = 1
    """The seed that selects the paths that are played again to check that orders do not affect each other."""
    workers: int = 2
    books_seconds: float = 5.0
    queue_seconds: float = QUEUE_SECONDS


@dataclass
class FlowReport:
    """The result for one flow."""

    flow: Flow
    result: Result
    seconds: float
    outcomes: dict[Path, Outcome]
    """The outcomes of all paths that were played."""
    has_books: bool = True
    """False if only the responses were judged."""
    unsound: str = ""
    """The path whose outcome depended on other orders or earlier plays, or "". The claim is then not valid."""
    scenarios: dict[str, str] = field(default_factory=dict)
    """The scenario file of each verdict."""

    @property
    def complete(self) -> bool:
        return self.result.complete and not self.unsound


def chosen(flows: Sequence[Flow], name: str) -> list[Flow]:
    """Return the flow with this name, or all flows for the name `all`. Raise `Unusable` for an unknown name."""
    found = [flow for flow in flows if name in (ALL, flow.name)]
    if not found:
        known = ", ".join((*(flow.name for flow in flows), ALL))
        raise Unusable(f"--flow: unknown flow `{name}` ({known})")
    return found


def run(
    bound: Bound, stage: Stage, url: str, post: Post, noted: Callable[[str], None] = lambda note: None
) -> list[FlowReport]:
    """Search the delivery sequences of each chosen flow. Raise the same exceptions as `certify`."""
    end = time.monotonic() + bound.budget_seconds
    playbook = stage.service.playbook
    flows = chosen(playbook.flows, bound.flow)
    reports = []
    if playbook.room is not None:
        action, parameters = playbook.room
        stage.control.post(f"/actions/{action}", parameters)
    with stage.quiet(url):
        for number, flow in enumerate(flows):
            # The remaining flows share the remaining time.
            deadline = time.monotonic() + (end - time.monotonic()) / (len(flows) - number)
            bounds = bounds_of(flow, playbook.unknown_event, bound.events, bound.copies)
            case = Case(stage, flow, bounds, url, post)
            limits = bound.books_seconds, bound.quiesce, bound.queue_seconds
            books = Books(bound.books, bound.settle, stage.variables, *limits)
            books.read()  # report unreadable books before any request is sent
            reports.append(_searched(bound, case, books, deadline, noted))
    return reports


def _searched(bound: Bound, case: Case, books: Books, deadline: float, noted: Callable[[str], None]) -> FlowReport:
    started = time.monotonic()
    search, known = Search(case.bounds), dict[Path, Outcome]()
    with opened(bound.state, bound.snapshot, bound.restore, case.stage.variables) as save:
        player = Saving(case, books, save) if save else Replaying(case, books, bound.workers)
        with player.begun():
            while plays := search.level():
                if bound.depth is not None and len(plays[0].path) > bound.depth:
                    search.end()
                    break
                outcomes: list[Outcome] = []
                while len(outcomes) < len(plays) and (not known or time.monotonic() < deadline):
                    paths = [play.path for play in plays[len(outcomes) : len(outcomes) + player.batch]]
                    depth = f"{len(paths[0])} of {case.bounds.longest} deliveries"
                    noted(f"{case.flow.name}: {depth}, {len(known)} paths")
                    found = player.outcomes(paths)
                    known.update(zip(paths, found, strict=True))
                    outcomes += found
                search.take(outcomes)
            unsound = player.unlike(known, bound.seed)
    return FlowReport(case.flow, search.result(), time.monotonic() - started, known, bound.books is not None, unsound)
