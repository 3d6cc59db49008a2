"""The careful shop under every class of faults: no money is lost or doubled."""

from __future__ import annotations

import pytest

from tests.integrators.faults import CLASSES
from tests.integrators.rig import Rig


@pytest.mark.parametrize("name", CLASSES)
def test_nothing_is_lost_or_doubled_under(name: str, shop: Rig) -> None:
    findings = shop.live_through(
        CLASSES[name],
        lambda: shop.onramp("first-in"),
        lambda: shop.offramp("first-out"),
        lambda: shop.standing_payout("rent", times=2),
        lambda: shop.onramp("second-in", "40", "USDC"),
        lambda: shop.offramp("second-out", "2050.15", "KES"),
    )
    assert findings == []
