"""What whoever makes the runs is told of each, and what they tell: nothing here takes long to import."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from simulator.kernel.dataclass import dataclass

Document = Mapping[str, Any]
"""JSON objects of the control interface."""
Result = dict[str, Any]
"""`outcome`, `hung`, `failure`, `evidence` (None where there is none), `seconds`."""

PIPES = "RAMPSIM_EXPLORE"
"""The variable with the two ends of the pipes: what to read tasks from, and what to write results to."""
NOT_IN_TIME = "it did not end in time"
RUN = "/explored-run"
"""Where a stage begins a run (PUT), tells it (GET) and ends it (DELETE)."""


@dataclass(frozen=True)
class Task:
    """One run. `world`: the id of its world; `plan`: an `Arming` as JSON, None for nothing; `limit` in seconds.

    `story`: with all that happened, for the plan and for people. `waits`: most of its time it waits for an answer.
    `effects`: with a digest of all answers, deliveries and balances.
    """

    test: str
    world: str
    plan: Document | None
    limit: float
    story: bool = False
    waits: bool = False
    effects: bool = False


class Played(TypedDict):
    """A world of a run on a stage. `name`: the same in every run.

    `faults`: the ids of those that count; `hits`: of those that are gone; `swapped`: how often something else was done.
    """

    id: str
    name: str
    faults: list[str]
    hits: int
    swapped: int
