"""Rows are values that no code can change."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

from simulator.kernel.agenda import Timer
from simulator.kernel.journal import Cause, Event, HistoryEntry
from simulator.kernel.ledger import Entry, Hold, Posting
from simulator.kernel.machine import Machine, Move
from simulator.kernel.money import Currency
from simulator.kernel.world import Wiring


@pytest.mark.parametrize(
    "kind",
    [Timer, Cause, Event, HistoryEntry, Entry, Hold, Posting, Machine, Move, Currency, Wiring],
)
def test_a_row_is_never_edited(kind: type[Any]) -> None:
    row = object.__new__(kind)
    for field in fields(kind):
        with pytest.raises(FrozenInstanceError):
            setattr(row, field.name, None)
