"""The directory of public keys and tokens."""

from __future__ import annotations

from simulator.engine.worlds.directory import Directory, directory_of, enter_into
from tests.calls import world_of
from tests.toy import PROVIDER


def test_worlds_share_a_directory_once_they_are_entered_into_it() -> None:
    one, other, shared = world_of(PROVIDER), world_of(PROVIDER), Directory()
    directory_of(one)["pk"] = "a"
    assert directory_of(other) == {}
    for world in (one, other):
        enter_into(shared, world)
        assert directory_of(world) is shared
    assert shared == {}
