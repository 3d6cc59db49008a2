"""Fault classes and the values they are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simulator.exploration.runs.tasks import Document
from simulator.kernel.dataclass import dataclass

Step = Mapping[str, Any]
"""An action with its parameters, `{"action": ..., ...}`; in a rule also `after`."""


@dataclass(frozen=True)
class Site:
    """One occurrence in a test: the n-th of its sort.

    `kind`: call, delivery or transaction. `what`: the operation as `POST /quotes/{id}/confirm`, the event type, or the
    type of the transaction. `facts`: what a fault needs to know; `world` is the index of the test's world that has the
    site, and counters such as `skip` refer to that world. `cause`: the type of the event that a call reacted to, or ""
    for the test's own calls.
    """

    kind: str
    what: str
    number: int
    facts: Document
    cause: str = ""

    @property
    def name(self) -> str:
        return f"{self.what} #{self.number}"


@dataclass(frozen=True)
class Arming:
    """The faults, rules and actions for one site, as JSON.

    `faults` are added before the test, in order of precedence. The hits of those from `counted` on show whether the
    fault happened. `rules` form a scenario above all others. `instead`: steps that replace an action that the test
    itself calls for. `mend`: actions that repair what an integrator cannot.
    """

    faults: tuple[Document, ...] = ()
    counted: int = 0
    rules: tuple[Document, ...] = ()
    instead: Mapping[str, tuple[Step, ...]] | None = None
    target: str | None = None
    mend: tuple[Step, ...] = ()


@dataclass(frozen=True)
class FaultClass:
    """One fault class. `arm` returns None if the site does not match.

    `strikes`: the call or delivery itself fails while the service continues; otherwise a third party acts
    differently.
    """

    name: str
    kind: str
    arm: Callable[[Site], Arming | None]
    strikes: bool = True
    seconds: float = 0.0
    """The extra real seconds that a run takes."""


def match(site: Site) -> Document:
    """Return the `match` of a site's operation."""
    return {"method": site.facts["method"], "path": site.facts["glob"]}


def answered(status: int, code: str, **more: Any) -> Document:
    """Return a refusal as the response of a fault."""
    return {"status": status, "code": code, **more}


def happens(action: str, **parameters: Any) -> Callable[[Site], Document]:
    """Return an outside event that is the same at every site."""
    return lambda site: {"action": action, "parameters": parameters}


def rule(on: str, site: Site, *steps: Step) -> Document:
    """Return a rule for the order of a site."""
    return {"on": on, "where": {"id": site.facts["id"]}, "do": list(steps)}
