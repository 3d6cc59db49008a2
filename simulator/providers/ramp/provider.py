"""The provider: the rooms of the service, in the order in which they may import each other."""

from __future__ import annotations

from simulator.engine import webhooks
from simulator.engine.rows.provider import Provider
from simulator.engine.rows.room import Room
from simulator.providers.ramp import (
    auth,
    balance,
    beneficiaries,
    deposit_wallets,
    fees,
    history,
    profile,
    ramps,
    recurring,
    reference,
    transactions,
)

ROOMS: tuple[Room, ...] = (
    reference.ROOM,
    profile.ROOM,
    auth.ROOM,
    beneficiaries.ROOM,
    fees.ROOM,
    transactions.ROOM,
    ramps.ROOM,
    deposit_wallets.ROOM,
    balance.ROOM,
    recurring.ROOM,
    history.ROOM,
    webhooks.ROOM,
)
"""A room imports only rooms that stand before it, and only what their `__init__` exports."""

PROVIDER = Provider("ramp", ROOMS, environments=("sandbox", "production"))
