"""The fixtures of the kit, which other tests of this repository put their own in place of, and shops at work in it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from simulator.testing import Receiver, World, receiver
from simulator.testing.plugin import world as world
from tests.tools.integrators.rig import Rig
from tests.tools.integrators.shop.careless import named


@pytest.fixture
def inbox(world_in_process: World) -> Iterator[Receiver]:
    """What brings the webhooks to a shop, without any socket."""
    with receiver(world_in_process) as made:
        yield made


@pytest.fixture
def shop(world_in_process: World, inbox: Receiver) -> Rig:
    """The careful shop, unless SHOP_MISTAKES names mistakes."""
    return Rig(world_in_process, inbox, *named(os.environ))


@pytest.fixture
def careless_shop(world_in_process: World, inbox: Receiver) -> Callable[..., Rig]:
    """A shop with the mistakes that are named."""
    return lambda *mistakes: Rig(world_in_process, inbox, *mistakes)


@pytest.fixture
def my_shop(world: World, webhooks: Receiver) -> Rig:
    """The careful shop, against the server that all workers of the run share."""
    return Rig(world, webhooks, *named(os.environ))
