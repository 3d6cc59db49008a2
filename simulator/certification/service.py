"""What a provider declares about its service so that receivers of its webhooks can be certified."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from simulator.engine.clients.control import ControlClient
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

Ask: TypeAlias = "Callable[[str, str, JsonObject | None], JsonObject]"
"""Calls the interface, signed in: from method, path and body the answer."""


@dataclass(frozen=True)
class Step:
    """A step in the life of an order: the event that reports it, and the action that brings it about ("" for none)."""

    event: str
    action: str = ""


@dataclass(frozen=True)
class Standing:
    """A standing order that runs twice, minutes of the world's clock apart."""

    noun: str
    """What people call it."""
    run_twice: Callable[[Ask, ControlClient, str], str]
    """Makes one under a reference and lets it run. Returns its id."""
    event: str
    """The event of a run."""
    order_of: Callable[[JsonObject], str]
    """The id of the order that a run made, from the object of its event."""


@dataclass(frozen=True)
class Examined:
    """What is played to a receiver that `rampsim certify` examines."""

    kind: str
    """The kind of its orders."""
    path: str
    """Where the interface shows an order; its id comes after it."""
    sign_in: Callable[[Ask, Mapping[str, str]], str]
    """Returns the token that calls are signed in with, from the keys of an environment."""
    order: Callable[[Ask, str], JsonObject]
    """Makes an order under a reference."""
    told: str
    """What has to go through in its world, for a person."""
    story: tuple[Step, ...]
    """The life of an order, from its beginning to its good end."""
    forged: JsonObject
    """What a forgery says of an order: the members that differ, as if it had come to its good end."""
    altered: str
    """A member of an order with a text, which a forgery changes."""
    refund: tuple[Step, ...] = ()
    """How an order whose story has all but ended is undone. The last step is possible after the good end too."""
    standing: Standing | None = None
