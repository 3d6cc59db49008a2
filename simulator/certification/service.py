"""The declarations that `rampsim certify` needs to test receivers of a service's webhooks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from simulator.engine.clients.control import ControlClient
from simulator.engine.rows.token_exchange import TokenExchange
from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

Ask: TypeAlias = "Callable[[str, str, JsonObject | None], JsonObject]"
"""Calls the API with a token. Takes method, path and body, and returns the response."""


@dataclass(frozen=True)
class Step:
    """A status change of an order that its events report, such as the arrival of the payment."""

    event: str
    """The event that reports the step."""
    action: str = ""
    """The action that causes the step, if any."""


@dataclass(frozen=True)
class Flow:
    """The steps of a payment order. An exhaustive run delivers its events in every sequence."""

    name: str
    kind: str
    """The kind of order."""
    calls: tuple[tuple[str, str, JsonObject], ...]
    """The POST calls that create the order: name, path and body.

    `${reference}` is replaced by the order's reference, and `${name.field}` by a field of an earlier response. The
    last call creates the order.
    """
    steps: tuple[Step, ...]
    """The steps from creation to the end. The first ones are caused by the last call."""

    @property
    def path(self) -> str:
        """A glob that matches the path of the last call in the flow."""
        return re.sub(r"\$\{.*?\}", "*", self.calls[-1][1])

    def order(self, ask: Ask, reference: str) -> JsonObject:
        """Create an order of this flow with a reference."""
        known: dict[str, str] = {"reference": reference}
        answer: JsonObject = {}
        for name, path, body in self.calls:
            answer = ask("POST", filled(path, known), json.loads(filled(json.dumps(body), known)))
            known |= {f"{name}.{member}": str(value) for member, value in answer.items()}
        return answer


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a string in which values replace placeholders such as `${quote.id}`."""
    return re.sub(r"\$\{([\w.]+)\}", lambda found: values.get(found[1], found[0]), text)


@dataclass(frozen=True)
class Standing:
    """A recurring order that runs twice, a few minutes apart in simulated time."""

    noun: str
    """The name used in messages."""
    run_twice: Callable[[Ask, ControlClient, str], str]
    """Creates a recurring order with a reference and lets it run. Returns the order's id."""
    event: str
    """The type of the event that reports a run."""
    order_of: Callable[[JsonObject], str]
    """Returns the id of the order that a run created, given the object in the run's event."""


@dataclass(frozen=True)
class Playbook:
    """The orders and events that `rampsim certify` uses to test a receiver."""

    kind: str
    """The kind of order to create."""
    path: str
    """The path of an order in the API, without the order's id."""
    exchange: TokenExchange | None
    """The request that returns tokens, or None if the secret key itself is the token."""
    order: Callable[[Ask, str], JsonObject]
    """Creates an order with a reference."""
    needed: str
    """The orders that must be possible in the world, as a phrase for messages."""
    history: tuple[Step, ...]
    """The steps of an order from creation to completion."""
    forged: JsonObject
    """The fields that a forgery changes to make an order appear completed."""
    altered: str
    """A string field of an order. A forgery changes this field."""
    refund: tuple[Step, ...] = ()
    """Steps that refund an order before its last step. The last of these steps is also possible after completion."""
    standing: Standing | None = None
    flows: tuple[Flow, ...] = ()
    """The flows of exhaustive runs."""
    retry_delays_ms: tuple[int, ...] = (60_000,)
    """The time between the attempts to deliver an event, in milliseconds."""
    room: tuple[str, JsonObject] | None = None
    """The action, with its parameters, that makes thousands of orders possible."""

    @property
    def unknown_event(self) -> str:
        """An event type that the service might add in the future, unknown to receivers."""
        return f"{self.history[-1].event.rpartition('.')[0]}.held_for_review"
