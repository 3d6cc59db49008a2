"""The part of a vocabulary that its own rows need: rows cannot import the vocabulary, which is made of them."""

from __future__ import annotations

from simulator.engine.rows.money import Money
from simulator.engine.rows.signing import Signing
from simulator.engine.rows.wording import Wording
from simulator.kernel.world import World


class Service:
    """How the simulated service words what it says and sends webhooks, and which of its operations move money."""

    signing: Signing
    money: Money
    wording: Wording


def service_of(world: World) -> Service:
    """The service that a world simulates."""
    service = world.wiring.vocabulary
    assert isinstance(service, Service)
    return service


def signing_of(world: World) -> Signing:
    """How the service that a world simulates sends webhooks."""
    return service_of(world).signing
