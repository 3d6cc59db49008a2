"""A provider's declarations for certifying receivers of its webhooks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from simulator.engine.clients.control import ControlClient
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

Ask: TypeAlias = "Callable[[str, str, JsonObject | None], JsonObject]"
"""Calls the API with a token: takes method, path and body, and returns the response."""


@dataclass(frozen=True)
class Step:
    """A step of an order."""

    event: str
    """The event that reports it."""
    action: str = ""
    """The action that causes it, if any."""


@dataclass(frozen=True)
class Standing:
    """A standing order that runs twice, minutes of the world's clock apart."""

    noun: str
    """Its name in messages."""
    run_twice: Callable[[Ask, ControlClient, str], str]
    """Creates one with a reference and lets it run. Returns its id."""
    event: str
    """The event of a run."""
    order_of: Callable[[JsonObject], str]
    """Returns the id of the order of a run, given the object of its event."""


@dataclass(frozen=True)
class Playbook:
    """The orders and events that `rampsim certify` plays to a receiver."""

    kind: str
    """The kind of its orders."""
    path: str
    """Path of an order in the API, without its id."""
    sign_in: Callable[[Ask, Mapping[str, str]], str]
    """Returns a token for the keys of an environment."""
    order: Callable[[Ask, str], JsonObject]
    """Creates an order with a reference."""
    needed: str
    """The orders that must be possible in the world, for messages."""
    history: tuple[Step, ...]
    """The steps of an order from creation to completion."""
    forged: JsonObject
    """The fields of an order that a forgery changes, as if it were completed."""
    altered: str
    """A string field of an order that a forgery changes."""
    refund: tuple[Step, ...] = ()
    """Steps that refund an order before its last step. The last one is also possible after completion."""
    standing: Standing | None = None
