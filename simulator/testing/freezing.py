"""A test's own time, held at the simulated time of a world."""

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
"""Modules that go on by real time where they have `from time import monotonic` or `perf_counter`: they wait by it.

pytest measures by it how long each phase of a test takes.
"""


class Freezing(Generic[WorldT]):
    """Time that is held for a world, from when this is made until `end`, or until the end of the block."""

    def __init__(self, world: WorldT, using: Library | None = None) -> None:
        self._world = world
        self.has_block = False
        """Whether a block holds it, whose end it waits for."""
        with ExitStack() as held:
            held.enter_context(_held(world, using))
            self._held = held.pop_all()

    def end(self) -> None:
        """Let the time go on. Nothing when it does."""
        self._held.close()

    def __enter__(self) -> WorldT:
        self.has_block = True
        return self._world

    def __exit__(self, *_: object) -> None:
        self.end()


def freeze(world: WorldT, using: Library | None = None) -> Freezing[WorldT]:
    """Hold the time of this process at the simulated time; what moves the world's clock moves both.

    It begins with the call, and ends with the block (`with world.freeze(): ...`). Without a block it ends with the
    test or the world, or by `end()`.

    `using`: freezegun, or time-machine; without it the first of them that is installed. Meanwhile webhooks are
    stamped with simulated time (setting `webhook_timestamp`), and while a `Receiver` handles a delivery on the way of
    an `advance`, the time is the moment of that delivery: a verifier that asks `time.time()` accepts what is genuine.
    The clock of the world has to be manual: SimulatorError when it runs by itself. ImportError without a library.
    Real time goes on for what waits: event loops of asyncio and trio, time limits of httpx, `Receiver.wait_for`.
    """
    return Freezing(world, using)


@contextmanager
def _held(world: SeenWorld, using: Library | None) -> Iterator[None]:
    clock = world.control("GET", "/clock")
    if clock["mode"] != "manual":
        raise SimulatorError(
            f"A world that is frozen needs a manual clock; that of {world.id} is {clock['mode']} and runs by itself. "
            'Make the world with clock={"mode": "manual"}.'
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
                if world.info is not put_back:  # and its settings with it
                    put_back = world.info
                    _stamp(world, "simulated")

            def follow_delivery(now: datetime) -> None:
                nonlocal held_at
                with moving:
                    # A slow receiver may ask for the moment before an advance ends and hear of it afterwards.
                    if now > held_at and follow_delivery in world.on_delivery:
                        move(now)
                        held_at = now

            world.on_advance.append(follow)
            world.on_delivery.append(follow_delivery)
            try:
                yield
            finally:
                world.on_advance.remove(follow)
                with moving:  # the time must not be moved once it has been let go
                    world.on_delivery.remove(follow_delivery)
    finally:
        with suppress(SimulatorError):  # a world that has ended has no settings
            _stamp(world, before)


def _stamp(world: SeenWorld, clock: str) -> None:
    """Choose by which clock webhooks are stamped."""
    world.control("PATCH", "/settings", {"webhook_timestamp": clock})


def _holder(using: Library | None) -> Callable[[datetime], AbstractContextManager[Move]]:
    """What holds the time at a moment and gives the function that moves it."""
    holders = {"freezegun": _freezegun, "time-machine": _time_machine}
    if using is not None and using not in holders:
        raise ValueError(f"freeze: using is 'freezegun' or 'time-machine', not {using!r}")
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
        # freezegun means by `ignore` two things: which modules keep what they have imported, and who is called from
        # which modules gets real time. The second would reach tests that trio runs, and applications called from here.
        api.ignore_lists[-1] = tuple(name for name in api.ignore_lists[-1] if name not in _KEEP_REAL)
        yield factory.move_to


@contextmanager
def _loops_by_real_time() -> Iterator[None]:
    """Have the event loops of all threads go on by real time, from before time stands until after it goes on.

    freezegun can do that too (`real_asyncio`), but last of all: until then a loop in another thread, such as a server
    of the test's own, plans by the frozen time what it then waits for by the real one, for years.
    """
    from unittest.mock import patch

    monotonic = real_monotonic()
    with ExitStack() as patches:
        # The second has a `time` of its own once somebody has used `real_asyncio`.
        for kind in (asyncio.BaseEventLoop, asyncio.SelectorEventLoop):
            patches.enter_context(patch.object(kind, "time", lambda _loop: monotonic()))
        yield


@contextmanager
def _time_machine(now: datetime) -> Iterator[Move]:
    import time_machine

    with time_machine.travel(now, tick=False) as traveller:
        yield lambda moment: traveller.move_to(moment, tick=False)
