"""The declaration of an order that `world.flow` can create."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

Ask: TypeAlias = "Callable[[str, str, JsonObject | None], JsonObject]"
"""Calls the API with a token. Takes method, path and body, and returns the response."""


@dataclass(frozen=True)
class Flow:
    """A kind of order that `world.flow` can create."""

    order: Callable[[Ask, Mapping[str, Any]], JsonObject]
    """Creates the order with the fields given by a test, and returns it."""
    fields: tuple[str, ...]
    """The names of the fields that a test may give."""
    path: str
    """The API path of an order, without the order's id."""
    events: Mapping[str, str]
    """Maps a status to the event that reports it. The initial status of an order maps to ""."""
