"""The messages between explore and the processes that make runs. This module imports nothing slow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from simulator.kernel.dataclass import dataclass

Document = Mapping[str, Any]
"""JSON objects of the control interface."""
Result = dict[str, Any]
"""`outcome`, `hung`, `failure`, `evidence` (None if there is none), `seconds`."""

PIPES = "RAMPSIM_EXPLORE"
"""The variable with the file descriptors of the pipes for tasks and results."""
NOT_IN_TIME = "it did not end in time"
RUN = "/explored-run"
"""The path where a stage begins (PUT), describes (GET) and ends (DELETE) a run."""


@dataclass(frozen=True)
class Task:
    """One run. `world`: the id of its world. `plan`: an `Arming` as JSON, or None. `limit` is in seconds.

    `story`: with the history, for planning and for people. `waits`: it mostly waits for a response.
    `effects`: with a digest of all responses, deliveries and balances.
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

    `faults`: the ids of the counted faults. `hits`: the hits of removed ones. `swapped`: the number of replaced
    actions.
    """

    id: str
    name: str
    faults: list[str]
    hits: int
    swapped: int
