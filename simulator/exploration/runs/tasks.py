"""The messages between explore and the processes that execute runs. Do not import slow modules here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from simulator.engine.text.json import JsonObject
from simulator.kernel.dataclass import dataclass

Document = Mapping[str, Any]
"""JSON objects from the control API."""
Result = JsonObject
"""`outcome`, `hung`, `failure`, `evidence` (None if there is none), `seconds`."""

PIPES = "RAMPSIM_EXPLORE"
"""The environment variable with the file descriptors of the pipes for tasks and results."""
NOT_IN_TIME = "it did not end in time"
RUN = "/explored-run"
"""The path at which a stage server starts (PUT), describes (GET) and ends (DELETE) a run."""


@dataclass(frozen=True)
class Task:
    """One run. `world`: the id of its world. `plan`: an `Arming` as JSON, or None. `limit` is in seconds. `story`: True
    if the result includes the history, which planning and readable reports use. `waits`: True if the run mostly waits
    for a response. `effects`: True if the result includes a digest of all responses, deliveries and balances.
    """

    test: str
    world: str
    plan: Document | None
    limit: float
    story: bool = False
    waits: bool = False
    effects: bool = False
    records: bool = False
    """Record the places where the application can die."""


class Played(TypedDict):
    """The state of fault injection in one world of a run. `name` identifies the world and is the same in every run.
    `faults`: the ids of the injected faults. `hits`: how often removed faults have applied. `swapped`: the number of
    replaced actions.
    """

    id: str
    name: str
    faults: list[str]
    hits: int
    swapped: int
