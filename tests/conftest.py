"""The server that tests share over HTTP, and a fresh world in it for each test."""

from __future__ import annotations

import gc
import signal
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from tests import kept
from tests.seeds import pytest_runtest_makereport, pytest_runtest_setup, run_only_the_example  # noqa: F401  (hooks)

if TYPE_CHECKING:
    import httpx

    from tests.remote import Remote

# How long an example takes depends on what else the machine does, and is no property of the code.
settings.register_profile("simulator", deadline=None, print_blob=True, database=None)
settings.load_profile("simulator")

# What a shell starts in the background ignores interrupts, and so would every program that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the groups of `--dist loadgroup` together: xdist 3.8 writes them where pytest 9.2 does not read them."""
    run_only_the_example(items)
    if not getattr(config.option, "loadgroup", False):
        return
    for item in items:
        groups = sorted({str(mark.args[0]) for mark in item.iter_markers("xdist_group")})
        grouped = f"{item.nodeid}@{'_'.join(groups)}"
        if groups and "@" not in item.nodeid.rpartition("]")[2]:
            item._id = type(item.id).parse(grouped)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Spare the garbage collector what collecting tests makes: all of it stays, and to look at it again takes a tenth
    of the whole run. What tests make is looked at as often as in a server.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()
        gc.set_threshold(10_000, 10, 10)


def pytest_configure(config: pytest.Config) -> None:
    """Where coverage is measured, how things are made that are kept has to be seen."""
    if not hasattr(config, "workerinput") and config.getoption("cov_source", default=None):
        kept.forget()


@pytest.fixture(scope="session")
def origin() -> Iterator[str]:
    """The origin of a server that runs for the whole session, in a thread of this process."""
    from simulator.engine.server.config import Config
    from tests.remote import running

    with running(Config(clock="manual")) as (address, _):
        yield address


@pytest.fixture(scope="session")
def http() -> Iterator[httpx.Client]:
    from tests.remote import new_client

    with new_client() as client:
        yield client


@pytest.fixture
def server(origin: str, http: httpx.Client) -> Remote:
    """The server, with its default world."""
    from tests.remote import Remote

    remote = Remote(origin, http)
    remote.world = remote.control("GET", "/worlds/default").body
    return remote


@pytest.fixture
def world(origin: str, http: httpx.Client) -> Remote:
    """A fresh world without scenarios: nothing happens but by timers and calls."""
    from tests.remote import Remote

    return Remote(origin, http).another(seed=1, scenarios=[])


@pytest.fixture
def autopilot_world(origin: str, http: httpx.Client) -> Remote:
    """A fresh world in which the autopilot and the test values are active."""
    from tests.remote import Remote

    return Remote(origin, http).another(seed=1)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: a repository of its own, where no command finds servers that other tests started."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path
