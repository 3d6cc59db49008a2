"""What a class of faults is, and what classes are written with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simulator.exploration.runs.tasks import Document
from simulator.kernel.dataclass import dataclass

Step = Mapping[str, Any]
"""An action with its parameters, `{"action": ..., ...}`; in a rule also `after`."""


@dataclass(frozen=True)
class Site:
    """One place of a test: the n-th of its sort.

    `kind`: call, delivery or transaction. `what`: the operation as `POST /quotes/{id}/confirm`, the event type, the
    type of the transaction. `facts`: what a fault has to know of it; `world` there is the one of the test's worlds in
    which it is, and `skip` and the like count in that world. `cause`: the type of the event that a call reacted to, ""
    for what the test itself does.
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
    """What makes one thing go wrong at one site. All of it is JSON.

    `faults` are put in force before the test, in the order in which they are asked; the hits of those from `counted` on
    tell whether it happened. `rules` are those of a scenario above all others. `instead`: steps that are done in place
    of an action which the test itself asks for. `mend`: actions that put right what an integrator cannot.
    """

    faults: tuple[Document, ...] = ()
    counted: int = 0
    rules: tuple[Document, ...] = ()
    instead: Mapping[str, tuple[Step, ...]] | None = None
    target: str | None = None
    mend: tuple[Step, ...] = ()


@dataclass(frozen=True)
class FaultClass:
    """One class. `arm` gives None where the site does not fit.

    `strikes`: the call or delivery itself goes wrong, and the service works on; otherwise the outside world chose.
    """

    name: str
    kind: str
    arm: Callable[[Site], Arming | None]
    strikes: bool = True
    seconds: float = 0.0
    """How much longer than the test a run takes, in real seconds."""


def match(site: Site) -> Document:
    """What picks the calls of a site's operation."""
    return {"method": site.facts["method"], "path": site.facts["glob"]}


def answered(status: int, code: str, **more: Any) -> Document:
    """A refusal, as a fault answers it."""
    return {"status": status, "code": code, **more}


def happens(action: str, **parameters: Any) -> Callable[[Site], Document]:
    """An action of the outside world, the same at every site."""
    return lambda site: {"action": action, "parameters": parameters}


def rule(on: str, site: Site, *steps: Step) -> Document:
    """A rule about the order of a site."""
    return {"on": on, "where": {"id": site.facts["id"]}, "do": list(steps)}
