"""The fixtures of the test kit, in place of those that other tests in this repository use, and shops in worlds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from simulator.testing import Receiver, World, receiver
from simulator.testing.plugin import world as world
from tests.tools.integrators.rig import Rig
from tests.tools.integrators.shop.careless import named


@pytest.fixture
def inbox(world_in_process: World) -> Iterator[Receiver]:
    """Deliver webhooks to a shop without sockets."""
    with receiver(world_in_process) as made:
        yield made


@pytest.fixture
def shop(world_in_process: World, inbox: Receiver) -> Iterator[Rig]:
    """The careful shop, unless SHOP_MISTAKES names mistakes."""
    with Rig(world_in_process, inbox, *named(os.environ)) as made:
        yield made


@pytest.fixture
def careless_shop(world_in_process: World, inbox: Receiver) -> Iterator[Callable[..., Rig]]:
    """A shop with the mistakes that are named."""
    with ExitStack() as stack:
        yield lambda *mistakes: stack.enter_context(Rig(world_in_process, inbox, *mistakes))


@pytest.fixture
def my_shop(world: World, webhooks: Receiver) -> Iterator[Rig]:
    """The careful shop, against the server that all workers of the run share."""
    with Rig(world, webhooks, *named(os.environ)) as made:
        yield made
