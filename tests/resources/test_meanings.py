"""The meanings that the contract gives for states are those of the state tables, no more and no fewer."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from simulator.kernel.machine import Machine
from simulator.resources.balance import states as balance
from simulator.resources.recurring import states as recurring

TABLES: tuple[tuple[Machine, Mapping[str, str]], ...] = (
    (balance.SEND, balance.SEND_MEANINGS),
    (balance.SWAP, balance.SWAP_MEANINGS),
    (balance.BUY, balance.BUY_MEANINGS),
    (balance.WITHDRAW, balance.WITHDRAW_MEANINGS),
    (recurring.RECURRING_PAYMENT, recurring.MEANINGS),
)


@pytest.mark.parametrize(("machine", "meanings"), TABLES, ids=[machine.name for machine, _ in TABLES])
def test_every_state_has_its_meaning(machine: Machine, meanings: Mapping[str, str]) -> None:
    assert set(meanings) == set(machine.rows)
    assert all(text.endswith(".") for text in meanings.values())
