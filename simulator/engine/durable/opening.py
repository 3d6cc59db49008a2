"""Selects a store by its URL, and sets up a server to save its worlds in this store."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from simulator.engine.durable.persistence import PersistenceLayer
from simulator.engine.durable.resting import FilePersistence
from simulator.engine.durable.shared import fallback, postgres, sharing
from simulator.engine.durable.sqlite import SqliteStore
from simulator.engine.server.app import Application
from simulator.engine.server.config import Config, ConfigError
from simulator.engine.server.http.boundary import ErrorBoundary
from simulator.engine.server.runtime import Runtime
from simulator.engine.worlds.settings import DEFAULTS
from simulator.engine.worlds.simulator import Blueprint, Simulator
from simulator.version import wheel


def persist(runtime: Runtime, config: Config, asked: Blueprint, make_default: Callable[[], None]) -> PersistenceLayer:
    """Set up a server to save its worlds in the file given with `--store`, after `start` of the result is called.

    `make_default` creates the world `default` in a new store. `asked` describes it as specified by the command line.
    """

    def differs(saved: Blueprint) -> str:
        if config.state is not None:
            return f"--state {str(config.state)!r} was not read"
        return otherwise(asked, saved)

    store = SqliteStore(Path((config.store or "").removeprefix("sqlite:///")))
    persistence = FilePersistence(runtime, store, make_default, differs, config.idle_worlds_seconds)
    runtime.persist_with(persistence)
    return persistence


def is_shared(url: str) -> bool:
    """Return True if several servers can share the store at a URL (PostgreSQL), or False for a SQLite store."""
    return not url.startswith("sqlite:")


def share(
    application: Application,
    config: Config,
    default: Blueprint,
    make_default: Callable[[], None],
    admission: fallback.Admits,
) -> None:
    """Set up a server as one of several replicas that share a PostgreSQL database.

    `admission` checks control requests. Raise `ConfigError` if the PostgreSQL driver is not installed.
    """
    if find_spec("asyncpg") is None:
        why = f"--store: PostgreSQL needs a driver that is not installed: pip install '{wheel('postgres')}'"
        raise ConfigError([why])
    runtime = application.runtime
    simulator = runtime.simulator
    simulator.stand_in = Simulator(simulator.provider, simulator.library).create_world(default)
    store = postgres.PostgresStore(config.store or "", config.advertise or "")
    replica = sharing.Sharing(runtime, store, make_default, config.idle_worlds_seconds)
    runtime.persist_with(replica)
    application.add_middleware(
        fallback.FallbackApp,
        sharing=replica,
        refusal=application.interface.refusal,
        admission=admission,
        pages=application.pages,
    )
    application.add_middleware(ErrorBoundary, calls=application.calls, settles=False)


def otherwise(asked: Blueprint, saved: Blueprint) -> str:
    """Describe how a saved world differs from the command-line flags of this server, or return ""."""
    parts = {
        "seed": (saved.seed, asked.seed),
        "clock": (saved.mode, asked.mode),
        "scenarios": (", ".join(saved.scenarios) or "none", ", ".join(asked.scenarios) or "none"),
        "observed": (_dates(saved), _dates(asked)),
    }
    given = {**DEFAULTS, **asked.settings}
    parts |= {name: (value, given.get(name)) for name, value in {**DEFAULTS, **saved.settings}.items()}
    return "; ".join(f"{name} {was}, not {wanted}" for name, (was, wanted) in parts.items() if was != wanted)


def _dates(blueprint: Blueprint) -> str:
    return ", ".join(one.date for one in blueprint.observed) or "nothing"
