"""The tests of integrators run without any socket; what each of them needs is the kit's."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from simulator.testing import Receiver, World
from tests.integrators.rig import Rig


@pytest.fixture
def world(world_in_process: World) -> World:
    return world_in_process


@pytest.fixture
def shop(world: World, webhooks: Receiver) -> Rig:
    """The careful shop."""
    return Rig(world, webhooks)


@pytest.fixture
def careless_shop(world: World, webhooks: Receiver) -> Callable[..., Rig]:
    """A shop with the mistakes that are named."""
    return lambda *mistakes: Rig(world, webhooks, *mistakes)
