"""The frozen clock of the test process, which shows the simulated time of a world."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from datetime import datetime
from importlib.util import find_spec
from threading import Lock
from typing import Generic, Literal, TypeVar

from simulator.testing.errors import SimulatorError, missing
from simulator.testing.links.loop_thread import real_monotonic
from simulator.testing.reading import SeenWorld

WorldT = TypeVar("WorldT", bound=SeenWorld)
Library = Literal["freezegun", "time-machine"]
Move = Callable[[datetime], None]

_KEEP_REAL = ("simulator", "trio", "subprocess", "socketserver", "_pytest")
"""Modules that need real time, for timeouts or durations, if they import `monotonic` or `perf_counter` by name."""


class Freezing(Generic[WorldT]):
    """Freezes this process's time at a world's simulated time, and advances it when the world's clock advances.

    Freezing starts immediately. In a block (`with world.freeze(): ...`) it ends with the block. Without a block it ends
    with the test or the world, or when you call `end()`.

    `using`: freezegun or time-machine. The default is the first one installed. While time is frozen, webhooks carry
    simulated timestamps (setting `webhook_timestamp`). While a `Receiver` handles a delivery during an `advance`, the
    test's time is the time of that delivery, so a verifier that calls `time.time()` accepts genuine webhooks. Raises
    SimulatorError if the world does not have a manual clock, and ImportError if no library is installed. Waiting code
    keeps real time: asyncio and trio event loops, httpx timeouts, `Receiver.wait_for`.
    """

    def __init__(self, world: WorldT, using: Library | None = None) -> None:
        self._world = world
        self.has_block = False
        """Whether freezing ends with a `with` block."""
        self._held = ExitStack()
        self._held.enter_context(_held(world, using))

    def end(self) -> None:
        """Unfreeze time. Does nothing if time is not frozen."""
        self._held.close()

    def __enter__(self) -> WorldT:
        self.has_block = True
        return self._world

    def __exit__(self, *_: object) -> None:
        self.end()


@contextmanager
def _held(world: SeenWorld, using: Library | None) -> Iterator[None]:
    clock = world.control("GET", "/clock")
    if clock["mode"] != "manual":
        raise SimulatorError(
            f"A frozen world needs a manual clock; the clock of {world.id} is {clock['mode']} and runs on its own. "
            'Create the world with clock={"mode": "manual"}.'
        )
    hold = _holder(using)
    before = world.control("GET", "/settings")["webhook_timestamp"]
    _stamp(world, "simulated")
    try:
        with hold(datetime.fromisoformat(clock["now"])) as move:
            put_back = world.info
            held_at = datetime.fromisoformat(clock["now"])
            moving = Lock()

            def follow(now: datetime) -> None:
                nonlocal put_back, held_at
                with moving:
                    move(now)
                    held_at = now
                if world.info is not put_back:  # the world was restored or reset, including its settings
                    put_back = world.info
                    _stamp(world, "simulated")

            def follow_delivery(now: datetime) -> None:
                nonlocal held_at
                with moving:
                    # A slow receiver may ask for the time of a delivery during an advance, and report it afterwards.
                    if now > held_at and follow_delivery in world.on_delivery:
                        move(now)
                        held_at = now

            world.on_advance.append(follow)
            world.on_delivery.append(follow_delivery)
            try:
                yield
            finally:
                world.on_advance.remove(follow)
                with moving:  # no delivery may move the time after it is unfrozen
                    world.on_delivery.remove(follow_delivery)
    finally:
        with suppress(SimulatorError):  # the world may have been deleted
            _stamp(world, before)


def _stamp(world: SeenWorld, clock: str) -> None:
    world.control("PATCH", "/settings", {"webhook_timestamp": clock})


def _holder(using: Library | None) -> Callable[[datetime], AbstractContextManager[Move]]:
    """Return a function that freezes time with the library `using`, or with the first library that is installed."""
    holders = {"freezegun": _freezegun, "time-machine": _time_machine}
    if using is not None and using not in holders:
        raise ValueError(f"freeze: `using` must be 'freezegun' or 'time-machine', not {using!r}")
    for name in (using,) if using else holders:
        if find_spec(name.replace("-", "_")) is not None:
            return holders[name]
    raise missing(using or "freezegun", "world.freeze()")


@contextmanager
def _freezegun(now: datetime) -> Iterator[Move]:
    import freezegun
    from freezegun import api

    frozen = freezegun.freeze_time(now, ignore=list(_KEEP_REAL))
    with _loops_by_real_time(), frozen as factory:
        # freezegun's `ignore` has two effects: the listed modules keep what they have imported, and callers in them
        # get real time. The second effect would also apply to tests run by trio and to applications called from here.
        api.ignore_lists[-1] = tuple(name for name in api.ignore_lists[-1] if name not in _KEEP_REAL)
        yield factory.move_to


@contextmanager
def _loops_by_real_time() -> Iterator[None]:
    """Keep the event loops of all threads on real time while time is frozen.

    freezegun has `real_asyncio` for this purpose but applies it last. Until then, a loop in another thread would
    schedule timers in frozen time and wait for them in real time, possibly for years.
    """
    from unittest.mock import patch

    monotonic = real_monotonic()
    # After `real_asyncio` was used once, asyncio has a `time` attribute of its own.
    base, selector = (
        patch.object(kind, "time", lambda _loop: monotonic())
        for kind in (asyncio.BaseEventLoop, asyncio.SelectorEventLoop)
    )
    with base, selector:
        yield


@contextmanager
def _time_machine(now: datetime) -> Iterator[Move]:
    import time_machine

    with time_machine.travel(now, tick=False) as traveller:
        yield lambda moment: traveller.move_to(moment, tick=False)
