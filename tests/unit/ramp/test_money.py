"""The money table lists every operation that needs KYC because it moves money, and marks the estimates."""

from __future__ import annotations

from simulator.providers.ramp.provider import PROVIDER

ESTIMATES = {"estimate_send"}
"""Operations that price an order without a quote: decision H18 lets everybody call them."""


def test_each_operation_with_money_has_a_row() -> None:
    gated = {row.name for room in PROVIDER.rooms for row in room.operations if row.money}
    assert {row.operation for row in PROVIDER.money.rows} == gated | ESTIMATES
