"""The wording of refusals, responses and events under switched assumptions."""

from __future__ import annotations

from collections.abc import Callable

from simulator.engine.rows.error import ApiError
from simulator.engine.text.json import JsonObject, Shown
from simulator.kernel.dataclass import dataclass
from simulator.kernel.world import World


@dataclass(frozen=True)
class Wording:
    """The functions by which a provider changes the wording of what it sends; by default nothing is changed."""

    refusal: Callable[[World, ApiError], ApiError] = lambda world, error: error
    """Return a refusal with the code, status and headers of this world."""
    envelope: Callable[[World, ApiError, str], JsonObject] = lambda world, error, request_id: error.envelope(request_id)
    """Return the error envelope of a refusal, by the id of its call."""
    answer: Callable[[World, Shown], Shown] = lambda world, shown: shown
    """Return a response, or the envelope of an event."""
    subject: Callable[[World, str, Shown], Shown] = lambda world, event_type, subject: subject
    """Return the part of a resource that an event of a type shows."""
