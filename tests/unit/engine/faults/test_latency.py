"""Latency: a log-normal delay, drawn from the world's seed."""

from __future__ import annotations

from statistics import quantiles
from typing import Any

import pytest

from simulator.engine.faults.models import Latency, check_fault
from simulator.engine.rows.error import ApiError
from simulator.engine.server.checks.faults import _drawn_seconds
from simulator.kernel.journal import Cause
from tests.calls import world_of
from tests.toy import PROVIDER

LATENCY = Latency(median="200ms", p99="2s")


def drawn(seed: int, latency: Latency = LATENCY, times: int = 4000) -> list[float]:
    world = world_of(PROVIDER, seed=seed)
    with world.change(Cause("action", "test", "act_1")):
        return [_drawn_seconds(world, latency) for _ in range(times)]


def test_half_of_the_delays_exceed_the_median_and_one_in_a_hundred_p99() -> None:
    percent = quantiles(drawn(1), n=100)
    assert percent[49] == pytest.approx(0.2, rel=0.1)
    assert percent[98] == pytest.approx(2.0, rel=0.25)


def test_the_same_seed_gives_the_same_delays() -> None:
    assert drawn(1, times=20) == drawn(1, times=20) != drawn(2, times=20)


def test_no_delay_exceeds_the_limit_and_equal_values_are_constant() -> None:
    assert max(drawn(1, Latency(median="9m", p99="10m"))) <= 600
    assert set(drawn(1, Latency(median=0.5, p99=0.5), times=5)) == {0.5}


@pytest.mark.parametrize(
    ("latency", "param"),
    [
        ({"median": "0s", "p99": "1s"}, "latency.median"),
        ({"median": "2s", "p99": "1s"}, "latency.p99"),
        ({"median": "soon", "p99": "1s"}, "latency.median"),
        ({"median": "1s", "p99": "11m"}, "latency.p99"),
        ({"median": "1s"}, "latency.p99"),
        ({"median": "1s", "p99": "2s", "p50": "1s"}, "latency.p50"),
    ],
)
def test_impossible_latency_is_refused(latency: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        check_fault({"match": {}, "latency": latency}, None)
    assert caught.value.param == param
