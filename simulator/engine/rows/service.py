"""The part of the vocabulary that the modules in `rows` need. They cannot import the vocabulary, which imports them."""

from __future__ import annotations

from collections.abc import Callable

from simulator.engine.rows.error import ApiError
from simulator.engine.rows.money import Money
from simulator.engine.rows.signing import Signing
from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World


@dataclass(frozen=True)
class Wording:
    """A provider's functions that change errors, responses and events in worlds with selected alternatives."""

    refusal: Callable[[World, ApiError], ApiError] = lambda world, error: error
    """Returns a refusal with the code, status and headers that apply in this world."""
    envelope: Callable[[World, ApiError, str], JsonObject] = lambda world, error, request_id: error.envelope(request_id)
    """Returns the error envelope for a refusal, given the request id."""
    answer: Callable[[World, Shown], Shown] = lambda world, shown: shown
    """Returns the response (or event envelope) to send in this world, given the usual one."""
    subject: Callable[[World, str, Shown], Shown] = lambda world, event_type, subject: subject
    """Returns the resource as events of a type contain it in this world, given the usual form."""


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
