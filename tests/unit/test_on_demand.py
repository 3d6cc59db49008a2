"""Tests that fail on demand, to show the end of a failure report.

`FAIL_ON_DEMAND=1 .venv/bin/python -m pytest tests/unit/test_on_demand.py`: each test fails in a way that depends only
on its seed, and the command after the failure repeats it.
"""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.seeds import DEMANDED, walk_seed

UNSHRUNK = settings(phases=[Phase.generate], suppress_health_check=list(HealthCheck), max_examples=20)
"""What comes first is not made smaller: the smallest is the same whatever the seed."""


def meet(number: int) -> None:
    assert not DEMANDED or number < 2**32, f"met {number}"


def test_a_walk() -> None:
    rng = Random(walk_seed())
    for _ in range(100):
        meet(rng.randrange(2**64))


@pytest.mark.parametrize("seed", [1], ids=["it's one"])
def test_a_walk_of_a_known_seed(seed: int) -> None:
    meet(Random(walk_seed(seed)).randrange(2**64))


@UNSHRUNK
@given(number=st.integers(0, 2**64))
def test_an_example(number: int) -> None:
    meet(number)


class Machine(RuleBasedStateMachine):
    @rule(number=st.integers(0, 2**64))
    def draw(self, number: int) -> None:
        meet(number)


TestMachine = Machine.TestCase
TestMachine.settings = UNSHRUNK
