"""Which store a URL means."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from simulator.durable.backend import Backend
from simulator.durable.keeper import Keeper
from simulator.durable.sqlite import SqliteStore
from simulator.server.runtime import Runtime


def keep(runtime: Runtime, url: str, make_default: Callable[[], None]) -> Keeper:
    """Let the worlds of a server be kept in the store of a URL, from `Keeper.start` on.

    `make_default` makes the world `default` where the store has none.
    """
    keeper = Keeper(runtime, backend_of(url), make_default)
    runtime.keep_with(keeper)
    return keeper


def backend_of(url: str) -> Backend:
    """The database of a URL that `Config` has found to be one."""
    return SqliteStore(Path(url.removeprefix("sqlite:///")))
