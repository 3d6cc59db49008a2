"""The wording of refusals, responses and events under switched assumptions."""

from __future__ import annotations

from collections.abc import Callable

from simulator.engine.rows.error import ApiError
from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World


def _as_it_is(world: World, shown: Shown) -> Shown:
    return shown


def _refused(world: World, error: ApiError) -> ApiError:
    return error


def _envelope(world: World, error: ApiError, request_id: str) -> JsonObject:
    return error.envelope(request_id)


def _all_of_it(world: World, event_type: str, subject: Shown) -> Shown:
    return subject


@dataclass(frozen=True)
class Wording:
    """The functions by which a provider changes the wording of what it sends; by default nothing is changed."""

    refusal: Callable[[World, ApiError], ApiError] = _refused
    """Return a refusal with the code, status and headers of this world."""
    envelope: Callable[[World, ApiError, str], JsonObject] = _envelope
    """Return the error envelope of a refusal, by the id of its call."""
    answer: Callable[[World, Shown], Shown] = _as_it_is
    """Return a response, or the envelope of an event."""
    subject: Callable[[World, str, Shown], Shown] = _all_of_it
    """Return the part of a resource that an event of a type shows."""
