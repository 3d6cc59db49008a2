"""The row with which a provider declares an order for `world.flow`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

Ask: TypeAlias = "Callable[[str, str, JsonObject | None], JsonObject]"
"""Calls the API with a token. Takes method, path and body, and returns the response."""


@dataclass(frozen=True)
class Flow:
    """An order that a provider knows how to create."""

    order: Callable[[Ask, Mapping[str, Any]], JsonObject]
    """Creates the order with the fields that a test passes, and returns it."""
    fields: tuple[str, ...]
    """The names of the fields that a test may pass."""
    path: str
    """The path of an order in the API, without the order's id."""
    events: Mapping[str, str]
    """Maps a status to the event that reports it, or to "" if a new order has this status."""
