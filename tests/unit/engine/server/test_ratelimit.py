"""The rate limit of a world (decision H15): the clock for its windows, and its messages."""

from __future__ import annotations

import pytest

from simulator.engine.rows.error import ApiError
from simulator.engine.server.checks import ratelimit
from simulator.engine.worlds.setting_model import Settings
from simulator.engine.worlds.settings import change_settings
from simulator.kernel.journal import Cause
from simulator.kernel.world import World
from tests.calls import advance, world_of
from tests.toy import PROVIDER


class Wall:
    """A wall clock that the test controls."""

    def __init__(self) -> None:
        self.now_ms = 1_800_000_000_000

    def __call__(self) -> int:
        return self.now_ms


@pytest.fixture
def wall() -> Wall:
    return Wall()


def count_call(world: World, public_key: str, wall: Wall) -> None:
    """A call is counted inside a change."""
    with world.change(Cause("request", "test")):
        ratelimit.count_call(world, public_key, wall)


def limited(**settings: str) -> World:
    world = world_of(PROVIDER)
    with world.change(Cause("action", "settings")):
        change_settings(world, Settings.model_validate({"rate_limit": "2/10", **settings}))
    return world


def wait_of(world: World, wall: Wall, key: str = "pk_1") -> int:
    """Retry-After of a refused call, 0 for one that passes."""
    try:
        count_call(world, key, wall)
    except ApiError as error:
        return int(error.headers["Retry-After"])
    return 0


def test_a_full_window_is_429(wall: Wall) -> None:
    """Decision H15."""
    world = limited()
    for _ in range(2):
        count_call(world, "pk_1", wall)
    with pytest.raises(ApiError) as refused:
        count_call(world, "pk_1", wall)
    assert (refused.value.status, refused.value.code) == (429, "rate_limited")


def test_windows_lapse_on_the_simulated_clock(wall: Wall) -> None:
    world = limited()
    assert [wait_of(world, wall) for _ in range(3)] == [0, 0, 10]
    wall.now_ms += 3_600_000
    assert wait_of(world, wall) == 10
    advance(world, world.now_ms + 9_001)
    assert wait_of(world, wall) == 1
    advance(world, world.now_ms + 999)
    assert wait_of(world, wall) == 0


def test_windows_lapse_on_the_wall_clock_when_asked(wall: Wall) -> None:
    world = limited(rate_limit_clock="wall")
    assert [wait_of(world, wall) for _ in range(3)] == [0, 0, 10]
    advance(world, world.now_ms + 3_600_000)
    assert wait_of(world, wall) == 10
    wall.now_ms += 10_000
    assert wait_of(world, wall) == 0


def test_a_wall_clock_that_was_set_back_opens_a_new_window(wall: Wall) -> None:
    world = limited(rate_limit_clock="wall")
    assert [wait_of(world, wall) for _ in range(3)] == [0, 0, 10]
    wall.now_ms -= 86_400_000
    assert wait_of(world, wall) == 0


def test_each_key_pair_has_its_own_window(wall: Wall) -> None:
    """Decision H15: per key pair."""
    world = limited()
    assert [wait_of(world, wall, key) for key in ("pk_1", "pk_1", "pk_2", "pk_1", "pk_2")] == [0, 0, 0, 10, 0]


def test_without_a_limit_nothing_is_counted(wall: Wall) -> None:
    """Decision H15: off by default."""
    world = world_of(PROVIDER)
    assert not any(wait_of(world, wall) for _ in range(100))
    assert "rate_windows" not in world.store.tables()


@pytest.mark.parametrize(
    ("mode", "clock", "says_so"),
    [("manual", "simulated", True), ("real", "simulated", False), ("manual", "wall", False)],
)
def test_only_an_endless_window_shows_how_to_end_it(wall: Wall, mode: str, clock: str, says_so: bool) -> None:
    world = limited(rate_limit_clock=clock)
    world.clock.mode = mode
    for _ in range(2):
        count_call(world, "pk_1", wall)
    with pytest.raises(ApiError) as refused:
        count_call(world, "pk_1", wall)
    assert ("rampsim clock advance" in refused.value.message) is says_so
