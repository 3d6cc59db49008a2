"""The part of the vocabulary (all declarations of a service) that the modules in `rows` need.

These modules cannot import the vocabulary itself, because the vocabulary imports them.
"""

from __future__ import annotations

from simulator.engine.rows.money import Money
from simulator.engine.rows.signing import Signing
from simulator.engine.rows.wording import Wording
from simulator.kernel.world import World


class Service:
    """The money operations, the webhook rules and the `Wording` functions of the simulated service."""

    signing: Signing
    money: Money
    wording: Wording


def service_of(world: World) -> Service:
    """Return the service that a world simulates."""
    service = world.wiring.vocabulary
    assert isinstance(service, Service)
    return service


def signing_of(world: World) -> Signing:
    """Return the webhook rules of the service that a world simulates."""
    return service_of(world).signing
