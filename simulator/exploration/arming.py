"""What a class of faults is, and what classes are written with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from simulator.engine.rows.money import Money
from simulator.exploration.runs.tasks import Document
from simulator.exploration.sites import Site
from simulator.host import vocabulary
from simulator.kernel.dataclass import dataclass

Step = Mapping[str, Any]
"""An action with its parameters, `{"action": ..., ...}`; in a rule also `after`."""


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


def money() -> Money:
    """The operations of the service that have to do with money."""
    return vocabulary().provider.money


def before(
    operations: Callable[[Money], tuple[str, ...]], happening: Callable[[Site], Document | None], *mend: Step
) -> Callable[[Site], Arming | None]:
    """Something happens in the outside world just before a call of one of these operations."""

    def arm(site: Site) -> Arming | None:
        act = happening(site) if site.facts["operation"] in operations(money()) else None
        if act is None:
            return None
        return Arming(({"match": match(site), "act": act, "skip": site.facts["skip"], "times": 1},), mend=mend)

    return arm


def happens(action: str, **parameters: Any) -> Callable[[Site], Document]:
    """An action of the outside world, the same at every site."""
    return lambda site: {"action": action, "parameters": parameters}


def created(kind: str) -> str:
    """What tells that the outside world is waited for."""
    return (vocabulary().kinds[kind].machine.initial[0].events or ("created",))[-1]


def permits(site: Site, state: str, action: str) -> bool:
    """Whether the state table of an order has an action in a state."""
    return vocabulary().kinds[site.what].machine.permits(state, action)


def rule(on: str, site: Site, *steps: Step) -> Document:
    """A rule about the order of a site."""
    return {"on": on, "where": {"id": site.facts["id"]}, "do": list(steps)}
