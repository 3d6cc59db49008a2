"""The number of measurements in a run, and how samples are taken."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tests.campaigns.benchmarks.client import Client, signed_in
from tests.campaigns.benchmarks.machine import calibration_ms
from tests.campaigns.benchmarks.results import Sample
from tests.campaigns.benchmarks.servers import Server, Subject

Length: TypeAlias = Literal["quick", "usual", "full"]


@dataclass(frozen=True)
class Plan:
    """How often and how much: `quick` only shows that all can be measured, `full` takes the million calls.

    `wanted` are the rows whose samples are asked for; none means all.
    """

    rounds: int = 5
    length: Length = "usual"
    wanted: frozenset[str] = frozenset()

    @property
    def quick(self) -> bool:
        return self.length == "quick"

    @property
    def seconds(self) -> float:
        """How long a load lasts."""
        return 0.4 if self.quick else 2.0

    def wants(self, *rows: str) -> bool:
        return not self.wanted or not self.wanted.isdisjoint(rows)


def sample(row: str, subject: Subject, value: float, size: int = 0) -> Sample:
    """A figure with the calibration loop that ran right after it."""
    return Sample(row, subject.name, value, calibration_ms(), size)


@dataclass(frozen=True)
class Side:
    """One of the servers that are measured in turns, and a client of it."""

    subject: Subject
    server: Server
    client: Client


def sides(stack: ExitStack, subjects: Sequence[Subject], *flags: str) -> list[Side]:
    """A server and a client with a token for each, until the stack ends."""
    found = []
    for subject in subjects:
        server = stack.enter_context(subject.running(*flags))
        found.append(Side(subject, server, stack.enter_context(signed_in(server))))
    return found
