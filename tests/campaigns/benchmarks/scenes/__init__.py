"""Scenes: each one prepares servers, makes them work, and yields samples for its rows.

A scene gets the simulators to measure: one, or two if commits are compared. It measures them in turns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module

from tests.campaigns.benchmarks.plan import Plan
from tests.campaigns.benchmarks.results import Sample
from tests.campaigns.benchmarks.servers import Subject


def play(scene: str, simulators: Sequence[Subject], plan: Plan) -> Iterator[Sample]:
    """The samples of the scene of this name."""
    yield from import_module(f"tests.campaigns.benchmarks.scenes.{scene}").measure(simulators, plan)
