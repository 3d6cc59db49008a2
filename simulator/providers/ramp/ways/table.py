"""The ways to the events of the ramp, in one row."""

from __future__ import annotations

from typing import Any

from simulator.engine.scenario.run.ways import Ways
from simulator.engine.text.json import JsonObject
from simulator.kernel.machine import Move
from simulator.providers.ramp.reference import NETWORK_ASSETS, currency_of, listing
from simulator.providers.ramp.ways.fresh import FRESH, arriving_at
from simulator.providers.ramp.ways.runs import emptied, steps


def _parameters(record: Any, move: Move) -> JsonObject:
    """What makes an action take this cell of its row."""
    if move.when == "short":
        return {"amount": f"{currency_of(record.paid.code, record.paid.network).unit:f}"}
    if move.when == "enough":
        return {"confirmations": listing(NETWORK_ASSETS[record.network][0], record.network).confirmations}
    return {}


WAYS = Ways(emptied, FRESH, arriving_at, _parameters, {"recurring_payment": steps})
