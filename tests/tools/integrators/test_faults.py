"""The careful shop under every class of faults, and under random combinations: no money is lost or doubled."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.testing import receiver, world
from tests.tools.integrators.faults import CLASSES, FaultClass
from tests.tools.integrators.rig import Rig


def customers_of(shop: Rig) -> list[Callable[[], object]]:
    """One of each kind, and two more whose orders are called alike."""
    return [
        lambda: shop.onramp("A-10"),
        lambda: shop.offramp("B-20"),
        lambda: shop.standing_payout("rent", times=2),
        lambda: shop.onramp("A-1", "40", "USDC"),
        lambda: shop.offramp("B-2", "2050.15", "KES"),
    ]


@pytest.mark.parametrize("name", CLASSES)
def test_nothing_is_lost_or_doubled_under(name: str, shop: Rig) -> None:
    assert shop.live_through(CLASSES[name], customers=customers_of(shop))
    assert shop.judged() == []


def _sometimes(faults: tuple[Mapping[str, Any], ...]) -> FaultClass:
    """The faults of a class, each acting by chance instead of on the first that fit."""
    return FaultClass(
        tuple({**{name: value for name, value in one.items() if name != "times"}, "probability": 0.3} for one in faults)
    )


WIRE = [name for name, one in CLASSES.items() if one.faults]
WEATHER = [name for name, one in CLASSES.items() if not one.faults]


@pytest.mark.farm
@settings(max_examples=12)
@given(st.integers(1, 10_000), st.lists(st.sampled_from(WIRE), min_size=1, max_size=4), st.sampled_from(WEATHER))
def test_nothing_is_lost_or_doubled_by_chance(seed: int, wire: list[str], weather: str) -> None:
    """Whatever acts on the wire acts on three calls or deliveries of ten; the first of several that fit does."""
    with world(in_process=True, seed=seed, scenarios=[]) as made, receiver(made) as inbox, Rig(made, inbox) as shop:
        shop.live_through(
            *(_sometimes(CLASSES[name].faults) for name in wire), CLASSES[weather], customers=customers_of(shop)
        )
        assert shop.judged() == []
