"""How conform checks that an item of a list matches a filter."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from simulator.providers.ramp.laws.conventions.listed import LISTS, amount_of

FILTERS = {listed.operation: listed.filters for listed in LISTS}


@pytest.mark.parametrize(
    ("operation", "name", "item", "value", "passes"),
    [
        ("GET /transactions", "status", {"status": "completed"}, "failed,completed", True),
        ("GET /transactions", "status", {"status": "COMPLETED"}, "completed", False),
        ("GET /transactions", "currency", {"asset": "cUSD"}, "CUSD", False),
        ("GET /transactions", "network", {"from": {"network": "CELO"}, "to": {"network": "STELLAR"}}, "stellar", True),
        ("GET /orders", "network", {"network": "celo", "network_to": None}, "bitcoin", False),
        ("GET /fees", "network", {"network": None}, "celo", True),
        ("GET /fees", "asset", {"asset": None}, "USDC", False),
    ],
)
def test_only_networks_are_compared_without_regard_to_case(
    operation: str, name: str, item: dict[str, Any], value: str, passes: bool
) -> None:
    assert FILTERS[operation][name](item, value) is passes


def test_an_amount_that_is_zero_is_an_amount() -> None:
    assert amount_of({"amount": 0}) == Decimal(0)
