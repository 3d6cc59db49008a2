"""Fault classes, sites (points in a test at which a fault can be injected), and armings (the faults to inject)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from simulator.exploration.runs.tasks import Document
from simulator.kernel.dataclass import dataclass

Step = Mapping[str, Any]
"""An action with its parameters, `{"action": ..., ...}`. In a rule it can also contain `after`."""


@dataclass(frozen=True)
class Site:
    """A place in a test where a fault can be injected: the n-th call, delivery or transaction of its kind.

    `kind`: call, delivery or transaction. `what`: the operation as `POST /quotes/{id}/confirm`, the event type, or the
    transaction type. `facts`: the data that a fault needs. Its `world` is the index of the world, if the test uses
    several, and counters such as `skip` count within that world. `cause`: the type of the event that a call reacted to,
    or "" for the test's own calls.
    """

    kind: str
    what: str
    number: int
    facts: Document
    cause: str = ""
    variant: str = ""
    """The variant of the fault at this site, for classes with several variants, such as `3 times`."""

    @property
    def group(self) -> str:
        """Return what the plan `quick` distinguishes: the event or function of a hold, otherwise `what`."""
        return str(self.facts.get("group", self.what))

    @property
    def name(self) -> str:
        return f"{self.what} #{self.number}{f', {self.variant}' if self.variant else ''}"


@dataclass(frozen=True)
class Arming:
    """The faults, rules and actions, as JSON, that make up the injected fault at one site.

    `faults` are added before the test, in order of precedence. `counted` is an index in `faults`: only hits of that
    fault and of later ones prove that the injected fault happened. `rules` form a scenario that takes precedence over
    all others. `instead`: steps that replace an action that the test itself requests. `mend`: actions that repair, when
    the faults are removed, what an integrator cannot repair.
    """

    faults: tuple[Document, ...] = ()
    counted: int = 0
    parts: tuple[tuple[int, int], ...] = ()
    """For a pair of faults: the index range in `faults` for each part. A fault in each range must happen."""
    rules: tuple[Document, ...] = ()
    instead: Mapping[str, tuple[Step, ...]] | None = None
    target: str | None = None
    mend: tuple[Step, ...] = ()
    stays: bool = False
    """True if the fault remains active after the test, during the simulated days."""
    lasts: str = ""
    """How long the fault continues after the test, while the integrator's job runs, or "" if it ends with the test."""
    clock: str = ""
    """The start time of the test's worlds, or "" for their usual one."""
    orders: Document | None = None
    """The events to deliver after the test, in order: the number of the object, and the numbers of its events."""
    kills: bool = False
    """True if the application started by explore is killed when the fault happens."""
    crash: Document | None = None
    """The point at which the application crashes: the file, the line, and the number of the visit to that line."""
    hold: Document | None = None
    """The point at which a piece of work is held back: its number with the same event, and what `crash` contains."""


@dataclass(frozen=True)
class FaultClass:
    """One fault class. `arm` returns the faults to inject at a site, or None if the class does not apply to the site.
    `strikes`: True if the fault breaks the call or delivery itself, False if it changes what a third party does.
    """

    name: str
    kind: str
    arm: Callable[[Site], Arming | None]
    strikes: bool = True
    seconds: float = 0.0
    """The number of real seconds that the fault adds to a run."""
    variants: Callable[[Site], Sequence[str]] | None = None
    """The variants of the fault at a site. Each one is a separate run, with a site that names it."""
    rare: bool = False
    """True if the class has many sites (see `is_planned_once`)."""

    @property
    def is_planned_once(self) -> bool:
        """True if `pair` uses the class once for each operation, unless the user selects it by name."""
        return self.rare or bool(self.seconds) or self.variants is not None

    def placed(self, sites: Iterable[Site]) -> list[tuple[Site, Arming]]:
        """Return each site to which the class applies, once for each variant, with the faults to inject."""
        each = (
            replace(site, variant=variant)
            for site in sites
            if site.kind == self.kind
            for variant in (self.variants(site) if self.variants is not None else ("",))
        )
        return [(site, arming) for site in each if (arming := self.arm(site)) is not None]


def match(site: Site) -> Document:
    """Return the `match` field of a fault for all calls of the same operation as the call at `site`."""
    return {"method": site.facts["method"], "path": site.facts["glob"]}


def answered(status: int, code: str, **more: object) -> Document:
    """Return the `respond` field for a fault that returns an error response."""
    return {"status": status, "code": code, **more}


def happens(action: str, **parameters: object) -> Callable[[Site], Document]:
    """Return a function that takes any site and returns the same outside event, as JSON."""
    return lambda site: {"action": action, "parameters": parameters}


def rule(on: str, site: Site, *steps: Step) -> Document:
    """Return a scenario rule for the transaction at a site: when the event `on` occurs, it performs `steps`."""
    return {"on": on, "where": {"id": site.facts["id"]}, "do": list(steps)}
