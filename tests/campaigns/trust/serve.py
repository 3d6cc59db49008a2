"""`python -m tests.campaigns.trust.serve LIE serve FLAGS`: the simulator, but with something of its store changed.

`honest` changes nothing of what it promises: entries are folded early, so that a short run comes past it too. The rest
are stores that lie, each in one thing; the judge has to find them.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from simulator.cli import main
from simulator.durable import keeper, kept, sqlite

FOLD_BYTES = 200_000


def honest() -> None:
    """A store as it is."""


def answers_early() -> None:
    """Answers do not wait for what they tell of to be kept."""
    keeper.Keeper.unsettled = lambda self: None  # type: ignore[method-assign]
    _slowly()


def keeps_half() -> None:
    """Of what happens in one turn three tables are written, and no more."""
    whole = keeper.entry_bytes

    def half(contents: Any, entry: Any) -> bytes:
        for name in list(entry.writes)[3:]:
            del entry.writes[name]
        return whole(contents, entry)

    keeper.entry_bytes = half


def forgets_keys() -> None:
    """Idempotency keys are not kept."""
    whole = keeper.entry_bytes

    def without(contents: Any, entry: Any) -> bytes:
        for name in [name for name in entry.writes if "idempotency" in name]:
            del entry.writes[name]
        return whole(contents, entry)

    keeper.entry_bytes = without


def stops_clocks() -> None:
    """The clocks that are kept stand where they stood first."""
    whole, first = keeper.entry_bytes, {}

    def stopped(contents: Any, entry: Any) -> bytes:
        clock = first.setdefault(tuple(entry.tables), entry.clock)
        return whole(contents, replace(entry, clock=clock))

    keeper.entry_bytes = stopped


def sends_early() -> None:
    """Webhooks do not wait for their event to be kept; answers do."""
    start = keeper.Keeper.start

    async def starting(self: Any) -> None:
        await start(self)
        self._runtime.courier.keeping = None

    keeper.Keeper.start = starting  # type: ignore[method-assign]
    _slowly()


def _slowly() -> None:
    commit = sqlite.SqliteStore.commit

    async def later(self: Any, batch: Any) -> Any:
        await asyncio.sleep(0.1)
        return await commit(self, batch)

    sqlite.SqliteStore.commit = later  # type: ignore[method-assign]


LIES: dict[str, Callable[[], None]] = {
    one.__name__.replace("_", "-"): one
    for one in (honest, answers_early, keeps_half, forgets_keys, stops_clocks, sends_early)
}

if __name__ == "__main__":
    kept.COMPACT_BYTES = FOLD_BYTES
    LIES[sys.argv.pop(1)]()
    main()
