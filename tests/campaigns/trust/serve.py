"""`python -m tests.campaigns.trust.serve LIE serve FLAGS`: the simulator with a changed store.

`honest` keeps all promises. It folds entries early, so that even a short run tests folding. The other stores break one
promise each, and the judge must find them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from typing import Any

from simulator.cli import main
from simulator.engine.durable import gathering, persistence, sqlite
from simulator.engine.durable.writes import ClockState, Entry, entry_bytes
from simulator.engine.records.row_text import RowTexts

FOLD_BYTES = 200_000


def honest() -> None:
    """A store as it is."""


def answers_early() -> None:
    """Answers do not wait for what they tell of to be kept."""
    persistence.PersistenceLayer.unsettled = lambda self: None  # type: ignore[method-assign]  # the lie
    _slowly()


def _entries_as(changed: Callable[[Entry], Entry]) -> None:
    """What happens in a turn is written as `changed` has it."""

    def written(texts: RowTexts, entry: Entry) -> bytes:
        return entry_bytes(texts, changed(entry))

    writing: Any = gathering  # a type checker knows no names that a module only imports
    assert writing.entry_bytes is entry_bytes, "it is written from elsewhere"
    writing.entry_bytes = written


def keeps_half() -> None:
    """Of what happens in one turn three tables are written, and no more."""
    _entries_as(lambda entry: replace(entry, writes=dict(islice(entry.writes.items(), 3))))


def forgets_keys() -> None:
    """Idempotency keys are not kept."""
    _entries_as(
        lambda entry: replace(
            entry, writes={name: rows for name, rows in entry.writes.items() if "idempotency" not in name}
        )
    )


def stops_clocks() -> None:
    """The clocks that are kept stand where they stood first."""
    first: dict[tuple[str, ...], ClockState] = {}
    _entries_as(lambda entry: replace(entry, clock=first.setdefault(tuple(entry.tables), entry.clock)))


def sends_early() -> None:
    """Webhooks do not wait for their event to be kept; answers do."""
    start = persistence.PersistenceLayer.start

    async def starting(self: Any) -> None:
        await start(self)
        self._runtime.courier.barrier = None

    persistence.PersistenceLayer.start = starting  # type: ignore[method-assign]  # the lie
    _slowly()


def _slowly() -> None:
    commit = sqlite.SqliteStore.commit

    async def later(self: Any, batch: Any) -> Any:
        await asyncio.sleep(0.1)
        return await commit(self, batch)

    sqlite.SqliteStore.commit = later  # type: ignore[method-assign]  # the lie


LIES: dict[str, Callable[[], None]] = {
    one.__name__.replace("_", "-"): one
    for one in (honest, answers_early, keeps_half, forgets_keys, stops_clocks, sends_early)
}

if __name__ == "__main__":
    gathering.COMPACT_BYTES = FOLD_BYTES
    LIES[sys.argv.pop(1)]()
    main()
