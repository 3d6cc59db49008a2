"""Which store a URL means, and how the worlds of a server come to be kept in it."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from simulator.engine.durable.keeper import Keeper
from simulator.engine.durable.resting import RestingKeeper
from simulator.engine.durable.shared import fallback, postgres, sharing
from simulator.engine.durable.sqlite import SqliteStore
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config, ConfigError
from simulator.engine.server.http.boundary import ErrorBoundary
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.settings import DEFAULTS
from simulator.engine.worlds.simulator import Blueprint, Simulator
from simulator.version import wheel


def keep(runtime: Runtime, config: Config, asked: Blueprint, make_default: Callable[[], None]) -> Keeper:
    """Let the worlds of a server be kept in the file of `--store`, from `Keeper.start` on.

    `make_default` makes the world `default` where the store has none; `asked` is how the flags of the server would
    have it.
    """

    def differs(kept: Blueprint) -> str:
        if config.state is not None:
            return f"--state {str(config.state)!r} was not read"
        return otherwise(asked, kept)

    store = SqliteStore(Path((config.store or "").removeprefix("sqlite:///")))
    keeper = RestingKeeper(runtime, store, make_default, differs, idle_seconds=config.idle_worlds_seconds)
    runtime.keep_with(keeper)
    return keeper


def is_shared(url: str) -> bool:
    """Whether several servers may have the store of a URL at once."""
    return not url.startswith("sqlite:")


def share(
    application: Application,
    config: Config,
    default: Blueprint,
    make_default: Callable[[], None],
    admission: fallback.Admits,
) -> None:
    """Let a server be a replica among others; ConfigError. `admission`: that of its control interface."""
    if find_spec("asyncpg") is None:
        needed = f"--store: PostgreSQL needs a driver that is not installed: pip install '{wheel('postgres')}'"
        raise ConfigError([needed])
    runtime = application.runtime
    simulator = runtime.simulator
    simulator.stand_in = Simulator(simulator.provider, simulator.library).create_world(default)
    store = postgres.PostgresStore(config.store or "", config.advertise or "")
    replica = sharing.Sharing(runtime, store, make_default, idle_seconds=config.idle_worlds_seconds)
    runtime.keep_with(replica.keeper)
    application.add_middleware(
        fallback.Front,
        sharing=replica,
        refusal=application.interface.refusal,
        admission=admission,
        pages=application.pages,
    )
    application.add_middleware(ErrorBoundary, calls=application.calls, settles=False)


def otherwise(asked: Blueprint, kept: Blueprint) -> str:
    """Where a world that is kept was made otherwise than the flags of this server say; "" where it was not."""
    parts = {
        "seed": (kept.seed, asked.seed),
        "clock": (kept.mode, asked.mode),
        "scenarios": (", ".join(kept.scenarios) or "none", ", ".join(asked.scenarios) or "none"),
    }
    given = {**DEFAULTS, **asked.settings}
    parts |= {name: (value, given.get(name)) for name, value in {**DEFAULTS, **kept.settings}.items()}
    return "; ".join(f"{name} {was}, not {wanted}" for name, (was, wanted) in parts.items() if was != wanted)
